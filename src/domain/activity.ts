import { Temporal } from 'temporal-polyfill';
import type { AddressText } from './address.ts';
import type { Alert } from './alert.ts';
import { DAY } from './clock.ts';
import { type HiddenReason, REASONS } from './match.ts';
import { amountOf, byWorth, isItem, type Transfer, worthOf } from './transfer.ts';

export interface ActivityQuery {
  guildId: string;
  address: AddressText;
  channelIds: string[];
  /** null, and by default: on any. */
  network?: number | null;
  since: number;
  until: number;
}

export interface DecidedTransfer extends Pick<Alert, 'network' | 'transfer' | 'count' | 'warnings'> {
  transferId: number;
  at: number;
  /** Each is `matched` or a `HiddenReason`; a later version may have stored one that is unknown here. */
  outcomes: string[];
}

export interface Movement extends Omit<DecidedTransfer, 'outcomes' | 'warnings'> {
  /** null: it was posted. */
  hidden: string | null;
  imitation: boolean;
}

export interface PostedIn {
  transferId: number;
  channelId: string;
  messageId: string;
}

/** The event loop handles other events between two pages. */
const PAGE_SIZE = 1_000;

/** `read` returns all of a page's oldest moment; empty: the end. Then `cut` returns `max` if there were more. */
export function readMovements(
  read: (until: number, limit: number) => Promise<DecidedTransfer[]>,
  now: number,
  max: number,
): { movements: AsyncIterable<Movement>; cut(): number | null } {
  let cut: number | null = null;
  async function* movements(): AsyncGenerator<Movement> {
    let until = now;
    let remaining = max;
    for (;;) {
      const page = await read(until, PAGE_SIZE);
      if (page.length === 0) return;
      for (const decided of page) {
        if (remaining === 0) {
          cut = max;
          return;
        }
        remaining--;
        yield movementOf(decided);
      }
      until = page.at(-1)!.at - 1;
    }
  }
  return { movements: movements(), cut: () => cut };
}

/** If no subscription matched, the reason nearest to a match counts: its rule is the last in order. */
function movementOf({ outcomes, warnings, ...decided }: DecidedTransfer): Movement {
  const reasons = REASONS.filter((reason) => outcomes.includes(reason));
  const hidden = outcomes.includes('matched') ? null : (reasons.at(-1) ?? outcomes[0] ?? null);
  return { ...decided, hidden, imitation: warnings.some(({ kind }) => kind === 'imitation') };
}

/** `other`: to itself, or of the token whose contract the address is. */
export type Direction = 'incoming' | 'outgoing' | 'other';

/** `value` is in the smallest unit; NFTs are counted in pieces. `worth` null: unknown for one of the transfers. */
const nothing = () => ({ transfers: 0, value: 0n, worth: 0n as bigint | null });

const newTotal = (network: number, transfer: Transfer) => ({
  incoming: nothing(),
  outgoing: nothing(),
  other: nothing(),
  network,
  transfer,
  movements: 0,
  imitation: false,
  largest: [] as Activity['largest'],
});
export type AssetTotal = ReturnType<typeof newTotal>;

export interface Activity extends Record<Direction, number> {
  buckets: ({ label: string } & Record<Direction, number>)[];
  worth: Record<Direction, bigint>;
  unpriced: number;
  /** Only those worth most, or made up least: anybody can send thousands of tokens. */
  totals: AssetTotal[];
  assets: number;
  largest: (Movement & { direction: Direction })[];
  hidden: { reason: string; transfers: number }[];
}

export interface Period {
  since: number;
  now: number;
  timezone: string;
}

const MAX_LARGEST = 5;
const MAX_TOTALS = 6;

const NOISE: ReadonlySet<string> = new Set<HiddenReason>([
  'guard',
  'zero',
  'self',
  'cataloged',
  'token-muted',
  'denied-token',
  'denied-counterparty',
]);

export const isNoise = (hidden: string | null): boolean => hidden !== null && NOISE.has(hidden);

export function directionOf(address: AddressText, { from, to }: Transfer): Direction {
  if (from === to) return 'other';
  if (to === address) return 'incoming';
  return from === address ? 'outgoing' : 'other';
}

