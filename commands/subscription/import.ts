import { ButtonStyle, ChannelType } from 'discord.js';
import type { Button, CommandUse, Reply } from '../../src/discord/command.ts';
import { KIB } from '../../src/domain/bytes.ts';
import type { Questions } from '../../src/domain/confirmation.ts';
import { MAX_LABELS } from '../../src/domain/guild.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { record } from '../shared/audit.ts';
import { button, row, rows } from '../shared/components.ts';
import { ask, takeConfirmation } from '../shared/confirmations.ts';
import { lookAlikeLines, lookAlikes } from '../shared/look-alike.ts';
import { boldName } from '../shared/naming.ts';
import { nextStep } from '../shared/next-step.ts';
import { addressInCode, embedReply, firstOf, quoted } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { nameOf } from '../shared/subscriptions.ts';
import { hiddenFrom } from '../shared/visibility.ts';
import { differing, MAX_IMPORT_BYTES } from './file.ts';
import { type CurrentState, type Plan, planImport } from './plan.ts';
import { tokenBook } from './token-book.ts';

type Needs = ContextWith<
  | 'guildChannels'
  | 'subscriptions'
  | 'labels'
  | 'guilds'
  | 'audit'
  | 'confirmations'
  | 'tokens'
  | 'projects'
  | 'receiver'
  | 'guildQueue'
  | 'settings'
  | 'now'
  | 'onRelabeled'
  | 'readAttachment'
>;

/** Maximum rows of each kind in the preview. */
const MAX_ROWS = 6;
/** Maximum number of different faults that are listed. */
const MAX_FAULTS = 12;
/** Maximum number of line ranges listed for one fault. */
const MAX_RUNS = 8;
/** Maximum number of texts shown for one fault, and maximum characters of each. */
const MAX_INPUTS = 3;
const MAX_INPUT = 60;

/** The action's name in confirmations and in the audit log. */
const IMPORT = 'subscription.import';

/** What has to be confirmed. */
type ProposedImport = Questions[typeof IMPORT];

/** `/subscription import`: shows what would change, and asks. */
export async function importFile(interaction: CommandUse, context: Needs): Promise<Reply> {
  const { t } = context;
  const text = await attached(interaction, context);
  const read = async () => {
    const current = await readCurrent(interaction, context);
    return { current, plan: await planImport(text, current, interaction, context) };
  };
  const { current, plan } = await context.guildQueue.run(interaction.guildId, 'file', read);
  const { added, changed, labels, unchanged, errors } = plan;
  if (errors.length > 0) {
    return embedReply('danger', t('subscription.import.wrong', { count: errors.length }), [
      t('subscription.import.nothingDone'),
      ...faults(errors, t),
    ]);
  }
  const same = unchanged > 0 ? [t('subscription.import.unchanged', { count: unchanged })] : [];
  if (added.length + changed.length + labels.length === 0) {
    return embedReply('info', t('subscription.import.nothing'), same);
  }
  const proposed: ProposedImport = { added, changed, labels };
  const id = await ask(interaction, context, IMPORT, proposed);
  const buttons = row(
    button(t('subscription.import.yes'), `subscription:import:${id}`, ButtonStyle.Success),
    button(t('subscription.import.no'), `subscription:discard:${id}`),
  );
  const named = new Set([...added, ...labels].map(({ address }) => address));
  const alike = lookAlikeLines(await lookAlikes([...named], interaction, context), context);
  const lines = [...alike, ...preview(proposed, current, t), ...same, t('subscription.import.stays')];
  return embedReply('warn', t('subscription.import.title'), lines, { components: [buttons] });
}

/** `subscription:import:<entry>` */
export const importButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [entry], context) {
    const { subscriptions, guilds, settings, now, t } = context;
    const proposed = await takeConfirmation(interaction, context, IMPORT, entry);
    const { maxSubscriptions, maxChannelsPerAddress: channelsPerAddress } = settings;
    const max = { subscriptions: maxSubscriptions, channelsPerAddress, labels: MAX_LABELS };
    const { guildId, user, guildLocale } = interaction;
    const outcome = await subscriptions.importAll({ guildId, userId: user.id, ...proposed, at: now() }, max);
    if (outcome === 'full') throw new UserError(t('subscription.import.full', { count: max.subscriptions }));
    // The preview refuses what exceeds the other limits, so other people have added channels or names since.
    if (outcome !== 'imported') throw new UserError(t('subscription.import.stale'));
    const { added, changed, labels } = proposed;
    await guilds.recordLocale(guildId, guildLocale);
    const counts = { added: added.length, changed: changed.length, labels: labels.length };
    await record(interaction, context, IMPORT, counts);
    const labeled = [...added, ...changed].filter(({ change }) => 'label' in change);
    const renamed = [...labels, ...labeled].map(({ address }) => address);
    if (renamed.length > 0) await context.onRelabeled(guildId, [...new Set(renamed)]);
    const lines = [
      added.length > 0 ? t('subscription.import.added', { count: added.length }) : null,
      changed.length > 0 ? t('subscription.import.changed', { count: changed.length }) : null,
      labels.length > 0 ? t('subscription.import.labels', { count: labels.length }) : null,
    ];
    if (added.length === 0) return embedReply('good', t('subscription.import.done'), lines);
    const addresses = [...new Set(added.map(({ address }) => address))];
    const { field, buttons } = await nextStep(guildId, addresses, 'all', context);
    return embedReply('good', t('subscription.import.done'), lines, { fields: [field], components: rows(buttons) });
  },
};

