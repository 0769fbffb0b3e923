import type { Asset } from './address.ts';
import { isLure } from './scam.ts';
import { isMuted, leaves, type Perspective, type Watcher } from './subscription.ts';
import { isLessThan, isWorthLess, isZero, mergedKind, otherSides, type Transfer, worthOf } from './transfer.ts';

export type Match =
  | { outcome: 'unrelated' }
  | { outcome: 'hidden'; reason: HiddenReason; isKnown: boolean }
  | {
      outcome: 'matched';
      perspective: Perspective;
      /** Nobody made up the asset. */
      isKnown: boolean;
      /** The subscription names the token. */
      isAskedFor: boolean;
      isSignificant: boolean;
      passesHolds: boolean;
      mayMention: boolean;
    };

export interface MatchContext {
  /** For muting only. */
  now: number;
  /** Of the transfer's token; null: not known. */
  cataloged: boolean | null;
  /** The subscription's guild has named the token's contract. */
  isNamed: boolean;
  /** Guild and asset, with a space between them. */
  mutes: ReadonlySet<string>;
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
  const { token } = transfer;
  const { direction, kind, filters, minimumUsd } = subscription;
  // A token whose contract is not known is on no list.
  const asset: Asset | null = token ?? (transfer.kind === 'native' ? 'native' : null);
  const minimum = (asset && filters.minimums[asset]) ?? subscription.minimum;
  const named: (Asset | null)[] = [subscription.address, subscription.token, ...filters.tokens];
  const isAskedFor = token !== null && (named.includes(token) || filters.minimums[token] !== undefined);
  // If no explorer can tell, a contract that the guild has named counts as known.
  const isKnown = token === null ? asset === 'native' : isAskedFor || (context.cataloged ?? context.isNamed);
  const isOfValue = isKnown && !isZero(transfer);
  const isLeaving = leaves(perspective);
  // A stranger can cause neither a known asset to leave nor an amount that reaches a minimum without paying for it.
  const isSignificant = isOfValue && (isLeaving || isSenderWatched || reachesMinimum(minimum, minimumUsd, transfer));
  // What leaves a watched address is neither muted with its token nor held, unless the subscription holds everything.
  const passesHolds = isSignificant && isLeaving && !subscription.holdAll;
  const seen = { subscription, perspective, asset, minimum, isAskedFor, passesHolds };
  const reason = reasonToHide(seen, transfer, context);
  if (reason) return { outcome: 'hidden', reason, isKnown };
  // Others may mention only if the subscription asks for just this: it names the token, or its filters are narrow.
  const hasMinimum = (subscription.mentionMinimum ?? subscription.mentionMinimumUsd) !== null;
  const isNarrow = direction !== 'any' || kind !== 'any' || hasMinimum || filters.counterparties.length > 0;
  const mayMention = isSignificant || isAskedFor || (isNarrow && isOfValue);
  return { outcome: 'matched', perspective, isKnown, isAskedFor, isSignificant, passesHolds, mayMention };
}

interface Seen {
  subscription: Watcher;
  perspective: Perspective;
  asset: Asset | null;
  minimum: string | null;
  isAskedFor: boolean;
  passesHolds: boolean;
}

/** Checks in the order of {@link REASONS}. */
function reasonToHide(seen: Seen, transfer: Transfer, context: MatchContext): HiddenReason | null {
  const { subscription, perspective, asset, minimum } = seen;
  const { guildId, direction, kind, token, filters, minimumUsd } = subscription;
  const { from, to } = transfer;
  const isUncataloged = transfer.token !== null && context.cataloged === false;
  const parties = otherSides(subscription, transfer);

  if (subscription.paused) return 'paused';
  if (isMuted(subscription, context.now)) return 'muted';
  if (asset && !seen.passesHolds && context.mutes.has(`${guildId} ${asset}`)) return 'token-muted';
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
  if (filters.deniedCounterparties.some((party) => parties.includes(party))) return 'denied-counterparty';
  const wanted = filters.counterparties;
  if (wanted.length > 0 && !wanted.some((party) => parties.includes(party))) return 'counterparty';
  if (minimum !== null && isLessThan(minimum, transfer)) return 'minimum';
  if (minimumUsd !== null && isWorthLess(minimumUsd, transfer)) return 'minimum-usd';
  const isUnwanted = perspective === 'incoming' && isUncataloged && !seen.isAskedFor;
  return isUnwanted && isLure(transfer) ? 'guard' : null;
}

export function seenFrom({ address }: Pick<Watcher, 'address'>, { from, to, token }: Transfer): Perspective | null {
  if (address === from) return address === to ? 'self' : 'outgoing';
  if (address === to) return 'incoming';
  return address === token ? 'token' : null;
}

/** Anything reaches a minimum of zero, and what has no price reaches none. */
function reachesMinimum(minimum: string | null, minimumUsd: string | null, transfer: Transfer): boolean {
  const isSet = (text: string | null): text is string => text !== null && /[1-9]/.test(text);
  if (isSet(minimum) && !isLessThan(minimum, transfer)) return true;
  return isSet(minimumUsd) && worthOf(transfer) !== null && !isWorthLess(minimumUsd, transfer);
}
