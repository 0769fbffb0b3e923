import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
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
import { addName, checkNames, type FileNames, keepNames } from './plan-names.ts';
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
  /** By line, counted from 1, with the text at fault. */
  errors: { line: number; text: string; typed?: string }[];
}

/** A guild's state before an import. */
export interface Present {
  subscriptions: readonly Subscription[];
  labels: Label[];
  tokens: TokenBook;
  /** Channels that the person is not known to see. */
  hidden: ReadonlySet<string>;
}

/** Rows that are read before other events are handled. */
const ROWS_A_TURN = 500;

/** Compares a file with the guild's state; changes nothing. */
export async function planImport(
  text: string,
  present: Present,
  interaction: CommandUse,
  context: Needs,
): Promise<Plan> {
  const { t } = context;
  const plan: Plan = { added: [], changed: [], labels: [], unchanged: 0, errors: [] };
  const parsed = readCsv(text);
  if (!parsed.ok) {
    plan.errors.push({ line: parsed.line, text: t(`subscription.import.${parsed.fault}`) });
    return plan;
  }
  const [head, ...records] = parsed.records;
  const columns = head?.cells.map((cell) => cell.trim().toLowerCase()) ?? [];
  const fault = faultOf(columns, t);
  if (fault !== null) {
    plan.errors.push({ line: head?.line ?? 1, text: fault });
    return plan;
  }
  const names: FileNames = new Map();
  const channelsOf = new Map<AddressText, number>();
  for (const { address } of present.subscriptions) count(channelsOf, address);
  const readChannel = channelReader(interaction, present.hidden, context);
  const work: Work = { plan, seen: new Map(), names, channelsOf, readChannel, present, interaction, context };
  for (const [index, record] of records.entries()) {
    if (index % ROWS_A_TURN === ROWS_A_TURN - 1) await turnOfTheLoop();
    try {
      planRow(record, columns, work);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const typed = typeof error.cause === 'string' && error.cause !== '' ? { typed: error.cause } : {};
      plan.errors.push({ line: record.line, text: error.message, ...typed });
    }
  }
  const { maxSubscriptions } = context.settings;
  if (plan.added.length > 0 && present.subscriptions.length + plan.added.length > maxSubscriptions) {
    plan.errors.push({ line: 1, text: t('subscription.import.full', { count: maxSubscriptions }) });
  }
  keepNames(plan, names);
  checkNames(plan, names, present.labels, context);
  return plan;
}

/** What is wrong with the first line; null: nothing. */
function faultOf(named: string[], t: Translate): string | null {
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

/** What reading a file's rows shares. */
interface Work {
  plan: Plan;
  /** The line of each row. */
  seen: Map<string, number>;
  names: FileNames;
  /** In how many channels each address is watched after the import. */
  channelsOf: Map<AddressText, number>;
  readChannel: ReturnType<typeof channelReader>;
  present: Present;
  interaction: CommandUse;
  context: Needs;
}

function planRow(record: CsvRecord, columns: string[], work: Work): void {
  const { t } = work.context;
  if (record.cells.length > columns.length) throw new UserError(t('subscription.import.tooManyCells'));
  const input = (column: string): string | undefined => {
    const index = columns.indexOf(column);
    return index === -1 ? undefined : (record.cells[index]?.trim() ?? '');
  };
  const type = input('type')?.toLowerCase() || 'subscription';
  if (type === 'label') planLabel(record, input, work);
  else if (type === 'subscription') planSubscription(record, input, work);
  else throw new UserError(t('subscription.import.type'), { cause: type });
}

type Input = (column: string) => string | undefined;

function planLabel({ line }: CsvRecord, input: Input, { plan, seen, names, present, context }: Work): void {
  const { t } = context;
  const parsed = parseAddress(input('address') ?? '');
  if (!parsed.ok) throw new UserError(t(`address.${parsed.fault}`), { cause: input('address') });
  once(seen, `label ${parsed.address}`, line, t);
  const name = withCause(input('label') ?? '', () => readName(input('label') ?? '', t));
  addName(names, parsed.address, name, line, t);
  const known = present.labels.find(({ address }) => address === parsed.address);
  if (known?.name === name) plan.unchanged++;
  else plan.labels.push({ address: parsed.address, name });
}

function planSubscription({ line }: CsvRecord, input: Input, work: Work): void {
  const { plan, seen, names, present, interaction, context } = work;
  const { t } = context;
  const parsed = parseWatchable(input('address') ?? '');
  if (!parsed.ok) throw new UserError(t(`address.${parsed.fault}`), { cause: input('address') });
  const { address } = parsed;
  const { channelId, picked } = work.readChannel(input('channel') ?? '');
  once(seen, `${address} ${channelId}`, line, t);
  const found = present.subscriptions.find((one) => one.address === address && one.channelId === channelId);
  if (present.hidden.has(channelId)) refuseUnseen(interaction, channelId, picked, t);
  // A file omits mutes that have ended, so their absence is not a change.
  const isOver = found !== undefined && found.mutedUntil !== null && found.mutedUntil <= context.now();
  const before = isOver ? { ...found, mutedUntil: null } : found;
  // Channels that already get alerts are accepted; all others are checked like typed ones.
  if (!before && !picked) throw new UserError(t('subscription.import.channel'), { cause: input('channel') });
  if (!before) checkKnown(interaction, channelId, picked, t);
  const called = (column: string) => column;
  const reading = { t, guildId: interaction.guildId, tokens: present.tokens, called, language: null };
  const kept = readKept(input, before ?? DEFAULT_KEPT, reading);
  if (kept.mention !== null && kept.mention !== before?.mention && !hasRole(interaction, kept.mention)) {
    throw new UserError(t('subscription.filter.role'), { cause: input('mention') });
  }
  const isOtherPing = PINGS.some((key) => kept[key] !== before?.[key]);
  if (isOtherPing) requireMention(interaction, kept.mention, channelId, t);
  if (input('label') !== undefined && kept.label !== null) addName(names, address, kept.label, line, t);
  const change = onlyChanged(before ?? DEFAULT_KEPT, kept);
  if (!before) {
    const max = context.settings.maxChannelsPerAddress;
    if (count(work.channelsOf, address) > max) {
      throw new UserError(t('subscription.import.crowded', { address: fullAddress(address, context.settings), max }));
    }
    plan.added.push({ address, channelId, change });
  } else if (Object.keys(change).length > 0) plan.changed.push({ address, channelId, change });
  else plan.unchanged++;
}

/** Counts one more channel that watches an address; returns how many there are. */
function count(channelsOf: Work['channelsOf'], address: AddressText): number {
  const channels = (channelsOf.get(address) ?? 0) + 1;
  channelsOf.set(address, channels);
  return channels;
}

/** Refuses a second row about the same. */
function once(seen: Map<string, number>, key: string, line: number, t: Translate): void {
  const first = seen.get(key);
  if (first !== undefined) throw new UserError(t('subscription.import.repeated', { line: first }));
  seen.set(key, line);
}

function hasRole({ guild }: CommandUse, id: string): boolean {
  return guild?.roles.cache.has(id) ?? false;
}
