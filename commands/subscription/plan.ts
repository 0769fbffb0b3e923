import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { type AddressText, chainsIn, parseAddress, parseWatchable } from '../../src/domain/address.ts';
import { nameKey } from '../../src/domain/guild.ts';
import { chainOf } from '../../src/domain/network.ts';
import { type ImportedSubscription, isMuted, type Subscription } from '../../src/domain/subscription.ts';
import { subscriptionKey } from '../../src/domain/subscription-limits.ts';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import { checkKnown, refuseUnseen } from '../shared/channels.ts';
import { addressesNamed, faultText, nameOrNull, readName } from '../shared/names.ts';
import { hasSeveral, isElsewhere, NETWORK, typedNetwork } from '../shared/networks.ts';
import { fullAddress, readTyped, withInput } from '../shared/reply.ts';
import type { Context } from '../shared/services.ts';
import type { Input, Reading } from './field-values.ts';
import { DEFAULT_KEPT, type Kept, readChoices } from './fields.ts';
import { columnsFor } from './file.ts';
import { addName, channelReader, type Fault, type FileNames, findNameFaults, keepNames } from './plan-names.ts';
import { type CsvRecord, fromHeader, PLAIN_COLUMNS, plainList, readColumns, readCsv } from './read-csv.ts';
import { onlyChanged, PINGS, requireMention } from './save.ts';

const emptyPlan = () => ({
  added: [] as ImportedSubscription[],
  changed: [] as ImportedSubscription[],
  labels: [] as { address: AddressText; name: string }[],
  unchanged: 0,
  errors: [] as Fault[],
  foreign: [] as string[],
  /** How many rows name each chain; those of a chain that this bot is known not to watch are left out. */
  chains: new Map<number, number>(),
  /** How many rows of another program are left out: addresses of other kinds of chains, and names that cannot be taken. */
  elsewhere: 0,
  unnamed: 0,
});
export type Plan = ReturnType<typeof emptyPlan>;

export interface CurrentState {
  /** By their keys. */
  subscriptions: ReadonlyMap<string, Subscription>;
  reading: Reading;
  hidden: ReadonlySet<string>;
}

/** Rows that are read before other events are handled. */
const ROWS_PER_TURN = 500;

export async function planImport(text: string, current: CurrentState, context: Context): Promise<Plan> {
  const { t } = context;
  const parsed = readCsv(text);
  if (!parsed.ok) return onlyFault(parsed.line, t(`subscription.import.${parsed.fault}`));
  const [head, ...rows] = fromHeader(parsed.records);
  const plain = plainList(text, parsed.records);
  const [ours, offered] = [columnsFor(context.settings, true), columnsFor(context.settings)];
  const read = plain ? { columns: PLAIN_COLUMNS, foreign: [] } : readColumns(head?.cells ?? [], ours, offered, rows, t);
  if (typeof read === 'string') return onlyFault(head?.line ?? 1, read);
  const readChannel = channelReader(context);
  // Another program's list is taken as far as it can be.
  const isOurs = read.columns.some((name) => name !== null && !['address', 'label', 'chain', NETWORK].includes(name));
  const baseline = { readChannel, current, context, isOurs };
  const { plan, names } = await planRows(plain ?? rows, read.columns, baseline);
  plan.foreign = read.foreign;
  const { maxSubscriptions } = context.settings;
  if (plan.added.length > 0 && current.subscriptions.size + plan.added.length > maxSubscriptions) {
    plan.errors.push({ line: 1, text: t('subscription.import.full', { count: maxSubscriptions }) });
  }
  const changed = keepNames(plan.changed, names);
  const unchanged = plan.unchanged + plan.changed.length - changed.length;
  const errors = [...plan.errors, ...findNameFaults(names, changed, current.reading.names, context)];
  return { ...plan, changed, unchanged, errors };
}

const onlyFault = (line: number, text: string): Plan => ({ ...emptyPlan(), errors: [{ line, text }] });

