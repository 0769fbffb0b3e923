import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { GuildBasedChannel } from 'discord.js';
import type { CommandUse } from '../../src/discord/command.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { Label } from '../../src/domain/guild.ts';
import type { ImportedSubscription, Subscription } from '../../src/domain/subscription.ts';
import { parseAddress, parseWatchable } from '../../src/domain/typed-address.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { readName } from '../shared/naming.ts';
import { fullAddress, listInCode, quoted } from '../shared/reply.ts';
import type { ContextWith } from '../shared/services.ts';
import { withSuggestion } from '../shared/suggestions.ts';
import { checkKnown, refuseUnseen } from '../shared/target.ts';
import { withCause } from './field-values.ts';
import { COLUMNS, DEFAULT_KEPT, readKept } from './file.ts';
import { requireMention } from './mention.ts';
import { channelReader } from './plan-channels.ts';
import { addName, type Fault, type FileNames, findNameFaults, keepNames } from './plan-names.ts';
import { type CsvRecord, readCsv } from './read-csv.ts';
import { onlyChanged, PINGS } from './save.ts';
import type { TokenBook } from './token-book.ts';

type Needs = ContextWith<'settings' | 'now'>;

/** What a file would change, or its faults. */
export interface Plan {
  added: ImportedSubscription[];
  changed: ImportedSubscription[];
  labels: { address: AddressText; name: string }[];
  unchanged: number;
  errors: Fault[];
}

/** A guild's state before an import. */
export interface CurrentState {
  subscriptions: readonly Subscription[];
  labels: Label[];
  tokens: TokenBook;
  /** Channels that the person is not known to see. */
  hidden: ReadonlySet<string>;
}

/** Rows that are read before other events are handled. */
const ROWS_PER_TURN = 500;

/** Compares a file with the guild's state; changes nothing. */
export async function planImport(
  text: string,
  current: CurrentState,
  interaction: CommandUse,
  context: Needs,
): Promise<Plan> {
  const { t } = context;
  const parsed = readCsv(text);
  if (!parsed.ok) return onlyFault(parsed.line, t(`subscription.import.${parsed.fault}`));
  const [head, ...records] = parsed.records;
  const columns = head?.cells.map((cell) => cell.trim().toLowerCase()) ?? [];
  const fault = columnFault(columns, t);
  if (fault !== null) return onlyFault(head?.line ?? 1, fault);
  const readChannel = channelReader(interaction, current.hidden, context);
  const { plan, names } = await planRows(records, columns, { readChannel, current, interaction, context });
  const { maxSubscriptions } = context.settings;
  if (plan.added.length > 0 && current.subscriptions.length + plan.added.length > maxSubscriptions) {
    plan.errors.push({ line: 1, text: t('subscription.import.full', { count: maxSubscriptions }) });
  }
  const changed = keepNames(plan.changed, names);
  const unchanged = plan.unchanged + plan.changed.length - changed.length;
  const errors = [...plan.errors, ...findNameFaults(names, changed, current.labels, context)];
  return { ...plan, changed, unchanged, errors };
}

const onlyFault = (line: number, text: string): Plan => ({
  added: [],
  changed: [],
  labels: [],
  unchanged: 0,
  errors: [{ line, text }],
});

/** What is wrong with the first line; null: nothing. */
function columnFault(named: string[], t: Translate): string | null {
  const unknown = named.find((name) => !COLUMNS.includes(name));
  if (!named.includes('address')) return t('subscription.import.noAddress');
  if (unknown !== undefined) {
    const columns = listInCode(COLUMNS, t);
    const reason = t('subscription.import.unknownColumn', { column: quoted(unknown), columns });
    return withSuggestion(reason, unknown, COLUMNS, t);
  }
  const repeated = COLUMNS.find((name) => named.indexOf(name) !== named.lastIndexOf(name));
  return repeated === undefined ? null : t('subscription.import.repeatedColumn', { column: `\`${repeated}\`` });
}

/** What every row of a file is compared with. */
interface Baseline {
  readChannel: ReturnType<typeof channelReader>;
  current: CurrentState;
  interaction: CommandUse;
  context: Needs;
}

