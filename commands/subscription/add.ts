import type { APIEmbedField } from 'discord.js';
import type { CommandUse, Reply } from '../../src/discord/command.ts';
import { addressesIn, parseWatchable, toAddress } from '../../src/domain/address.ts';
import { DEFAULT_CHOICES, type Subscription } from '../../src/domain/subscription.ts';
import { UserError } from '../../src/errors.ts';
import { hiddenFrom, isGone, outsideLine, refuseUnseen, visibleTo } from '../shared/channels.ts';
import { button, row } from '../shared/components.ts';
import { readFailure } from '../shared/guild-channels.ts';
import { lookAlikeLines, lookAlikes } from '../shared/look-alike.ts';
import { boldName, nameOf, namesByAddress, notNamed, readAddress } from '../shared/names.ts';
import { pickedNetwork } from '../shared/networks.ts';
import { nextStep } from '../shared/next-step.ts';
import { embedReply, firstOf, fullAddress } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { noTokenLines, tokenBook } from '../shared/tokens.ts';
import { addressLine, summary } from './describe.ts';
import { dryRunField } from './dry-run.ts';
import { checkPlace, placeFor } from './forum-post.ts';
import { findAddresses, offerGroup } from './group.ts';
import { readingOf, readOptions } from './options.ts';
import { panelRow } from './panel.ts';
import { addSubscription, type NewChoices, requireMention } from './save.ts';

const MAX_OTHERS = 5;

export async function add(interaction: CommandUse, context: Context): Promise<Reply> {
  const typed = interaction.options.getString('address', true);
  const names = await namesByAddress(interaction.guildId, context);
  const picked = interaction.options.getChannel('channel');
  const isList = /\s/.test(typed.trim()) && new Set(addressesIn(typed).map(toAddress)).size > 1;
  // A name would fit only one of them.
  const isSingle = !isList || interaction.options.getString('label') !== null;
  const address = isSingle ? readAddress(typed, context.t, { parse: parseWatchable, names }) : null;
  const network = pickedNetwork(interaction, context);
  const reading = await readingOf(network, context);
  const choices = readOptions(interaction, reading, DEFAULT_CHOICES, context);
  const channelId = picked?.id ?? (await usualChannel(context));
  await checkPlace(channelId, picked, context);
  requireMention(interaction, choices.mention, channelId, context.t);
  if (address === null) return offerGroup(typed, channelId, { ...choices, network }, true, context);
  const isNew = choices.label === null && !names.has(address);
  const label = isNew ? (findAddresses(typed, true, context.t).entries[0]?.label ?? null) : choices.label;
  const wanted = { ...choices, address, network, label };
  const place = await placeFor(channelId, wanted, context);
  return watch(context, { ...wanted, channelId: place });
}

async function usualChannel(context: Context): Promise<string> {
  const { interaction, server, t } = context;
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
  if (hidden.size > 0) refuseUnseen(defaultChannel, null, context);
  return defaultChannel;
}

/** The caller has checked the channel. */
export async function watch(context: Context, wanted: NewChoices): Promise<Reply> {
  const { guildId, interaction, guilds, settings, now, t } = context;
  requireMention(interaction, wanted.mention, wanted.channelId, t);
  const dryRun = await dryRunField({ ...wanted, guildId }, context);
  const outcome = await addSubscription(wanted, now(), context);
  const address = fullAddress(wanted.address, settings);
  switch (outcome.status) {
    case 'exists': {
      const { id } = outcome.subscription;
      throw new UserError(t('subscription.exists', { channel: `<#${wanted.channelId}>`, address, id }));
    }
    case 'full':
      throw new UserError(t('subscription.full', { count: settings.maxSubscriptions }));
    case 'crowded':
      throw new UserError(t('subscription.channelsFull', { address, max: settings.maxChannelsPerAddress }));
    case 'label-taken':
    case 'labels-full':
      throw notNamed(outcome, context);
    case 'added': {
      const { subscription, before } = outcome;
      await guilds.recordLocale(guildId, interaction.guildLocale);
      const isRenamed = wanted.label !== null && wanted.label !== before;
      if (isRenamed) await context.relabel(guildId, [wanted.address]);
      return added(subscription, context, { dryRun, before: isRenamed ? before : null });
    }
  }
}

async function added(
  subscription: Subscription,
  context: Context,
  { dryRun, before }: { dryRun: APIEmbedField; before: string | null },
): Promise<Reply> {
  const { interaction, t } = context;
  const { address, id } = subscription;
  const [tokens, alike, next, noToken] = await Promise.all([
    tokenBook(context),
    lookAlikes([address], context),
    nextStep([subscription], String(id), context, true),
    noTokenLines(subscription, context),
  ]);
  const outside = interaction.guild ? null : `⚠️ ${outsideLine(context)}`;
  const tone = alike.size + noToken.length > 0 || outside !== null ? 'warn' : 'good';
  const lines = [
    addressLine(subscription, context),
    before === null ? null : t('label.setOver', { before: boldName(before) }),
    ...lookAlikeLines(alike, context),
    ...summary(subscription, context, tokens),
    silentMention(subscription, context),
    ...noToken,
    ...(await alsoWatched(subscription, context)),
    outside,
    t('subscription.add.try'),
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

async function alsoWatched({ id, address }: Subscription, context: Context): Promise<string[]> {
  const { t } = context;
  const others = (await visibleTo(context)).filter(
    (subscription) => subscription.address === address && subscription.id !== id,
  );
  if (others.length === 0) return [];
  const shown = firstOf(t, others, MAX_OTHERS, (subscription) => `<#${subscription.channelId}> (#${subscription.id})`);
  return [t('subscription.add.also', { others: shown.join(t('reply.comma')) })];
}

/** Discord shows a role without a ping if the role does not allow it. */
function silentMention({ mention }: Subscription, { interaction, t }: Context): string | null {
  const role = mention === null ? undefined : interaction.guild?.roles.cache.get(mention);
  if (!role || role.mentionable || interaction.appPermissions.has('MentionEveryone')) return null;
  return t('subscription.add.silentRole', { role: `<@&${role.id}>` });
}
