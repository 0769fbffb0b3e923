import { type AddressText, type Asset, ZERO_ADDRESS } from './address.ts';
import { DAY, MINUTE } from './clock.ts';
import { type AlertStyle, type Choices, leaves, type Perspective } from './subscription.ts';
import { amountOf, isItem, isLessThan, isWorthLess, type Transfer } from './transfer.ts';

export interface Alert {
  id: number;
  guildId: string;
  channelId: string;
  createdAt: number;
  /** When the transfer's first delivery arrived. */
  receivedAt: number;
  /** null: a sample, or stored before this was recorded. */
  inboxId: number | null;
  network: number;
  transfer: Transfer;
  /** How many equal transfers the transaction holds. */
  count: number;
  reorganized: boolean;
  matches: AlertMatch[];
  warnings: Warning[];
  labels: Partial<Record<AddressText, string>>;
  language: string | null;
  hold: Hold | null;
  /** A suspicious transfer is always shown as `full`. */
  style: AlertStyle;
  isCataloged: boolean;
  /** Sent before other alerts, in messages of its own. */
  isSignificant: boolean;
}

/** The chains of two networks may have a transaction with the same hash. */
export const transactionOf = ({
  network,
  transfer: { txHash },
}: Pick<Alert, 'network'> & { transfer: Pick<Transfer, 'txHash'> }): string => `${network} ${txHash}`;

/** What a rendered alert shows that may change until it is frozen. */
export type RenderedAlert = Pick<Alert, 'id' | 'count' | 'reorganized'>;

export interface StoredMatch {
  subscription: number;
  perspective: Perspective;
  /** The asset is the coin, cataloged, or one that the subscription names: nobody made it up. */
  isKnown: boolean;
  mayMention: boolean;
}

export interface AlertMatch
  extends StoredMatch,
    Pick<Choices, 'label' | 'mention' | 'minimumUsd' | 'mentionMinimum' | 'mentionMinimumUsd' | 'mentionCooldown'> {
  address: AddressText;
  /** By an alert as significant as this one. */
  mentionedAt: number | null;
  showsBalance?: boolean;
}

export interface NewAlert extends Due {
  transferKey: string;
  inboxId: number;
  guildId: string;
  channelId: string;
  matches: StoredMatch[];
  isSignificant: boolean;
  warnings: Warning[];
}

export interface AlertTarget {
  channelId: string;
  guildId: string;
}

/** `isRepeat`: the channel got the same warning less than an hour before. */
export type Warning =
  /** `address` has the first and last digits of `like`, which is labeled here or a recent counterparty. */
  | { kind: 'look-alike'; address: AddressText; like: AddressText; label: string | null; isRepeat?: true }
  /** The token copies the symbol of a known one; `genuine` null: the native coin's. */
  | { kind: 'imitation'; symbol: string; genuine: AddressText | null; isRepeat?: true }
  | { kind: 'uncataloged' }
  /** `isCrowded`: the explorer was not asked, because there were too many tokens. */
  | { kind: 'unchecked'; isCrowded?: true }
  /** It arrived late, on a retry; `ms`: how long after events of later blocks. */
  | { kind: 'late'; ms: number }
  /** The service did not deliver it: it was found on the chain, `ms` after it happened. */
  | { kind: 'found'; ms: number }
  /** Its body names a different project than the one whose receiver URL it arrived at. */
  | { kind: 'other-project'; projectId: string };

export type Hold = 'hourly' | 'daily' | 'quiet';

/** The longest hold: a daily digest, then quiet hours. */
export const MAX_HOLD_MS = 3 * DAY;

export type DigestReason = Hold | 'backlog' | 'burst';

export type DeliverySchedule = Pick<Choices, 'digest' | 'quiet'>;

export const mayHold = ({ digest, quiet }: DeliverySchedule): boolean => digest !== null || quiet !== null;

/** At once: `hold` null and `dueAt` 0. */
export interface Due {
  hold: Hold | null;
  dueAt: number;
}

