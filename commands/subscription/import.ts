import { ChannelType } from 'discord.js';
import type { Button, CommandUse, Reply } from '../../src/discord/command.ts';
import { MAX_LABELS, type Questions } from '../../src/domain/guild.ts';
import { chainTitle } from '../../src/domain/network.ts';
import type { ImportedSubscription } from '../../src/domain/subscription.ts';
import { subscriptionKey } from '../../src/domain/subscription-limits.ts';
import { KIB } from '../../src/domain/units.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { hiddenFrom } from '../shared/channels.ts';
import { question, rows } from '../shared/components.ts';
import { lookAlikeLines, lookAlikes } from '../shared/look-alike.ts';
import { boldName, nameOf } from '../shared/names.ts';
import { hasNode, networkLine, titleOf } from '../shared/networks.ts';
import { nextStep } from '../shared/next-step.ts';
import { ask, record, takeConfirmation } from '../shared/records.ts';
import { addressInCode, embedReply, firstOf, headed, listInCode, quoted } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import { noTokenLines } from '../shared/tokens.ts';
import { countsDollars, differing, MAX_IMPORT_BYTES } from './file.ts';
import { readingOf } from './options.ts';
import { type CurrentState, type Plan, planImport } from './plan.ts';

const MAX_ROWS = 6;
const MAX_FAULTS = 12;
const MAX_LINES = 8;

const IMPORT = 'subscription.import';

type ProposedImport = Questions[typeof IMPORT];

export async function importFile(interaction: CommandUse, context: Context): Promise<Reply> {
  const { t } = context;
  const text = await attached(interaction, context);
  const read = async () => {
    const current = await readCurrent(context);
    return { current, plan: await planImport(text, current, context) };
  };
  const { current, plan } = await context.guildQueue.run(interaction.guildId, 'file', read);
  const { added, changed, labels, unchanged, errors } = plan;
  const chosen = [...added, ...changed];
  const isWithout = !context.settings.hasPrices && chosen.some(({ change }) => countsDollars(change));
  const notes = [...notesOn(plan, context), ...(isWithout ? [`-# ${t('subscription.what.noPrices')}`] : [])];
  if (errors.length > 0) {
    return embedReply('danger', t('subscription.import.wrong', { count: errors.length }), [
      t('subscription.import.nothingDone'),
      ...faults(errors, t),
    ]);
  }
  const same = unchanged > 0 ? [t('subscription.import.unchanged', { count: unchanged })] : [];
  if (added.length + changed.length + labels.length === 0) {
    return embedReply('info', t('subscription.import.nothing'), [...same, ...notes]);
  }
  const proposed: ProposedImport = { added, changed, labels };
  const id = await ask(context, IMPORT, proposed);
  const named = new Set([...added, ...labels].map(({ address }) => address));
  const alike = lookAlikeLines(await lookAlikes([...named], context), context);
  const changes = chosen.map(({ change }) => change);
  const wrong = await noTokenLines(changes, context);
  const needsNode = chosen.some(
    ({ change, network = null }) =>
      (change.showBalance || (change.warnBelow ?? null) !== null) && !hasNode(context.settings, network),
  );
  const lines = [
    ...alike,
    ...wrong,
    ...(needsNode ? [`-# ${t('subscription.what.needsNode')}`] : []),
    ...preview(proposed, current, context),
    ...same,
    ...notes,
    t('subscription.import.stays'),
  ];
  return question(
    t('subscription.import.title'),
    lines,
    [t('subscription.import.yes'), `subscription:import:${id}`],
    [t('subscription.import.no'), `subscription:discard:${id}`],
    { tone: 'warn' },
  );
}

export const importButton: Button<Context> = {
  async press(interaction, [entry], context) {
    const { subscriptions, guilds, settings, now, t } = context;
    const proposed = await takeConfirmation(context, IMPORT, entry);
    const { maxSubscriptions, maxChannelsPerAddress: channelsPerAddress } = settings;
    const max = { subscriptions: maxSubscriptions, channelsPerAddress, labels: MAX_LABELS };
    const { guildId, user, guildLocale } = interaction;
    const at = now();
    const outcome = await subscriptions.importAll({ guildId, userId: user.id, ...proposed, at }, max);
    if (outcome === 'full') throw new UserError(t('subscription.import.full', { count: max.subscriptions }));
    // The preview refuses what exceeds the other limits, so other people have added channels or names since.
    if (outcome !== 'imported') throw new UserError(t('subscription.import.stale'));
    const { added, changed, labels } = proposed;
    context.wake(changed.map(({ channelId }) => ({ channelId, guildId })));
    await guilds.recordLocale(guildId, guildLocale);
    const counts = { added: added.length, changed: changed.length, labels: labels.length };
    await record(context, IMPORT, counts);
    const labeled = [...added, ...changed].filter(({ change }) => 'label' in change);
    const renamed = [...labels, ...labeled].map(({ address }) => address);
    if (renamed.length > 0) await context.relabel(guildId, [...new Set(renamed)]);
    const done = (['added', 'changed', 'labels'] as const).filter((kind) => counts[kind] > 0);
    const lines = done.map((kind) => t(`subscription.import.${kind}`, { count: counts[kind] }));
    if (added.length === 0) return embedReply('good', t('subscription.import.done'), lines);
    const watched = added.map(({ address, network = null }) => ({ address, network }));
    const { field, buttons } = await nextStep(watched, `t${at}`, context);
    return embedReply('good', t('subscription.import.done'), lines, { fields: [field], components: rows(buttons) });
  },
};