interface Baseline {
  readChannel: ReturnType<typeof channelReader>;
  current: CurrentState;
  context: Context;
  /** Every row must be right; in another program's list, some are left out. */
  isOurs: boolean;
}

async function planRows(
  records: CsvRecord[],
  columns: readonly (string | null)[],
  baseline: Baseline,
): Promise<{ plan: Plan; names: FileNames }> {
  const { current, context, isOurs } = baseline;
  const { t, settings } = context;
  const plan = emptyPlan();
  const names: FileNames = new Map();
  const lines = new Map<string, number>();
  const channelsOf = new Map<AddressText, number>();
  for (const { address } of current.subscriptions.values()) channelsOf.set(address, (channelsOf.get(address) ?? 0) + 1);

  const add = (record: CsvRecord): void => {
    const { line } = record;
    const input = inputOf(record, columns, t);
    const typed = input('address') ?? '';
    const watchable = parseWatchable(typed);
    if (!isOurs && !watchable.ok && watchable.fault === 'foreign') {
      plan.elsewhere++;
      return;
    }
    const chain = chainIn(input, context);
    if (chain !== null) plan.chains.set(chain, (plan.chains.get(chain) ?? 0) + 1);
    if (chain !== null && isElsewhere(chain, settings)) return;
    const type = typeOf(input, t);
    const address = addressOf(typed, type === 'label' ? parseAddress : parseWatchable, baseline);
    const channel = type === 'label' ? null : baseline.readChannel(input('channel') ?? '');
    const network = networkIn(input, chain, context);
    const key = `${address} ${channel === null ? 'label' : `${channel.channelId} ${network}`}`;
    const first = lines.get(key);
    // Other programs list an address once for each chain.
    if (first !== undefined && !isOurs) return;
    if (first !== undefined) throw new UserError(t('subscription.import.repeated', { line: first }));
    lines.set(key, line);
    const called = input('label') ?? '';
    if (channel === null) {
      const name = readTyped(() => readName(called, t), called, t);
      addName(names, address, name, line, t);
      if (current.reading.names.get(address) === name) plan.unchanged++;
      else plan.labels.push({ address, name });
      return;
    }
    const label = isOurs ? called : otherLabel(called, address, names, baseline);
    if (label === null && called !== '') plan.unnamed++;
    // Without a name, a row of another program's list leaves the one that the address has.
    const read: Input = (column) => (column === 'label' && !isOurs ? (label ?? undefined) : input(column));
    const { isNew, name, row } = readSubscription({ ...channel, address, network }, read, baseline);
    if (name !== null) addName(names, address, name, line, t);
    if (isNew) {
      const channels = (channelsOf.get(address) ?? 0) + 1;
      const max = settings.maxChannelsPerAddress;
      if (channels > max) {
        throw new UserError(t('subscription.import.crowded', { address: fullAddress(address, settings), max }));
      }
      channelsOf.set(address, channels);
      plan.added.push(row);
    } else if (Object.keys(row.change).length > 0) plan.changed.push(row);
    else plan.unchanged++;
  };

  for (const [index, record] of records.entries()) {
    if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await turnOfTheLoop();
    try {
      add(record);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      plan.errors.push({ line: record.line, text: error.message });
    }
  }
  return { plan, names };
}

function inputOf({ cells }: CsvRecord, columns: readonly (string | null)[], t: Translate): Input {
  if (cells.slice(columns.length).some((cell) => cell !== ''))
    throw new UserError(t('subscription.import.tooManyCells'));
  return (column) => {
    const index = columns.indexOf(column);
    return index === -1 ? undefined : (cells[index]?.trim() ?? '');
  };
}

/** By the row's network or chain; null: any. Throws a {@link UserError}. */
function networkIn(input: Input, chain: number | null, context: Context): number | null {
  const { settings } = context;
  if (!hasSeveral(settings)) return null;
  const typed = input(NETWORK) ?? '';
  if (typed !== '' && !isOtherChain(typed, context)) return typedNetwork(typed, context);
  const prefix = /(?<![\p{L}\d-])([a-z\d-]+):0x/iu.exec(input('address') ?? '')?.[1]?.toLowerCase();
  const named = [input('chain')?.toLowerCase(), prefix];
  const found = settings.networks.find(
    ({ chainId, name }) => named.includes(name) || (chain !== null && chainId === chain),
  );
  return found?.id ?? null;
}

