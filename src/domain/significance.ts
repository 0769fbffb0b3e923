import type { AddressText } from './address.ts';
import type { Alert } from './alert.ts';
import { MINUTE } from './clock.ts';
import { distinct } from './distinct.ts';
import { asksFor, type Perspective, type Watcher } from './subscription.ts';
import { isLessThan, isWorthLess, isZero, type Transfer, worthOf } from './transfer.ts';

export interface TokenTrust {
  /** null: not known. */
  cataloged(token: AddressText): boolean | null;
  isNamed(guildId: string, token: AddressText): boolean;
}

/** Whether nobody made up the asset. If no explorer can tell, a contract that the guild has named counts as known. */
export function isKnownAsset(watcher: Watcher, transfer: Transfer, trust: TokenTrust): boolean {
  const { token } = transfer;
  if (token === null) return transfer.kind === 'native';
  if (asksFor(watcher, transfer)) return true;
  const cataloged = trust.cataloged(token);
  return cataloged ?? trust.isNamed(watcher.guildId, token);
}

export const minimumFor = ({ minimum, filters }: Watcher, { kind, token }: Transfer): string | null => {
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

export const leaves = (perspective: Perspective): boolean => perspective === 'outgoing' || perspective === 'self';

const MAX_ROLES = 20;

export interface Mentioning {
  subscription: number;
  isSignificant: boolean;
}

/** An amount that cannot be compared with the minimum, or has no price, counts as large enough. */
export function mentionsOf(alerts: Alert[], now: number): { roles: string[]; mentioning: Mentioning[] } {
  const due = alerts.flatMap(({ transfer, count, matches, isSignificant }) =>
    matches.flatMap(({ mention, subscription, ...match }) =>
      mention !== null &&
      // The chain has it.
      count > 0 &&
      match.mayMention &&
      !isLessThan(match.mentionMinimum, transfer) &&
      !isWorthLess(match.mentionMinimumUsd, transfer) &&
      // A clock that was ahead may have dated the last mention in the future. That must not delay the next one.
      (match.mentionedAt === null || Math.abs(now - match.mentionedAt) >= match.mentionCooldown * MINUTE)
        ? [{ mention, subscription, isSignificant }]
        : [],
    ),
  );
  const roles = [...new Set(due.map(({ mention }) => mention))].slice(0, MAX_ROLES);
  const mentioned = due.filter(({ mention }) => roles.includes(mention));
  const mentioning = distinct(mentioned.map(({ subscription, isSignificant }) => ({ subscription, isSignificant })));
  return { roles, mentioning };
}