/** `subscription:discard:<entry>` */
export const discardButton: Button<Needs> = {
  access: 'manage',
  response: 'update',
  async press(interaction, [entry], context) {
    await takeConfirmation(interaction, context, IMPORT, entry);
    return embedReply('info', context.t('subscription.import.cancelled'), [context.t('subscription.remove.unchanged')]);
  },
};

/** The text of the attached file; throws a {@link UserError}. */
async function attached({ options }: CommandUse, { readAttachment, t }: Needs): Promise<string> {
  const { url, size } = options.getAttachment('file', true);
  const max = MAX_IMPORT_BYTES / KIB;
  if (size > MAX_IMPORT_BYTES) throw new UserError(t('subscription.import.too-large', { max }));
  const response = await readAttachment(url, MAX_IMPORT_BYTES);
  if (response.status !== 'read') throw new UserError(t(`subscription.import.${response.status}`, { max }));
  return response.text;
}

/** What an import is compared with. */
async function readCurrent(interaction: CommandUse, context: Needs): Promise<CurrentState> {
  const { guildId, guild } = interaction;
  const subscriptions = await context.subscriptions.list(guildId);
  // A file may name any channel. Among those without subscriptions, only private threads need more than permissions.
  const threads = guild?.channels.cache.filter(({ type }) => type === ChannelType.PrivateThread).keys() ?? [];
  const channels = [...subscriptions.map(({ channelId }) => channelId), ...threads];
  return {
    subscriptions,
    labels: await context.labels.list(guildId),
    tokens: await tokenBook(guildId, context),
    hidden: await hiddenFrom(interaction, channels, context),
  };
}

/** Each fault once, with its lines. */
function faults(errors: Plan['errors'], t: Translate): string[] {
  const kinds = [...Map.groupBy(errors, ({ text }) => text)].slice(0, MAX_FAULTS);
  const rest = errors.length - kinds.reduce((sum, [, those]) => sum + those.length, 0);
  return [
    ...kinds.map(([reason, those]) => {
      const lines = runsOf(those.map(({ line }) => line)).join(t('reply.comma'));
      const line = t('subscription.import.line', { count: those.length, lines, reason });
      return [line, ...typedIn(reason, those, t)].join(' ');
    }),
    ...(rest > 0 ? [t('subscription.import.moreErrors', { count: rest })] : []),
  ];
}

/** What was entered in the lines of one fault, unless its reason shows that. */
function typedIn(reason: string, errors: Plan['errors'], t: Translate): string[] {
  const texts = [
    ...new Set(errors.flatMap(({ typed }) => (typed === undefined ? [] : quoted(typed.slice(0, MAX_INPUT))))),
  ];
  if (texts.every((text) => reason.includes(text))) return [];
  const shown = [...texts.slice(0, MAX_INPUTS), ...(texts.length > MAX_INPUTS ? ['…'] : [])];
  return [t('reply.typed', { text: shown.join(t('reply.comma')) })];
}

/** Ascending numbers as runs, such as `3`, `7–46`, `50`; only the first ones if there are many. */
function runsOf(numbers: readonly number[]): string[] {
  const runs: { first: number; last: number }[] = [];
  for (const number of numbers) {
    const run = runs.at(-1);
    if (run && number === run.last + 1) run.last = number;
    else runs.push({ first: number, last: number });
  }
  const shown = runs.slice(0, MAX_RUNS).map(({ first, last }) => (first === last ? `${first}` : `${first}–${last}`));
  return [...shown, ...(runs.length > MAX_RUNS ? ['…'] : [])];
}

/** What an import would add, change and name. */
function preview({ added, changed, labels }: ProposedImport, { subscriptions }: CurrentState, t: Translate): string[] {
  const part = <Entry>(entries: Entry[], heading: string, show: (entry: Entry) => string): string[] => {
    if (entries.length === 0) return [];
    return [`**${heading}**`, ...firstOf(t, entries, MAX_ROWS, (entry) => `- ${show(entry)}`)];
  };
  return [
    ...part(added, t('subscription.import.toAdd', { count: added.length }), ({ address, channelId, change }) => {
      return [...(change.label ? [boldName(change.label)] : []), addressInCode(address), `→ <#${channelId}>`].join(' ');
    }),
    ...part(changed, t('subscription.import.toChange', { count: changed.length }), ({ address, channelId, change }) => {
      const before = subscriptions.find((one) => one.address === address && one.channelId === channelId)!;
      const after = { ...before, ...change, filters: { ...before.filters, ...change.filters } };
      return `${nameOf(before)} → <#${channelId}>: ${differing(before, after).join(t('reply.comma'))}`;
    }),
    ...part(labels, t('subscription.import.toSet', { count: labels.length }), ({ address, name }) => {
      return `${boldName(name)} ${addressInCode(address)}`;
    }),
  ];
}