/** Whether a network's name in a file is a chain's and none of ours. */
const isOtherChain = (typed: string, { settings }: Context): boolean =>
  chainOf(typed) !== undefined &&
  settings.networks.every(({ name, title }) => ![name, title.toLowerCase()].includes(typed.toLowerCase()));

/** The chain that a row names, in a column of its own or before its address; null: none. */
function chainIn(input: Input, context: Context): number | null {
  const network = input(NETWORK) ?? '';
  const named = input('chain') ?? (isOtherChain(network, context) ? network : '');
  const [before] = chainsIn(input('address') ?? '');
  const id = /^(?:eip155:)?(\d{1,15})$/i.exec(named)?.[1];
  if (id !== undefined) return Number(id);
  return chainOf(named) ?? before ?? null;
}

/** null: it cannot be a name here, or is another address's. */
function otherLabel(
  text: string,
  address: AddressText,
  names: FileNames,
  { current, context }: Baseline,
): string | null {
  if (text === '') return null;
  const name = nameOrNull(text, context.t);
  if (name === null) return null;
  const book = [...current.reading.names, ...[...names].map(([owner, named]) => [owner, named.name] as const)];
  return book.some(([owner, taken]) => owner !== address && nameKey(taken) === nameKey(name)) ? null : name;
}

function typeOf(input: Input, t: Translate): 'label' | 'subscription' {
  const type = input('type')?.toLowerCase() || 'subscription';
  if (type === 'label' || type === 'subscription') return type;
  throw withInput(new UserError(t('subscription.import.type')), type, t);
}

function addressOf(typed: string, parse: typeof parseAddress, { current, context: { t } }: Baseline): AddressText {
  const [named, ...others] = addressesNamed(typed, current.reading.names);
  const isNamed = named !== undefined && others.length === 0 && !parse(typed).ok;
  const parsed = parse(isNamed ? named : typed);
  if (!parsed.ok) throw withInput(new UserError(faultText(parsed.fault, typed, t)), typed, t);
  return parsed.address;
}

/** `name`: null if the row has no column for it, or removes it. */
function readSubscription(
  {
    address,
    channelId,
    picked,
    network,
  }: ReturnType<Baseline['readChannel']> & Pick<Subscription, 'address' | 'network'>,
  input: Input,
  { current, context }: Baseline,
): { isNew: boolean; name: string | null; row: ImportedSubscription } {
  const { interaction, t } = context;
  const found = current.subscriptions.get(subscriptionKey({ address, channelId, network }));
  if (current.hidden.has(channelId)) refuseUnseen(channelId, picked, context);
  // A file omits mutes that have ended, so their absence is not a change.
  const before = found && !isMuted(found, context.now()) ? { ...found, mutedUntil: null } : found;
  // Channels that already get alerts are accepted; all others are checked like typed ones.
  if (!before && !picked)
    throw withInput(new UserError(t('subscription.import.channel')), input('channel') || `<#${channelId}>`, t);
  if (!before) checkKnown(channelId, picked, context);
  const kept = readChoices<Kept>(input, before ?? DEFAULT_KEPT, current.reading);
  if (kept.mention !== null && kept.mention !== before?.mention && !interaction.guild?.roles.cache.has(kept.mention)) {
    throw withInput(new UserError(t('subscription.filter.role')), input('mention')!, t);
  }
  const isOtherPing = PINGS.some((key) => kept[key] !== before?.[key]);
  if (isOtherPing) requireMention(interaction, kept.mention, channelId, t);
  const name = input('label') === undefined ? null : kept.label;
  const change = onlyChanged(before ?? DEFAULT_KEPT, kept);
  return { isNew: !before, name, row: { address, channelId, network, change } };
}
