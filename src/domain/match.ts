import type { AddressText } from './address.ts';
import { isLure } from './guard.ts';
import { isWorthLess } from './price.ts';
import { isKnownAsset, isSignificant, leaves, minimumFor, type TokenTrust } from './significance.ts';
import { type Asset, asksFor, isMuted, type Perspective, type Watcher } from './subscription.ts';
import { isLessThan, isZero, mergedKind, type Transfer } from './transfer.ts';

/** Why a subscription gets no alert for a transfer of its address. `/why` explains each word. */
export type HiddenReason =
  | 'paused'
  | 'muted'
  | 'token-muted'
  | 'direction'
  | 'kind'
  | 'token'
  | 'denied-token'
  | 'token-list'
  | 'internal'
  | 'self'
  | 'zero'
  | 'cataloged'
  | 'denied-counterparty'
  | 'counterparty'
  | 'minimum'
  | 'minimum-usd'
  | 'guard';

/** Whether a subscription gets an alert for a transfer. */
export type Match =
  | { outcome: 'matched'; perspective: Perspective; isKnown: boolean; isSignificant: boolean }
  | { outcome: 'hidden'; reason: HiddenReason }
  | { outcome: 'unrelated' };

/** What a match depends on besides the subscription and the transfer. */
export interface MatchContext extends TokenTrust {
  /** Milliseconds; matters for muting only. */
  now: number;
  tokenMuted(guildId: string, asset: Asset): boolean;
}

interface Case {
  subscription: Watcher;
  transfer: Transfer;
  perspective: Perspective;
  /** What moved; null: a token whose contract is not known. */
  asset: Asset | null;
  isSignificant: boolean;
  context: MatchContext;
}

/** Each rule returns whether it hides the transfer. The first one that does is the reason. */
const RULES: [HiddenReason, (given: Case) => boolean][] = [
  ['paused', ({ subscription }) => subscription.paused],
  ['muted', ({ subscription, context }) => isMuted(subscription, context.now)],
  [
    'token-muted',
    (given) =>
      !passesHolds(given) && !!given.asset && given.context.tokenMuted(given.subscription.guildId, given.asset),
  ],
  ['direction', isOtherDirection],
  ['kind', ({ subscription, transfer }) => !isOfKind(subscription, transfer)],
  ['token', ({ subscription: { token }, transfer }) => token !== null && token !== transfer.token],
  ['denied-token', ({ subscription: { filters }, asset }) => !!asset && filters.deniedTokens.includes(asset)],
  ['token-list', ({ subscription: { filters }, asset }) => filters.tokens.length > 0 && !isIn(filters.tokens, asset)],
  ['internal', ({ subscription: { filters }, transfer }) => !filters.internal && isInternal(transfer)],
  ['self', ({ subscription: { filters }, transfer }) => !filters.self && isSelf(transfer)],
  ['zero', ({ subscription: { filters }, transfer }) => !filters.zero && isZero(transfer)],
  ['cataloged', ({ subscription: { filters }, transfer, context }) => filters.cataloged && isStray(transfer, context)],
  [
    'denied-counterparty',
    ({ subscription, transfer }) =>
      otherSides(subscription, transfer).some((party) => isIn(subscription.filters.deniedCounterparties, party)),
  ],
  [
    'counterparty',
    ({ subscription, transfer }) => {
      const wanted = subscription.filters.counterparties;
      return wanted.length > 0 && !otherSides(subscription, transfer).some((party) => isIn(wanted, party));
    },
  ],
  ['minimum', isBelowMinimum],
  ['minimum-usd', ({ subscription: { minimumUsd }, transfer }) => isWorthLess(minimumUsd, transfer)],
  [
    'guard',
    (given) =>
      given.perspective === 'incoming' &&
      isStray(given.transfer, given.context) &&
      isLure(given.transfer) &&
      !asksFor(given.subscription, given.transfer),
  ],
];

/** Every reason, in the order of checking: a later one means that no earlier one applied. */
export const REASONS: readonly HiddenReason[] = RULES.map(([reason]) => reason);

/**
 * Decides about one subscription. A transfer that cannot be judged (an amount without decimals, a token whose catalog
 * entry is not known) is posted. `isSenderWatched`: the guild watches the sender.
 */
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
  const rule = RULES.find(([, hides]) => hides(given));
  if (rule) return { outcome: 'hidden', reason: rule[0] };
  const isKnown = isKnownAsset(subscription, transfer, context);
  return { outcome: 'matched', perspective, isKnown, isSignificant: significant };
}

/** What leaves a watched address is neither muted with its token nor held, unless the subscription holds everything. */
export const passesHolds = (given: Pick<Case, 'subscription' | 'perspective' | 'isSignificant'>): boolean =>
  given.isSignificant && leaves(given.perspective) && !given.subscription.holdAll;

/** How a watched address sees a transfer; null: it does not concern it. */
export function seenFrom({ address }: Pick<Watcher, 'address'>, { from, to, token }: Transfer): Perspective | null {
  if (address === from) return address === to ? 'self' : 'outgoing';
  if (address === to) return 'incoming';
  return address === token ? 'token' : null;
}

/** The other party, seen from the watched address; both parties for a watched token. */
export function otherSides(
  { address }: Pick<Watcher, 'address'>,
  { from, to }: Pick<Transfer, 'from' | 'to'>,
): (AddressText | null)[] {
  if (address === from) return [to];
  return address === to ? [from] : [from, to];
}

const isIn = <T>(list: readonly T[], item: T | null): boolean => item !== null && list.includes(item);
const isInternal = ({ internal, kind }: Transfer): boolean => internal && kind === 'native';
const isSelf = ({ from, to }: Transfer): boolean => from !== null && from === to;
const isStray = ({ token }: Transfer, context: MatchContext): boolean =>
  token !== null && context.cataloged(token) === false;

function isOtherDirection({ subscription: { direction }, perspective }: Case): boolean {
  const directed = perspective === 'incoming' || perspective === 'outgoing';
  return direction !== 'any' && directed && perspective !== direction;
}

function isBelowMinimum({ subscription, transfer }: Case): boolean {
  return isLessThan(minimumFor(subscription, transfer), transfer);
}

const isOfKind = ({ kind }: Watcher, transfer: Transfer): boolean =>
  kind === 'any' || kind === mergedKind(transfer.kind);
