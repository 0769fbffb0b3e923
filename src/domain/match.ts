import type { AddressText, Asset } from './address.ts';
import { isLure } from './scam.ts';
import { asksFor, isMuted, leaves, type Perspective, type Watcher } from './subscription.ts';
import { isLessThan, isWorthLess, isZero, mergedKind, otherSides, type Transfer, worthOf } from './transfer.ts';

export type Match =
  | { outcome: 'matched'; perspective: Perspective; isKnown: boolean; isSignificant: boolean }
  | { outcome: 'hidden'; reason: HiddenReason }
  | { outcome: 'unrelated' };

export interface TokenTrust {
  /** null: not known. */
  cataloged(token: AddressText): boolean | null;
  isNamed(guildId: string, token: AddressText): boolean;
}

export interface MatchContext extends TokenTrust {
  /** For muting only. */
  now: number;
  tokenMuted(guildId: string, asset: Asset): boolean;
}

/** In the order of checking: a later reason means that no earlier one applied. */
export const REASONS = [
  'paused',
  'muted',
  'token-muted',
  'direction',
  'kind',
  'token',
  'denied-token',
  'token-list',
  'internal',
  'self',
  'zero',
  'cataloged',
  'denied-counterparty',
  'counterparty',
  'minimum',
  'minimum-usd',
  'guard',
] as const;

export type HiddenReason = (typeof REASONS)[number];

/** What cannot be judged is posted: an amount without decimals, a token whose catalog entry is not known. */
export function matchTransfer(
  subscription: Watcher,
  transfer: Transfer,
  context: MatchContext,
  isSenderWatched = false,
): Match {
  const perspective = seenFrom(subscription, transfer);
  if (!perspective) return { outcome: 'unrelated' };
  const significant = isSignificant(subscription, transfer, isSenderWatched || leaves(perspective), context);
  const reason = reasonToHide({ subscription, perspective, isSignificant: significant }, transfer, context);
  if (reason) return { outcome: 'hidden', reason };
  const isKnown = isKnownAsset(subscription, transfer, context);
  return { outcome: 'matched', perspective, isKnown, isSignificant: significant };
}

interface Seen {
  subscription: Watcher;
  perspective: Perspective;
  isSignificant: boolean;
}

/** Checks in the order of {@link REASONS}. */
function reasonToHide(seen: Seen, transfer: Transfer, context: MatchContext): HiddenReason | null {
  const { subscription, perspective } = seen;
  const { direction, kind, token, filters } = subscription;
  const { from, to } = transfer;
  // A token whose contract is not known is on no list.
  const asset: Asset | null = transfer.token ?? (transfer.kind === 'native' ? 'native' : null);
  const isUncataloged = transfer.token !== null && context.cataloged(transfer.token) === false;
  const parties = otherSides(subscription, transfer).filter((party) => party !== null);

  if (subscription.paused) return 'paused';
  if (isMuted(subscription, context.now)) return 'muted';
  if (asset && !passesHolds(seen) && context.tokenMuted(subscription.guildId, asset)) return 'token-muted';
  const isDirected = perspective === 'incoming' || perspective === 'outgoing';
  if (direction !== 'any' && isDirected && perspective !== direction) return 'direction';
  if (kind !== 'any' && kind !== mergedKind(transfer.kind)) return 'kind';
  if (token !== null && token !== transfer.token) return 'token';
  if (asset && filters.deniedTokens.includes(asset)) return 'denied-token';
  if (filters.tokens.length > 0 && !(asset && filters.tokens.includes(asset))) return 'token-list';
  if (!filters.internal && transfer.internal && transfer.kind === 'native') return 'internal';
  if (!filters.self && from !== null && from === to) return 'self';
  if (!filters.zero && isZero(transfer)) return 'zero';
  if (filters.cataloged && isUncataloged) return 'cataloged';
  if (parties.some((party) => filters.deniedCounterparties.includes(party))) return 'denied-counterparty';
  const wanted = filters.counterparties;
  if (wanted.length > 0 && !parties.some((party) => wanted.includes(party))) return 'counterparty';
  if (isLessThan(minimumFor(subscription, transfer), transfer)) return 'minimum';
  if (isWorthLess(subscription.minimumUsd, transfer)) return 'minimum-usd';
  const isUnwanted = perspective === 'incoming' && isUncataloged && !asksFor(subscription, transfer);
  return isUnwanted && isLure(transfer) ? 'guard' : null;
}

/** What leaves a watched address is neither muted with its token nor held, unless the subscription holds everything. */
export const passesHolds = ({ subscription, perspective, isSignificant }: Seen): boolean =>
  isSignificant && leaves(perspective) && !subscription.holdAll;

export function seenFrom({ address }: Pick<Watcher, 'address'>, { from, to, token }: Transfer): Perspective | null {
  if (address === from) return address === to ? 'self' : 'outgoing';
  if (address === to) return 'incoming';
  return address === token ? 'token' : null;
}

/** Whether nobody made up the asset. If no explorer can tell, a contract that the guild has named counts as known. */
export function isKnownAsset(watcher: Watcher, transfer: Transfer, trust: TokenTrust): boolean {
  const { token } = transfer;
  if (token === null) return transfer.kind === 'native';
  if (asksFor(watcher, transfer)) return true;
  return trust.cataloged(token) ?? trust.isNamed(watcher.guildId, token);
}

const minimumFor = ({ minimum, filters }: Watcher, { kind, token }: Transfer): string | null => {
  const asset = token ?? (kind === 'native' ? 'native' : null);
  return (asset && filters.minimums[asset]) ?? minimum;
};

/** A known asset leaves, or arrives and reaches a minimum. A stranger can cause neither without paying for it. */
export function isSignificant(watcher: Watcher, transfer: Transfer, isLeaving: boolean, trust: TokenTrust): boolean {
  if (isZero(transfer) || !isKnownAsset(watcher, transfer, trust)) return false;
  if (isLeaving) return true;
  const { minimumUsd } = watcher;
  const minimum = minimumFor(watcher, transfer);
  const isSet = (text: string | null) => text !== null && /[1-9]/.test(text);
  return (
    (isSet(minimum) && !isLessThan(minimum, transfer)) ||
    (isSet(minimumUsd) && worthOf(transfer) !== null && !isWorthLess(minimumUsd, transfer))
  );
}

/** Others may mention only if the subscription asks for just this: it names the token, or its filters are narrow. */
export function mayMention(watcher: Watcher, transfer: Transfer, isSignificant: boolean, trust: TokenTrust): boolean {
  if (isSignificant || asksFor(watcher, transfer)) return true;
  const { direction, kind, mentionMinimum, mentionMinimumUsd, filters } = watcher;
  const isNarrow =
    direction !== 'any' ||
    kind !== 'any' ||
    (mentionMinimum ?? mentionMinimumUsd) !== null ||
    filters.counterparties.length > 0;
  return isNarrow && !isZero(transfer) && isKnownAsset(watcher, transfer, trust);
}