const MAX_ROLES = 20;

export interface Mentioning {
  subscription: number;
  isSignificant: boolean;
}

/** An amount that cannot be compared with the minimum, or has no price, counts as large enough. */
export function mentionsOf(alerts: readonly Alert[], now: number): { roles: string[]; mentioning: Mentioning[] } {
  const roles = new Set<string>();
  const mentioning = new Map<string, Mentioning>();
  for (const { transfer, count, matches, isSignificant } of alerts) {
    // The chain does not have it.
    if (count === 0) continue;
    for (const { mention, subscription, mayMention, mentionedAt, ...match } of matches) {
      if (mention === null || !mayMention) continue;
      if (match.mentionMinimum !== null && isLessThan(match.mentionMinimum, transfer)) continue;
      if (match.mentionMinimumUsd !== null && isWorthLess(match.mentionMinimumUsd, transfer)) continue;
      // A clock that was ahead may have dated the last mention in the future. That must not delay the next one.
      if (mentionedAt !== null && Math.abs(now - mentionedAt) < match.mentionCooldown * MINUTE) continue;
      if (roles.size === MAX_ROLES && !roles.has(mention)) continue;
      roles.add(mention);
      mentioning.set(`${subscription} ${isSignificant}`, { subscription, isSignificant });
    }
  }
  return { roles: [...roles], mentioning: [...mentioning.values()] };
}

export interface GroupedAlert extends Pick<Alert, 'transfer' | 'count' | 'warnings'> {
  matches: readonly Pick<AlertMatch, 'perspective' | 'address' | 'isKnown'>[];
}

export type View = 'incoming' | 'outgoing' | 'internal' | 'self' | 'mint' | 'burn' | 'token';

export type Part<T> =
  | { kind: 'line'; view: View; alerts: [T] }
  | { kind: 'sweep'; view: View; alerts: T[] }
  | { kind: 'swap'; wallet: AddressText; gave: T[]; got: T[]; alerts: T[] };

const MIN_SWEEP = 3;

/** Self-transfers, mints and burns come before the direction. */
export function viewOf({ matches, transfer }: GroupedAlert): View {
  const seen = new Set<Perspective>();
  for (const { perspective } of matches) seen.add(perspective);
  if (seen.has('self')) return 'self';
  if (transfer.from === ZERO_ADDRESS) return 'mint';
  if (transfer.to === ZERO_ADDRESS) return 'burn';
  if (seen.has('incoming') && seen.has('outgoing')) return 'internal';
  if (seen.has('incoming')) return 'incoming';
  return seen.has('outgoing') ? 'outgoing' : 'token';
}

/**
 * Anybody may have sent such a token for nothing, and made more of them than can be looked up: it is shown in one dim
 * line.
 */
export function isWorthless(alert: GroupedAlert): boolean {
  const isUncataloged = alert.warnings.some(
    (warning) => warning.kind === 'uncataloged' || (warning.kind === 'unchecked' && warning.isCrowded),
  );
  return isUncataloged && !isKnown(alert) && !isForgeable(alert) && !isSuspect(alert);
}

export const isKnown = ({ matches }: Pick<GroupedAlert, 'matches'>): boolean => matches.some((match) => match.isKnown);

/** Any contract can claim that a watched wallet sent its token. */
export function isForgeable({ transfer, matches }: GroupedAlert): boolean {
  let isLeaving = false;
  for (const { isKnown, perspective } of matches) {
    if (isKnown) return false;
    isLeaving ||= leaves(perspective);
  }
  return isLeaving && transfer.kind !== 'native';
}

/** A trap is shown on its own, never as part of something that looks ordinary. */
export function isSuspect({ warnings }: GroupedAlert): boolean {
  return warnings.some(({ kind }) => kind === 'look-alike' || kind === 'imitation');
}

