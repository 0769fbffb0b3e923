import { MINUTE } from './clock.ts';
import { isWorthLess } from './price.ts';
import { isLessThan, type Transfer } from './transfer.ts';

const MAX_ROLES = 20;

interface MentioningAlert {
  transfer: Pick<Transfer, 'kind' | 'value' | 'decimals' | 'tokenId' | 'price'>;
  /** 0: the chain does not have it. */
  count: number;
  isSignificant: boolean;
  matches: {
    subscription: number;
    mention: string | null;
    mayMention: boolean;
    /** Decimal text in the token's units. */
    mentionMinimum: string | null;
    /** Decimal text in dollars. */
    mentionMinimumUsd: string | null;
    /** Minutes. */
    mentionCooldown: number;
    mentionedAt: number | null;
  }[];
}

export interface Mentioning {
  subscription: number;
  /** It begins the cool-down of significant alerts, otherwise the one of all others. */
  isSignificant: boolean;
}

/**
 * The roles that a message of these alerts mentions, each once, and the subscriptions it mentions them for. An amount that
 * cannot be compared with the minimum counts as large enough, and so does one without a known price.
 */
export function mentionsOf(alerts: MentioningAlert[], now: number): { roles: string[]; mentioning: Mentioning[] } {
  const due = alerts.flatMap(({ transfer, count, matches, isSignificant }) =>
    matches.flatMap(({ mention, subscription, ...match }) =>
      mention !== null &&
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
  const bySubscription = new Map(
    mentioned.map(({ subscription, isSignificant }) => [
      `${subscription} ${isSignificant}`,
      { subscription, isSignificant },
    ]),
  );
  return { roles, mentioning: [...bySubscription.values()] };
}
