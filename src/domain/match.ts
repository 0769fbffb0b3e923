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

interface Case {
  subscription: Watcher;
  transfer: Transfer;
  perspective: Perspective;
  /** null: a token whose contract is not known. */
  asset: Asset | null;
  isSignificant: boolean;
  context: MatchContext;
}

/** The first rule that returns true is the reason. */
const RULES = {
  paused: ({ subscription }) => subscription.paused,
  muted: ({ subscription, context }) => isMuted(subscription, context.now),
  'token-muted': (given) =>
    !passesHolds(given) && !!given.asset && given.context.tokenMuted(given.subscription.guildId, given.asset),
  direction({ subscription: { direction }, perspective }) {
    const isDirected = perspective === 'incoming' || perspective === 'outgoing';
    return direction !== 'any' && isDirected && perspective !== direction;
  },
  kind: ({ subscription: { kind }, transfer }) => kind !== 'any' && kind !== mergedKind(transfer.kind),
  token: ({ subscription: { token }, transfer }) => token !== null && token !== transfer.token,
  'denied-token': ({ subscription: { filters }, asset }) => isIn(filters.deniedTokens, asset),
  'token-list': ({ subscription: { filters }, asset }) => filters.tokens.length > 0 && !isIn(filters.tokens, asset),
  internal: ({ subscription: { filters }, transfer }) =>
    !filters.internal && transfer.internal && transfer.kind === 'native',
  self: ({ subscription: { filters }, transfer: { from, to } }) => !filters.self && from !== null && from === to,
  zero: ({ subscription: { filters }, transfer }) => !filters.zero && isZero(transfer),
  cataloged: ({ subscription: { filters }, transfer, context }) => filters.cataloged && isStray(transfer, context),
  'denied-counterparty': ({ subscription, transfer }) =>
    otherSides(subscription, transfer).some((party) => isIn(subscription.filters.deniedCounterparties, party)),
  counterparty({ subscription, transfer }) {
    const wanted = subscription.filters.counterparties;
    return wanted.length > 0 && !otherSides(subscription, transfer).some((party) => isIn(wanted, party));
  },
  minimum: ({ subscription, transfer }) => isLessThan(minimumFor(subscription, transfer), transfer),
  'minimum-usd': ({ subscription: { minimumUsd }, transfer }) => isWorthLess(minimumUsd, transfer),
  guard: ({ subscription, transfer, perspective, context }) =>
    perspective === 'incoming' && isStray(transfer, context) && isLure(transfer) && !asksFor(subscription, transfer),
} satisfies Record<string, (given: Case) => boolean>;

export type HiddenReason = keyof typeof RULES;

/** In the order of checking: a later reason means that no earlier one applied. */
export const REASONS = Object.keys(RULES) as HiddenReason[];

/** What cannot be judged is posted: an amount without decimals, a token whose catalog entry is not known. */
export function matchTransfer(
  subscription: Watcher,
  transfer: Transfer,
  context: MatchContext,
  isSenderWatched = false,
): Match {
  const perspective = seenFrom(subscription, transfer);
  if (!perspective) return { outcome: 'unrelated' };
  const asset: Asset | null = transfer.token ?? (transfer.kind === 'native' ? 'native' : null);
  const significant = isSignificant(subscription, transfer, isSenderWatched || leaves(perspective), context);
  const given = { subscription, transfer, perspective, asset, isSignificant: significant, context };
  const reason = REASONS.find((name) => RULES[name](given));
  if (reason) return { outcome: 'hidden', reason };
  const isKnown = isKnownAsset(subscription, transfer, context);
  return { outcome: 'matched', perspective, isKnown, isSignificant: significant };
}

/** What leaves a watched address is neither muted with its token nor held, unless the subscription holds everything. */
export const passesHolds = (given: Pick<Case, 'subscription' | 'perspective' | 'isSignificant'>): boolean =>
  given.isSignificant && leaves(given.perspective) && !given.subscription.holdAll;

export function seenFrom({ address }: Pick<Watcher, 'address'>, { from, to, token }: Transfer): Perspective | null {
  if (address === from) return address === to ? 'self' : 'outgoing';
  if (address === to) return 'incoming';
  return address === token ? 'token' : null;
}

const isIn = <T>(list: readonly T[], item: T | null): boolean => item !== null && list.includes(item);
const isStray = ({ token }: Transfer, context: MatchContext): boolean =>
  token !== null && context.cataloged(token) === false;

/** Whether nobody made up the asset. If no explorer can tell, a contract that the guild has named counts as known. */
export function isKnownAsset(watcher: Watcher, transfer: Transfer, trust: TokenTrust): boolean {
  const { token } = transfer;
  if (token === null) return transfer.kind === 'native';
  if (asksFor(watcher, transfer)) return true;
  const cataloged = trust.cataloged(token);
  return cataloged ?? trust.isNamed(watcher.guildId, token);
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
