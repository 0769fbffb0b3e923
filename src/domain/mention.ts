import { MINUTE } from './clock.ts';
import { isLessThan, type Transfer } from './transfer.ts';

/** Maximum number of roles that one message mentions. */
const MAX_ROLES = 20;

/** An alert, as far as it matters for mentions. */
interface MentioningAlert {
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
 * The roles that a message of these alerts mentions, each once, and the subscriptions it mentions them for. An amount that
 * cannot be compared with the minimum counts as large enough.
 */
export function mentionsOf(alerts: MentioningAlert[], now: number): { roles: string[]; subscriptions: number[] } {
  const due = alerts.flatMap(({ transfer, matches }) =>
    matches.filter(
      (match) =>
        match.mention !== null &&
        !isLessThan(match.mentionMinimum, transfer) &&
        // A clock that was ahead may have dated the last mention in the future. That must not delay the next one.
        (match.mentionedAt === null || Math.abs(now - match.mentionedAt) >= match.mentionCooldown * MINUTE),
    ),
  );
  const roles = [...new Set(due.flatMap(({ mention }) => mention ?? []))].slice(0, MAX_ROLES);
  const mentioning = due.filter(({ mention }) => roles.includes(mention!));
  return { roles, subscriptions: [...new Set(mentioning.map(({ subscription }) => subscription))] };
}