export function partsOf<T extends GroupedAlert>(alerts: readonly T[]): Part<T>[] {
  if (alerts.length === 1) return [{ kind: 'line', view: viewOf(alerts[0]!), alerts: [alerts[0]!] }];
  const swaps = swapsOf(alerts);
  const swapped = new Set(swaps.flatMap((swap) => swap.alerts));
  const kept = alerts.filter((alert) => !swapped.has(alert));
  const alike = [...Map.groupBy(kept, sweepKey).entries()];
  const others = alike.flatMap(([key, list]): Part<T>[] => {
    const view = viewOf(list[0]!);
    if (key !== null && list.length >= MIN_SWEEP) return [{ kind: 'sweep', view, alerts: list }];
    return list.map((alert) => ({ kind: 'line', view: viewOf(alert), alerts: [alert] }));
  });
  const place = new Map(alerts.map((alert, index) => [alert, index]));
  const first = (part: Part<T>) => Math.min(...part.alerts.map((alert) => place.get(alert)!));
  return [...swaps, ...others].sort((a, b) => first(a) - first(b));
}

function swapsOf<T extends GroupedAlert>(alerts: readonly T[]): Extract<Part<T>, { kind: 'swap' }>[] {
  const wallets = new Set(alerts.flatMap(({ matches }) => matches.map(({ address }) => address)));
  return [...wallets].flatMap((wallet) => {
    const going = (perspective: Perspective) =>
      alerts.filter(({ matches }) =>
        matches.some((match) => match.address === wallet && match.perspective === perspective),
      );
    const gave = going('outgoing');
    const got = going('incoming');
    const all = alerts.filter((alert) => gave.includes(alert) || got.includes(alert));
    const out = onlyAsset(gave);
    const back = onlyAsset(got);
    if (out === null || back === null || out === back) return [];
    // Between two watched wallets it is one's gain and the other's loss: neither view shows both.
    if (all.some((alert) => viewOf(alert) === 'internal')) return [];
    // Anybody can make a wallet "give" an amount of zero, so that a worthless token looks like the price of something.
    if (all.some(({ transfer: { kind, value } }) => kind !== 'erc721' && value === '0')) return [];
    if (all.some(isSuspect)) return [];
    // Nor is a token that anybody may have made the price of what left.
    if (!got.every(isKnown)) return [];
    return [{ kind: 'swap', wallet, gave, got, alerts: all }];
  });
}

function onlyAsset(alerts: readonly GroupedAlert[]): Asset | null {
  const assets = new Set(alerts.map(({ transfer }) => (transfer.kind === 'native' ? 'native' : transfer.token)));
  const [asset] = assets;
  return assets.size === 1 ? (asset ?? null) : null;
}

/** Equal for NFTs that are shown as one sweep; null for transfers that are shown alone. */
function sweepKey(alert: GroupedAlert): string | null {
  const { token, tokenId, tokenIdExact, from, to } = alert.transfer;
  if (!isItem(alert.transfer) || isSuspect(alert)) return null;
  if (token === null || tokenId === null || !tokenIdExact) return null;
  const view = viewOf(alert);
  switch (view) {
    case 'incoming':
    case 'mint':
      return `${view} ${token} ${to}`;
    case 'outgoing':
    case 'burn':
      return `${view} ${token} ${from}`;
    case 'internal':
    case 'self':
    case 'token':
      return `${view} ${token} ${from} ${to}`;
  }
}

/** In the smallest unit; null: their amounts cannot be added. */
export function sumOf(alerts: readonly GroupedAlert[]): { value: string; decimals: number | null } | null {
  const { kind, decimals } = alerts[0]!.transfer;
  if (onlyAsset(alerts) === null) return null;
  const alike = ({ transfer }: GroupedAlert) =>
    transfer.value !== null && !isItem(transfer) && transfer.decimals === decimals && transfer.kind === kind;
  if (!alerts.every(alike)) return null;
  const value = alerts.reduce((sum, { transfer, count }) => sum + amountOf(transfer) * BigInt(count), 0n);
  return { value: value.toString(), decimals };
}
