import type { AddressText } from './address.ts';
import { isWorthLess, worthOf } from './price.ts';
import { asksFor, type Perspective, type Watcher } from './subscription.ts';
import { isLessThan, isZero, type Transfer } from './transfer.ts';

export interface TokenTrust {
  /** Whether the explorer's catalog lists the token; null: not known. */
  cataloged(token: AddressText): boolean | null;
  /** Whether the guild has labeled the contract or watches it. */
  isNamed(guildId: string, token: AddressText): boolean;
}

/**
 * Whether nobody could have made up the asset to deceive the guild: the native coin, a cataloged token, or one that the
 * subscription names. If no explorer can tell, a contract that the guild has named counts, too.
 */
export function isKnownAsset(watcher: Watcher, transfer: Transfer, trust: TokenTrust): boolean {
  const { token } = transfer;
  if (token === null) return transfer.kind === 'native';
  if (asksFor(watcher, transfer)) return true;
  const cataloged = trust.cataloged(token);
  return cataloged ?? trust.isNamed(watcher.guildId, token);
}

/** The minimum that a subscription sets for a transfer's asset; null: none. */
export const minimumFor = ({ minimum, filters }: Watcher, { kind, token }: Transfer): string | null => {
  const asset = token ?? (kind === 'native' ? 'native' : null);
  return (asset && filters.minimums[asset]) ?? minimum;
};

/**
 * Whether a subscription's alert matters: a known asset leaves a watched address, or it arrives and reaches the minimum
 * that the subscription sets. A stranger can cause neither without paying for it. `isLeaving`: a watched address of the
 * guild sent it.
 */
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

/**
 * Whether an alert may mention the subscription's role: it is significant, or the subscription asks for just this, by
 * naming the token, or by narrowing down what of known assets it wants to hear about.
 */
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

export const leaves = (perspective: Perspective): boolean => perspective === 'outgoing' || perspective === 'self';