export async function summarize(
  address: AddressText,
  movements: AsyncIterable<Movement> | Iterable<Movement>,
  period: Period,
  isListed: (network: number, token: AddressText) => boolean = () => false,
): Promise<Activity> {
  const { buckets, bucketAt } = bucketsOf(period);
  const byAsset = new Map<string, AssetTotal>();
  const hidden = new Map<string, number>();
  const worth = { incoming: 0n, outgoing: 0n, other: 0n };
  let unpriced = 0;
  for await (const movement of movements) {
    const { network, at, count, transfer } = movement;
    if (movement.hidden !== null) hidden.set(movement.hidden, (hidden.get(movement.hidden) ?? 0) + count);
    // What the chain does not have counts as nothing, nor is it the largest.
    if (isNoise(movement.hidden) || count === 0) continue;
    const direction = directionOf(address, transfer);
    const key = `${network} ${keyOf(transfer)}`;
    const total = byAsset.get(key) ?? newTotal(network, transfer);
    byAsset.set(key, total);
    add(total, { ...movement, direction });
    bucketAt(at)[direction] += count;
    const own = worthOf(transfer, count);
    if (own === null && !isItem(transfer)) unpriced += count;
    worth[direction] += own ?? 0n;
  }
  // Nobody can make up the coin or a listed token. Anybody can move others any number of times.
  const isMadeUp = ({ network, transfer: { kind, token } }: AssetTotal) =>
    Number(token === null ? kind !== 'native' : !isListed(network, token));
  const ranked = [...byAsset.values()].sort((a, b) => isMadeUp(a) - isMadeUp(b) || b.movements - a.movements);
  const totals = ranked.toSorted((a, b) => byWorth(worthOfTotal(a), worthOfTotal(b)));
  const number = (direction: Direction) => totals.reduce((sum, total) => sum + total[direction].transfers, 0);
  return {
    incoming: number('incoming'),
    outgoing: number('outgoing'),
    other: number('other'),
    buckets,
    worth,
    unpriced,
    totals: totals.slice(0, MAX_TOTALS),
    assets: totals.length,
    largest: largestOf(ranked),
    hidden: [...hidden]
      .map(([reason, transfers]) => ({ reason, transfers }))
      .sort((a, b) => b.transfers - a.transfers || a.reason.localeCompare(b.reason)),
  };
}

type SeenMovement = Activity['largest'][number];

/** A contract's NFTs, its amounts, and its transfers without an amount are three sums. */
function keyOf(transfer: Transfer): string {
  const { kind, token, tokenName, tokenSymbol, decimals, value } = transfer;
  const asset = token ?? (kind === 'native' ? kind : JSON.stringify([kind, tokenName, tokenSymbol, decimals]));
  return `${asset} ${isItem(transfer) ? 'pieces' : value !== null}`;
}

function add(total: AssetTotal, seen: SeenMovement): void {
  const { transfer, direction, count } = seen;
  if (total.transfer.decimals === null && transfer.decimals !== null) total.transfer = transfer;
  total.movements++;
  total[direction].transfers += count;
  total[direction].value += amountOf(transfer) * BigInt(count);
  const [worth, before] = [worthOf(transfer, count), total[direction].worth];
  total[direction].worth = worth === null || before === null ? null : before + worth;
  total.imitation ||= seen.imitation;
  if (isItem(transfer)) return;
  const smallest = total.largest.at(-1);
  if (smallest && total.largest.length === MAX_LARGEST && byAmount(seen, smallest) >= 0) return;
  total.largest = [...total.largest, seen].sort(byAmount).slice(0, MAX_LARGEST);
}

function byAmount(a: SeenMovement, b: SeenMovement): number {
  const [amountA, amountB] = [amountOf(a.transfer), amountOf(b.transfer)];
  return amountA < amountB ? 1 : amountA > amountB ? -1 : b.at - a.at;
}

/** null: nothing of it has a price. */
function worthOfTotal({ incoming, outgoing, other }: AssetTotal): bigint | null {
  const known = [incoming, outgoing, other].flatMap(({ worth }) => worth || []);
  return known.length === 0 ? null : known.reduce((all, value) => all + value, 0n);
}

/** Amounts without a price cannot be compared: takes each asset's largest, then each one's second, and so on. */
function largestOf(ranked: readonly AssetTotal[]): SeenMovement[] {
  const rounds = Array.from({ length: MAX_LARGEST }, (_, rank) => ranked.flatMap(({ largest }) => largest[rank] ?? []));
  const worthOfOne = ({ transfer, count }: SeenMovement) => worthOf(transfer, count);
  return rounds
    .flat()
    .sort((a, b) => byWorth(worthOfOne(a), worthOfOne(b)))
    .slice(0, MAX_LARGEST);
}

function bucketsOf({ since, now, timezone }: Period) {
  const isHourly = now - since <= DAY;
  const first = Temporal.Instant.fromEpochMilliseconds(since).toZonedDateTimeISO(timezone);
  const buckets: { start: number; bucket: Activity['buckets'][number] }[] = [];
  let start = isHourly ? first.round({ smallestUnit: 'hour', roundingMode: 'floor' }) : first.startOfDay();
  while (start.epochMilliseconds <= now) {
    const label = String(isHourly ? start.hour : start.day).padStart(2, '0');
    buckets.push({ start: start.epochMilliseconds, bucket: { label, incoming: 0, outgoing: 0, other: 0 } });
    start = isHourly ? start.add({ hours: 1 }) : start.add({ days: 1 }).startOfDay();
  }
  return {
    buckets: buckets.map(({ bucket }) => bucket),
    bucketAt: (at: number) => buckets.findLast(({ start }) => start <= at)!.bucket,
  };
}
