import type { APIEmbedField } from 'discord.js';
import type { ButtonUse, CommandUse, Reply } from '../../src/discord/command.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { type Choices, DEFAULT_CHOICES, type Subscription } from '../../src/domain/subscription.ts';
import { checksumAddress, parseWatchable } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { record } from '../shared/audit.ts';
import { button, row } from '../shared/components.ts';
import { readFailure } from '../shared/guild-channels.ts';
import { lookAlikeLines, lookAlikes } from '../shared/look-alike.ts';
import { boldName, notNamed } from '../shared/naming.ts';
import { nextStep } from '../shared/next-step.ts';
import { readAddress } from '../shared/read-address.ts';
import { embedReply, fullAddress } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { nameOf } from '../shared/subscriptions.ts';
import { outsideLine, refuseUnseen } from '../shared/target.ts';
import { hiddenFrom, isGone } from '../shared/visibility.ts';
import { addressLine, summary } from './describe.ts';
import { type DryRunNeeds, dryRunField } from './dry-run.ts';
import { checkPlace, placeFor } from './forum-post.ts';
import { requireMention } from './mention.ts';
import { readOptions } from './options.ts';
import { panelRow } from './panel.ts';
import { tokenBook } from './token-book.ts';

/** What adding a subscription needs. */
export type AddNeeds = DryRunNeeds & ContextWith<'guilds' | 'audit' | 'receiver' | 'onRelabeled'>;

/** `/subscription add`. */
export async function add(interaction: CommandUse, context: AddNeeds): Promise<Reply> {
  const address = readAddress(interaction.options.getString('address', true), context.t, parseWatchable);
  const tokens = await tokenBook(interaction.guildId, context);
  const choices = readOptions(interaction, context, tokens, DEFAULT_CHOICES);
  const picked = interaction.options.getChannel('channel');
  const channelId = picked?.id ?? (await usualChannel(interaction, context));
  await checkPlace(interaction, channelId, picked, context);
  requireMention(interaction, choices.mention, channelId, context.t);
  const wanted = { ...choices, address };
  return watch(interaction, context, { ...wanted, channelId: await placeFor(interaction, channelId, wanted, context) });
}

/** The default channel for alerts; throws a {@link UserError} if it is gone, or hidden from the person. */
async function usualChannel(interaction: CommandUse, context: AddNeeds): Promise<string> {
  const { server, t } = context;
  const { defaultChannel } = server;
  if (defaultChannel === null) return interaction.channelId;
  if (isGone(interaction, defaultChannel)) {
    // The gateway does not report closed threads; a request does.
    const guild = interaction.guild!;
    const fetch = () => guild.channels.fetch(defaultChannel);
    const response = await context.guildChannels.request(guild, fetch, () => null).catch(readFailure);
    if (response === 'gone' || response === 'hidden') throw new UserError(t('setup.check.defaultChannel'));
  }
  // For example a private thread: people who are not in it could not see what they add.
  const hidden = await hiddenFrom(interaction, [defaultChannel], context);
  if (hidden.size > 0) refuseUnseen(interaction, defaultChannel, null, t);
  return defaultChannel;
}

/** Adds a subscription for any command or button; the caller has checked it. */
export async function watch(
  interaction: CommandUse | ButtonUse,
  context: AddNeeds,
  wanted: Choices & { address: AddressText; channelId: string },
): Promise<Reply> {
  const { guildId } = interaction;
  const { subscriptions, guilds, settings, now, t } = context;
  requireMention(interaction, wanted.mention, wanted.channelId, t);
  const dryRun = await dryRunField({ ...wanted, guildId }, interaction, context);
  const outcome = await subscriptions.add(
    { ...wanted, guildId, createdBy: interaction.user.id, createdAt: now() },
    settings.maxSubscriptions,
    settings.maxChannelsPerAddress,
  );
  switch (outcome.status) {
    case 'exists': {
      const { id } = outcome.subscription;
      const address = fullAddress(wanted.address, settings);
      throw new UserError(t('subscription.exists', { channel: `<#${wanted.channelId}>`, address, id }));
    }
    case 'full':
      throw new UserError(t('subscription.full', { count: settings.maxSubscriptions }));
    case 'crowded': {
      const address = fullAddress(wanted.address, settings);
      throw new UserError(t('subscription.channelsFull', { address, max: settings.maxChannelsPerAddress }));
    }
    case 'label-taken':
    case 'labels-full':
      throw notNamed(outcome, context);
    case 'added': {
      const { subscription, before } = outcome;
      const detail = { id: subscription.id, address: checksumAddress(wanted.address), channel: wanted.channelId };
      await guilds.recordLocale(guildId, interaction.guildLocale);
      await record(interaction, context, 'subscription.add', detail);
      const isRenamed = wanted.label !== null && wanted.label !== before;
      if (isRenamed) await context.onRelabeled(guildId, [wanted.address]);
      return added(interaction, subscription, context, { dryRun, before: isRenamed ? before : null });
    }
  }
}

async function added(
  interaction: CommandUse | ButtonUse,
  subscription: Subscription,
  context: AddNeeds,
  { dryRun, before }: { dryRun: APIEmbedField; before: string | null },
): Promise<Reply> {
  const { t } = context;
  const { address, id, guildId } = subscription;
  const [tokens, alike, next] = await Promise.all([
    tokenBook(guildId, context),
    lookAlikes([address], interaction, context),
    nextStep(guildId, [address], String(id), context),
  ]);
  const outside = interaction.guild ? null : `⚠️ ${outsideLine(interaction, t)}`;
  const tone = alike.size > 0 || outside !== null ? 'warn' : 'good';
  const lines = [
    addressLine(address, context),
    before === null ? null : t('label.setOver', { before: boldName(before) }),
    ...lookAlikeLines(alike, context),
    ...summary(subscription, context, tokens),
    silentMention(interaction, subscription, t),
    outside,
  ];
  return embedReply(tone, t('subscription.add.title', { name: nameOf(subscription) }), lines, {
    fields: [next.field, dryRun],
    footer: { text: t('subscription.add.footer', { id }) },
    components: [
      panelRow(subscription, context),
      row(...next.buttons, button(t('subscription.add.list'), 'subscription:list:all:0')),
    ],
  });
}

/** Discord shows a role without a ping if the role does not allow it. */
function silentMention(interaction: CommandUse | ButtonUse, { mention }: Subscription, t: Translate): string | null {
  const role = mention === null ? undefined : interaction.guild?.roles.cache.get(mention);
  if (!role || role.mentionable || interaction.appPermissions.has('MentionEveryone')) return null;
  return t('subscription.add.silentRole', { role: `<@&${role.id}>` });
}