async function planRows(
  records: CsvRecord[],
  columns: string[],
  baseline: Baseline,
): Promise<{ plan: Plan; names: FileNames }> {
  const { current, context } = baseline;
  const { t, settings } = context;
  const plan: Plan = { added: [], changed: [], labels: [], unchanged: 0, errors: [] };
  const names: FileNames = new Map();
  const lines = new Map<string, number>();
  const channelsOf = new Map<AddressText, number>();
  for (const { address } of current.subscriptions) channelsOf.set(address, (channelsOf.get(address) ?? 0) + 1);

  const add = (record: CsvRecord): void => {
    const { line } = record;
    const input = inputOf(record, columns, t);
    const subject = readSubject(input, baseline);
    const { address } = subject;
    const key = `${address} ${subject.type === 'label' ? 'label' : subject.channelId}`;
    const first = lines.get(key);
    if (first !== undefined) throw new UserError(t('subscription.import.repeated', { line: first }));
    lines.set(key, line);
    const row =
      subject.type === 'label' ? readLabel(subject, input, baseline) : readSubscription(subject, input, baseline);
    if (row.name !== null) addName(names, address, row.name, line, t);
    switch (row.status) {
      case 'unchanged':
        plan.unchanged++;
        break;
      case 'label':
        plan.labels.push({ address, name: row.name });
        break;
      case 'added': {
        const channels = (channelsOf.get(address) ?? 0) + 1;
        const max = settings.maxChannelsPerAddress;
        if (channels > max) {
          throw new UserError(t('subscription.import.crowded', { address: fullAddress(address, settings), max }));
        }
        channelsOf.set(address, channels);
        plan.added.push(row.subscription);
        break;
      }
      case 'changed':
        plan.changed.push(row.subscription);
    }
  };

  for (const [index, record] of records.entries()) {
    if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await turnOfTheLoop();
    try {
      add(record);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const typed = typeof error.cause === 'string' && error.cause !== '' ? { typed: error.cause } : {};
      plan.errors.push({ line: record.line, text: error.message, ...typed });
    }
  }
  return { plan, names };
}

/** A row's text in a column; undefined: there is no such column. */
type Input = (column: string) => string | undefined;

function inputOf({ cells }: CsvRecord, columns: string[], t: Translate): Input {
  if (cells.length > columns.length) throw new UserError(t('subscription.import.tooManyCells'));
  return (column) => {
    const index = columns.indexOf(column);
    return index === -1 ? undefined : (cells[index]?.trim() ?? '');
  };
}

/** What a row is about. A file has at most one row about each. */
type Subject =
  | { type: 'label'; address: AddressText }
  | { type: 'subscription'; address: AddressText; channelId: string; picked: GuildBasedChannel | null };

function readSubject(input: Input, { readChannel, context: { t } }: Baseline): Subject {
  const type = input('type')?.toLowerCase() || 'subscription';
  if (type !== 'label' && type !== 'subscription') {
    throw new UserError(t('subscription.import.type'), { cause: type });
  }
  const parsed = (type === 'label' ? parseAddress : parseWatchable)(input('address') ?? '');
  if (!parsed.ok) throw new UserError(t(`address.${parsed.fault}`), { cause: input('address') });
  const { address } = parsed;
  return type === 'label' ? { type, address } : { type, address, ...readChannel(input('channel') ?? '') };
}

/** What a row does; `name`: what it calls its address. */
type RowOutcome =
  | { status: 'unchanged'; name: string | null }
  | { status: 'label'; name: string }
  | { status: 'added' | 'changed'; name: string | null; subscription: ImportedSubscription };

function readLabel({ address }: Subject, input: Input, { current, context: { t } }: Baseline): RowOutcome {
  const name = withCause(input('label') ?? '', () => readName(input('label') ?? '', t));
  const known = current.labels.find((one) => one.address === address);
  return { status: known?.name === name ? 'unchanged' : 'label', name };
}

function readSubscription(
  { address, channelId, picked }: Extract<Subject, { type: 'subscription' }>,
  input: Input,
  { current, interaction, context }: Baseline,
): RowOutcome {
  const { t } = context;
  const found = current.subscriptions.find((one) => one.address === address && one.channelId === channelId);
  if (current.hidden.has(channelId)) refuseUnseen(interaction, channelId, picked, t);
  // A file omits mutes that have ended, so their absence is not a change.
  const isOver = found !== undefined && found.mutedUntil !== null && found.mutedUntil <= context.now();
  const before = isOver ? { ...found, mutedUntil: null } : found;
  // Channels that already get alerts are accepted; all others are checked like typed ones.
  if (!before && !picked) throw new UserError(t('subscription.import.channel'), { cause: input('channel') });
  if (!before) checkKnown(interaction, channelId, picked, t);
  const called = (column: string) => column;
  const reading = { t, guildId: interaction.guildId, tokens: current.tokens, called, language: null };
  const kept = readKept(input, before ?? DEFAULT_KEPT, reading);
  if (kept.mention !== null && kept.mention !== before?.mention && !hasRole(interaction, kept.mention)) {
    throw new UserError(t('subscription.filter.role'), { cause: input('mention') });
  }
  const isOtherPing = PINGS.some((key) => kept[key] !== before?.[key]);
  if (isOtherPing) requireMention(interaction, kept.mention, channelId, t);
  const name = input('label') === undefined ? null : kept.label;
  const change = onlyChanged(before ?? DEFAULT_KEPT, kept);
  if (before && Object.keys(change).length === 0) return { status: 'unchanged', name };
  return { status: before ? 'changed' : 'added', name, subscription: { address, channelId, change } };
}

function hasRole({ guild }: CommandUse, id: string): boolean {
  return guild?.roles.cache.has(id) ?? false;
}