export const discardButton: Button<Context> = {
  async press(_, [entry], context) {
    await takeConfirmation(context, IMPORT, entry);
    return embedReply('info', context.t('subscription.import.cancelled'), [context.t('subscription.remove.unchanged')]);
  },
};

function notesOn({ foreign, chains, elsewhere, unnamed }: Plan, context: Context): string[] {
  const { t } = context;
  const columns = firstOf(t, foreign, MAX_FAULTS, (name) => quoted(name)).join(t('reply.comma'));
  const counted = (chainId: number) => `${chainTitle(chainId)} (${chains.get(chainId)})`;
  const networks = networkLine([...chains.keys()], context, counted);
  return [
    ...(foreign.length > 0 ? [t('subscription.import.leftOut', { columns })] : []),
    ...(elsewhere > 0 ? [t('subscription.import.elsewhere', { count: elsewhere })] : []),
    ...(unnamed > 0 ? [t('subscription.import.unnamed', { count: unnamed })] : []),
    ...(networks === null ? [] : [networks]),
  ];
}

async function attached({ options }: CommandUse, { readAttachment, t }: Context): Promise<string> {
  const { url, size } = options.getAttachment('file', true);
  const max = MAX_IMPORT_BYTES / KIB;
  if (size > MAX_IMPORT_BYTES) throw new UserError(t('subscription.import.too-large', { max }));
  const response = await readAttachment(url, MAX_IMPORT_BYTES);
  if (response.status !== 'read') throw new UserError(t(`subscription.import.${response.status}`, { max }));
  return response.text;
}

async function readCurrent(context: Context): Promise<CurrentState> {
  const { guildId, guild } = context.interaction;
  const subscriptions = await context.subscriptions.list(guildId);
  // A file may name any channel. Among those without subscriptions, only private threads need more than permissions.
  const threads = guild?.channels.cache.filter(({ type }) => type === ChannelType.PrivateThread).keys() ?? [];
  const channels = [...subscriptions.map(({ channelId }) => channelId), ...threads];
  const reading = await readingOf(null, context);
  return {
    subscriptions: new Map(subscriptions.map((subscription) => [subscriptionKey(subscription), subscription])),
    // Its columns and values have their English names.
    reading: { ...reading, called: (column) => column, kindName: (kind) => kind, language: null },
    hidden: await hiddenFrom(context.interaction, channels, context),
  };
}

function faults(errors: Plan['errors'], t: Translate): string[] {
  const kinds = [...Map.groupBy(errors, ({ text }) => text)];
  return firstOf(t, kinds, MAX_FAULTS, ([reason, those]) => {
    const lines = firstOf(t, those, MAX_LINES, ({ line }) => String(line)).join(t('reply.comma'));
    return t('subscription.import.line', { count: those.length, lines, reason });
  });
}

function preview(
  { added, changed, labels }: ProposedImport,
  { subscriptions }: CurrentState,
  { t, settings }: Context,
): string[] {
  const part = <Entry>(entries: Entry[], heading: string, show: (entry: Entry) => string): string[] =>
    headed(t, `**${heading}**`, entries, MAX_ROWS, (entry) => `- ${show(entry)}`);
  const addition = ({ address, channelId, network, change }: ImportedSubscription): string => {
    const on = network == null ? '' : `(${titleOf(network, settings)})`;
    return [boldName(change.label), addressInCode(address), `→ <#${channelId}>`, on].filter(Boolean).join(' ');
  };
  const alteration = ({ change, ...place }: ImportedSubscription): string => {
    const before = subscriptions.get(subscriptionKey(place))!;
    const after = { ...before, ...change, filters: { ...before.filters, ...change.filters } };
    return `${nameOf(before)} → <#${place.channelId}>: ${listInCode(differing(before, after), t)}`;
  };
  const name = (label: ProposedImport['labels'][number]) => `${boldName(label.name)} ${addressInCode(label.address)}`;
  return [
    ...part(added, t('subscription.import.toAdd', { count: added.length }), addition),
    ...part(changed, t('subscription.import.toChange', { count: changed.length }), alteration),
    ...part(labels, t('subscription.import.toSet', { count: labels.length }), name),
  ];
}
