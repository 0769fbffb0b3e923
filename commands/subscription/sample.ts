import { DiscordAPIError, type GuildBasedChannel, RESTJSONErrorCodes, Routes } from 'discord.js';
import { UserError } from '../../src/errors.ts';
import { tooManyRefusals } from '../shared/guild-channels.ts';
import { nameOf } from '../shared/names.ts';
import { embedReply } from '../shared/reply.ts';
import { stateOf } from './describe.ts';
import { onSubscription } from './find.ts';

export const sample = onSubscription(async (found, context) => {
  const { interaction, t } = context;
  const channel = `<#${found.channelId}>`;
  try {
    const { style } = await context.guilds.settings(found.guildId);
    const sample = context.sample(found, { language: await context.guilds.language(found.guildId), style });
    // The library sends it again without a response; Discord recognizes the repeat by the nonce.
    const body = { ...sample, nonce: interaction.id, enforce_nonce: true };
    const send = () => interaction.client.rest.post(Routes.channelMessages(found.channelId), { body });
    const { guild } = interaction;
    await (guild ? context.guildChannels.request(guild, send, () => tooManyRefusals(context)) : send());
  } catch (error) {
    const known = interaction.guild?.channels.cache.get(found.channelId);
    const reason = error instanceof DiscordAPIError ? refusal(error, known) : null;
    throw reason ? new UserError(t(reason, { channel })) : error;
  }
  const state = stateOf(found, context);
  return embedReply('good', t('subscription.test.title', { name: nameOf(found) }), [
    t('subscription.test.look', { channel }),
    state ? t('subscription.test.silent', { state }) : null,
  ]);
});

function refusal({ code }: DiscordAPIError, known: GuildBasedChannel | undefined) {
  switch (code) {
    case RESTJSONErrorCodes.MissingAccess:
      return known && !known.isThread() ? 'subscription.test.noAccess' : 'setup.check.channelHidden';
    case RESTJSONErrorCodes.MissingPermissions:
      return 'subscription.test.noAccess';
    case RESTJSONErrorCodes.UnknownChannel:
      return 'subscription.test.noChannel';
    case RESTJSONErrorCodes.InvalidActionOnArchivedThread:
    case RESTJSONErrorCodes.ThreadLocked:
      return 'setup.check.channelClosed';
    default:
      return null;
  }
}
