import type { Transfer } from './transfer.ts';

/** A retry cannot come sooner than this after an answered delivery (the first one comes after 15 s). */
const SECOND_TRANSFER_MS = 10_000;

/** What is remembered of a transfer. `count` is how many equal ones the transaction holds. */
export interface SeenTransfer {
  key: string;
  scope: number;
  seenAt: number;
  count: number;
  /** Bodies received that tell of it. */
  bodies: number;
  reorganised: boolean;
  transfer: Transfer;
}

/** What is remembered of a delivery. `owed`: never answered 200 to the end, so the next equal one is its repeat. */
export interface SeenDelivery {
  key: string;
  transferKey: string;
  count: number;
  owed: boolean;
  /** When the last one that counted as a transfer was answered. */
  answeredAt: number | null;
  received: number;
  seenAt: number;
}

/**
 * `new`: not seen before. `twin`: another body of a known transfer. `second`: an equal transfer in the same
 * transaction. `repeat`: the same delivery again.
 */
export type Verdict = 'new' | 'twin' | 'second' | 'repeat';

/** When a body came and when its 200 was written to the end; null when it was not, as far as is known. */
export interface Receipt {
  receivedAt: number;
  answeredAt: number | null;
}

/** Judges a body against what was seen before, and updates the delivery's record. */
export function judge(
  known: SeenDelivery | undefined,
  transferKnown: boolean,
  keys: { delivery: string; transfer: string },
  { receivedAt, answeredAt }: Receipt,
): { verdict: Verdict; delivery: SeenDelivery } {
  const owed = answeredAt === null;
  if (!known) {
    const delivery = {
      key: keys.delivery,
      transferKey: keys.transfer,
      count: 1,
      owed,
      answeredAt,
      received: 1,
      seenAt: receivedAt,
    };
    return { verdict: transferKnown ? 'twin' : 'new', delivery };
  }
  const delivery = { ...known, received: known.received + 1 };
  // Repeats do not move `answeredAt`, once there is one: two equal transfers whose answers were both lost come again
  // shortly one after the other, and the second of them must not count as a third transfer.
  if (known.owed) {
    return { verdict: 'repeat', delivery: { ...delivery, owed, answeredAt: known.answeredAt ?? answeredAt } };
  }
  // Either may be the later one: both were under way at once. A clock that was set back makes no second transfer.
  if (known.answeredAt !== null && Math.abs(receivedAt - known.answeredAt) < SECOND_TRANSFER_MS) {
    const answered = answeredAt ?? known.answeredAt;
    return { verdict: 'second', delivery: { ...delivery, count: known.count + 1, owed, answeredAt: answered } };
  }
  return { verdict: 'repeat', delivery };
}
