import type { AddressText } from './address.ts';
import type { Warning } from './alert.ts';
import { REASONS } from './match.ts';
import type { Transfer } from './transfer.ts';

/** Which decisions about an address count: those for these channels of a guild, in a period that ends at `until`. */
export interface ActivityQuery {
  guildId: string;
  address: AddressText;
  channelIds: string[];
  /** null, and by default: on any. */
  network?: number | null;
  since: number;
  until: number;
}

/** A transfer, with every decision that the guild's subscriptions made about it. */
export interface DecidedTransfer {
  transferId: number;
  network: number;
  at: number;
  /** Each is `matched` or a `HiddenReason`; a later version may have stored one that is unknown here. */
  outcomes: string[];
  transfer: Transfer;
  count: number;
  warnings: Warning[];
}

/** A decided transfer as it counts. */
export interface Movement extends Omit<DecidedTransfer, 'outcomes' | 'warnings'> {
  /** Why it was not posted; null: it was. */
  hidden: string | null;
  /** Its alert warned that the token copies a known one's symbol. */
  imitation: boolean;
}

export interface PostedIn {
  transferId: number;
  channelId: string;
  messageId: string;
}

/** How many transfers are read at once: the event loop handles other events between two pages. */
const PAGE_SIZE = 1_000;

/**
 * Reads movements, latest first, page by page; at most `max`. `read` returns the latest transfers until a time, including
 * all of the oldest moment, and nothing once there are no more. After the last movement `cut` returns `max` if there were
 * more, otherwise null.
 */
export function readMovements(
  read: (until: number, limit: number) => Promise<DecidedTransfer[]>,
  now: number,
  max: number,
): { movements: AsyncIterable<Movement>; cut(): number | null } {
  let cut: number | null = null;
  async function* movements(): AsyncGenerator<Movement> {
    let until = now;
    let left = max;
    for (;;) {
      const page = await read(until, PAGE_SIZE);
      if (page.length === 0) return;
      for (const decided of page) {
        if (left === 0) {
          cut = max;
          return;
        }
        left--;
        yield movementOf(decided);
      }
      until = page.at(-1)!.at - 1;
    }
  }
  return { movements: movements(), cut: () => cut };
}

/**
 * Returns how a decided transfer counts. It was posted if one subscription matched. Otherwise the reason of the one that
 * came nearest to a match counts: its rule is the last in order.
 */
function movementOf({ outcomes, warnings, ...decided }: DecidedTransfer): Movement {
  const reasons = REASONS.filter((reason) => outcomes.includes(reason));
  const hidden = outcomes.includes('matched') ? null : (reasons.at(-1) ?? outcomes[0] ?? null);
  return { ...decided, hidden, imitation: warnings.some(({ kind }) => kind === 'imitation') };
}
