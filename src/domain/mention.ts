import { MINUTE } from './clock.ts';
import { isLessThan, type Transfer } from './transfer.ts';

/** Roles that one message mentions at the most. */
const MOST_ROLES = 20;

/** A line, as far as it matters for mentions. */
interface Line {
  transfer: Pick<Transfer, 'kind' | 'value' | 'decimals' | 'tokenId'>;
  matches: {
    subscription: number;
    mention: string | null;
    /** Decimal text in the token's units. */
    mentionMinimum: string | null;
    /** Minutes. */
    mentionCooldown: number;
    mentionedAt: number | null;
  }[];
}

/**
 * The roles that a message of these lines mentions, each once, and the subscriptions that it does so for. An amount that
 * cannot be compared with the minimum mentions.
 */
export function mentionsOf(lines: Line[], now: number): { roles: string[]; subscriptions: number[] } {
  const due = lines.flatMap(({ transfer, matches }) =>
    matches.filter(
      (match) =>
        match.mention !== null &&
        !isLessThan(match.mentionMinimum, transfer) &&
        // A clock that was ahead may have put the last mention into the future: that must not hold the next one back.
        (match.mentionedAt === null || Math.abs(now - match.mentionedAt) >= match.mentionCooldown * MINUTE),
    ),
  );
  const roles = [...new Set(due.flatMap(({ mention }) => mention ?? []))].slice(0, MOST_ROLES);
  const mentioning = due.filter(({ mention }) => roles.includes(mention!));
  return { roles, subscriptions: [...new Set(mentioning.map(({ subscription }) => subscription))] };
}
