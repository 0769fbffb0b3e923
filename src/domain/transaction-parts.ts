import { type AddressText, type Asset, ZERO_ADDRESS } from './address.ts';
import type { Alert, AlertMatch } from './alert.ts';
import { leaves, type Perspective } from './subscription.ts';
import { amountOf, isItem, type Transfer } from './transfer.ts';

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

const isNothing = ({ kind, value }: Transfer): boolean => kind !== 'erc721' && value === '0';

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

export function isKnown({ matches }: Pick<GroupedAlert, 'matches'>): boolean {
  for (const match of matches) if (match.isKnown) return true;
  return false;
}

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
    if (all.some((alert) => isSuspect(alert) || isNothing(alert.transfer))) return [];
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
