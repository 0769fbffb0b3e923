import { hash } from 'node:crypto';
import type { DeliveryIdentity } from './inbox.ts';
import type { Transfer } from './transfer.ts';

/** A retry cannot come sooner than this after an answered delivery (the first one comes after 15 s). */
const SECOND_TRANSFER_MS = 10_000;
/**
 * Seconds after a try in which its first retry can come: 15 s after the try was given up, which takes 3 s at most, and a
 * second earlier or later because of the network.
 */
const FIRST_RETRY = { from: 14, to: 19 };
/** Seconds after a try before which neither a later retry nor a repeat of a whole block range can come. */
const LATER_RETRY = 59;
/** Seconds by which bodies may be stored out of order: each is stored once it has been read to its end. */
const OUT_OF_ORDER = 3;

/** What is remembered of a transfer. `count` is how many equal ones the transaction holds. */
export interface SeenTransfer {
  /** Its number in the ledger; null as long as it is not stored. */
  id: number | null;
  key: string;
  scope: number;
  seenAt: number;
  count: number;
  /** Bodies received that tell of it. */
  bodies: number;
  reorganised: boolean;
  /** `left`: the hashes of blocks that were left for the one that it names now. */
  transfer: Transfer & { left?: string[] };
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
  /** Null as long as there was one body. */
  minute: FirstMinute | null;
  /** The ids of the signed bodies (`id …`) and the places that they name (`at …`), each once. */
  names: string[];
}

/** What the bodies of a delivery's first minute, in which nothing but first retries can come, tell of their number. */
export interface FirstMinute {
  /** The least number of equal transfers that explains them. */
  least: number;
  /** For each second, from three before the first body on: how many of its bodies had no retry yet. */
  alone: number[];
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

/** Longer names are stored as their hash. */
const LONGEST_NAME = 60;

/**
 * Judges a body against what was seen before, and updates the delivery's record. A signed body is known by its id and
 * its place: as many equal transfers are counted as places are named. Others are judged by the time at which they came.
 */
export function judge(
  known: SeenDelivery | undefined,
  transferKnown: boolean,
  keys: { delivery: string; transfer: string },
  receipt: Receipt,
  identity: DeliveryIdentity | null = null,
): { verdict: Verdict; delivery: SeenDelivery } {
  const judged = judgeByTime(known, transferKnown, keys, receipt);
  if (identity === null) return judged;
  const id = `id ${shortName(identity.id)}`;
  const place = identity.place === null ? null : `at ${shortName(`${identity.chainId ?? ''} ${identity.place}`)}`;
  const before = known?.names ?? [];
  const isSameBody = before.includes(id);
  const names = isSameBody ? before : [...new Set([...before, id, ...(place === null ? [] : [place])])];
  const delivery = { ...judged.delivery, names };
  if (!known) return { verdict: judged.verdict, delivery };
  const isKnown = isSameBody || (place !== null && before.includes(place));
  if (!isKnown && place === null) return { verdict: judged.verdict, delivery };
  // A body that came before deliveries were signed may have been any of those that are named.
  const places = names.filter((name) => name.startsWith('at ')).length;
  const count = isKnown ? known.count : Math.max(known.count, places);
  return {
    verdict: count > known.count ? 'second' : 'repeat',
    delivery: { ...delivery, count, minute: known.minute },
  };
}

const shortName = (name: string): string => (name.length > LONGEST_NAME ? hash('sha256', name) : name);

/**
 * Judges a body by the time at which it came. Even a delivery that was answered may
 * come again, because the answer was lost on its way: so a body that can be the retry of an earlier one is never taken
 * for a second transfer. Never more transfers are counted than there are. Of three or more equal ones, one may be missed
 * if its body came 14 to 19 seconds (with rounding, 13 to 20) after another one's and less than ten after the last.
 */
function judgeByTime(
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
      minute: null,
      names: [],
    };
    return { verdict: transferKnown ? 'twin' : 'new', delivery };
  }
  const minute = withBody(known, receivedAt);
  const delivery = { ...known, received: known.received + 1, minute };
  // Repeats do not move `answeredAt`, once there is one: two equal transfers whose answers were both lost come again
  // shortly one after the other, and the second of them must not count as a third transfer.
  if (known.owed) {
    return { verdict: 'repeat', delivery: { ...delivery, owed, answeredAt: known.answeredAt ?? answeredAt } };
  }
  // Both were under way at once, so either may be the later one. After a clock was set back they are far apart.
  const soon = known.answeredAt !== null && Math.abs(receivedAt - known.answeredAt) < SECOND_TRANSFER_MS;
  if (soon && known.count < minute.least) {
    const answered = answeredAt ?? known.answeredAt;
    return { verdict: 'second', delivery: { ...delivery, count: known.count + 1, owed, answeredAt: answered } };
  }
  return { verdict: 'repeat', delivery };
}

/** Counts another body: as a retry of the oldest one that it can be a retry of, else as one more transfer's. */
function withBody({ seenAt, count, minute }: SeenDelivery, receivedAt: number): FirstMinute {
  const first = Array.from({ length: OUT_OF_ORDER + 1 }, (_, second) => (second === OUT_OF_ORDER ? 1 : 0));
  const { least, alone } = minute ?? { least: count, alone: first };
  const second = Math.max(0, Math.floor((receivedAt - seenAt) / 1_000) + OUT_OF_ORDER);
  if (second - OUT_OF_ORDER >= LATER_RETRY) return { least, alone: [] };
  const next = Array.from({ length: Math.max(alone.length, second + 1) }, (_, place) => alone[place] ?? 0);
  const tried = next.findIndex(
    (bodies, place) => bodies > 0 && second - place >= FIRST_RETRY.from && second - place <= FIRST_RETRY.to,
  );
  if (tried >= 0) next[tried]!--;
  next[second]!++;
  return { least: tried >= 0 ? least : least + 1, alone: next };
}
