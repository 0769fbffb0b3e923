import type { AddressText } from './address.ts';
import type { HiddenReason } from './match.ts';
import { isItem } from './story.ts';
import type { Transfer } from './transfer.ts';

/** Which way a transfer went, seen from an address; `other`: to itself, or of the address's own token. */
export type Way = 'incoming' | 'outgoing' | 'other';

/** One transfer of an address in a period. `hidden`: why nobody was told, null when somebody was. */
export interface Movement {
  at: number;
  transfer: Transfer;
  count: number;
  hidden: string | null;
  /** It was marked: its token only bears the symbol of a known one. */
  imitation: boolean;
}

/** How many transfers, and their sum in the smallest unit; NFTs are counted in pieces. */
interface Sum {
  transfers: number;
  value: string;
}

/** What one asset did. `transfer` is one of its transfers and stands for the name and the decimals. */
export interface AssetTotal extends Record<Way, Sum> {
  transfer: Transfer;
  transfers: number;
  imitation: boolean;
}

/** What an address did in a period. */
export interface Activity extends Record<Way, number> {
  /** One for each hour or day; the label is the hour (00 to 23) or the day of the month. */
  buckets: ({ label: string } & Record<Way, number>)[];
  /** Those with the most transfers first. */
  totals: AssetTotal[];
  /** The largest of each asset, the largest of the busiest asset first. */
  largest: (Movement & { way: Way })[];
  /** What was not told, by reason; the most frequent first. */
  hidden: { reason: string; transfers: number }[];
}

/** A period; `now` ends it. Hours are shown for a day, days for what is longer. */
export interface Period {
  since: number;
  now: number;
  timezone: string;
}

const HOUR = 3_600_000;
const QUARTER = HOUR / 4;
const LARGEST = 5;

/** Reasons that say "this is nothing": such transfers are counted as hidden only. */
const NOISE: ReadonlySet<string> = new Set([
  'guard',
  'zero',
  'self',
  'cataloged',
  'token-muted',
  'denied-token',
  'denied-counterparty',
] satisfies HiddenReason[]);

/** Whether a transfer that was hidden for this reason is left out of sums and charts. */
export const isNoise = (hidden: string | null): boolean => hidden !== null && NOISE.has(hidden);

export function wayOf(address: AddressText, { from, to }: Transfer): Way {
  if (from === to) return 'other';
  if (to === address) return 'incoming';
  return from === address ? 'outgoing' : 'other';
}

/** Sums up what an address did; amounts are exact. */
export function summarise(address: AddressText, movements: readonly Movement[], period: Period): Activity {
  const counted = movements
    .filter(({ hidden }) => !isNoise(hidden))
    .map((movement) => ({ ...movement, way: wayOf(address, movement.transfer) }));
  const assets = [...Map.groupBy(counted, ({ transfer }) => transfer.token ?? transfer.kind).values()];
  const totals = assets.map(totalOf).sort((a, b) => b.transfers - a.transfers);
  const number = (way: Way) => totals.reduce((sum, total) => sum + total[way].transfers, 0);
  return {
    incoming: number('incoming'),
    outgoing: number('outgoing'),
    other: number('other'),
    buckets: bucketsOf(counted, period),
    totals,
    largest: largestOf(assets),
    hidden: hiddenOf(movements),
  };
}

type Seen = Movement & { way: Way };

function totalOf(movements: Seen[]): AssetTotal {
  const sum = (way: Way): Sum => {
    const own = movements.filter((movement) => movement.way === way);
    const value = own.reduce((total, movement) => total + amountOf(movement), 0n);
    return { transfers: own.reduce((total, { count }) => total + count, 0), value: value.toString() };
  };
  const [incoming, outgoing, other] = [sum('incoming'), sum('outgoing'), sum('other')];
  const { transfer } = movements.find((movement) => movement.transfer.decimals !== null) ?? movements[0]!;
  const transfers = incoming.transfers + outgoing.transfers + other.transfers;
  return { transfer, incoming, outgoing, other, transfers, imitation: movements.some(({ imitation }) => imitation) };
}

/** In the smallest unit, all equal transfers together. */
function amountOf({ transfer, count }: Movement): bigint {
  const pieces = isItem(transfer) && (transfer.kind !== 'erc1155' || transfer.value === null) ? 1n : null;
  return (pieces ?? BigInt(transfer.value ?? 0)) * BigInt(count);
}

/** Amounts of several assets cannot be compared: each asset's largest, then each one's second, until there are enough. */
function largestOf(assets: Seen[][]): Seen[] {
  const ranked = assets
    .filter(([first]) => !isItem(first!.transfer))
    .sort((a, b) => b.length - a.length)
    .map((movements) => {
      const value = ({ transfer }: Seen) => BigInt(transfer.value ?? 0);
      return movements.toSorted((a, b) => (value(a) < value(b) ? 1 : value(a) > value(b) ? -1 : b.at - a.at));
    });
  const rounds = Array.from({ length: LARGEST }, (_, rank) => ranked.flatMap((movements) => movements[rank] ?? []));
  return rounds.flat().slice(0, LARGEST);
}

function hiddenOf(movements: readonly Movement[]): Activity['hidden'] {
  const reasons = Map.groupBy(
    movements.filter(({ hidden }) => hidden !== null),
    ({ hidden }) => hidden!,
  );
  return [...reasons]
    .map(([reason, list]) => ({ reason, transfers: list.reduce((sum, { count }) => sum + count, 0) }))
    .sort((a, b) => b.transfers - a.transfers);
}

/** By the clock of the time zone: the first and the last hour or day are mostly not whole. */
function bucketsOf(movements: Seen[], { since, now, timezone }: Period): Activity['buckets'] {
  const hours = now - since <= 24 * HOUR;
  const clock = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    month: '2-digit',
    day: '2-digit',
    ...(hours && { hour: '2-digit', hourCycle: 'h23' }),
  });
  const buckets = new Map<string, Activity['buckets'][number]>();
  // Every time zone is a whole number of quarters of an hour away from another.
  const quarters = new Map<number, Activity['buckets'][number]>();
  const bucketAt = (at: number) => {
    const quarter = Math.floor(at / QUARTER);
    const known = quarters.get(quarter);
    if (known) return known;
    const parts = clock.formatToParts(at);
    const key = parts.map(({ value }) => value).join('');
    const label = parts.find(({ type }) => type === (hours ? 'hour' : 'day'))!.value;
    const bucket = buckets.get(key) ?? { label, incoming: 0, outgoing: 0, other: 0 };
    buckets.set(key, bucket);
    quarters.set(quarter, bucket);
    return bucket;
  };
  for (let at = since; at <= now; at += QUARTER) bucketAt(at);
  bucketAt(now);
  for (const { at, way, count } of movements) bucketAt(at)[way] += count;
  return [...buckets.values()];
}
