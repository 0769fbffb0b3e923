import { hash } from 'node:crypto';
import type { DeliveryIdentity } from './inbox.ts';
import type { Transfer } from './transfer.ts';

/** A retry cannot arrive sooner than this after an acknowledged delivery (the first one is sent after 15 s). */
const SECOND_TRANSFER_MS = 10_000;
/**
 * Seconds after a try within which its first retry can arrive: 15 s after the try timed out, which takes 3 s at most,
 * plus or minus a second because of the network.
 */
const FIRST_RETRY = { from: 14, to: 19 };
/** Seconds after a try within which neither a later retry nor a repeat of a whole block range can arrive. */
const LATER_RETRY = 59;
/** Seconds by which bodies may be stored out of order: each is stored once it has been read completely. */
const OUT_OF_ORDER = 3;

/** What is stored about a transfer. `count`: how many equal ones the transaction contains. */
export interface SeenTransfer {
  /** Its ID in the store; null until it is stored. */
  id: number | null;
  key: string;
  scope: number;
  seenAt: number;
  count: number;
  reorganized: boolean;
  /** `left`: the hashes of the abandoned blocks that it was in before. */
  transfer: Transfer & { left?: string[] };
}

/** What is stored about a delivery. */
export interface SeenDelivery {
  key: string;
  transferKey: string;
  count: number;
  /** It never got a complete 200, so the next equal one is its repeat. */
  unacknowledged: boolean;
  /** When the last one that counted as a transfer was acknowledged. */
  ackedAt: number | null;
  received: number;
  seenAt: number;
  /** What its first minute shows about the number of transfers; null until there is a second body. */
  firstMinute: FirstMinute | null;
  /** The IDs of the signed bodies, each once. */
  ids: string[];
  /** The places that they name, each once. */
  places: string[];
}

/**
 * What the bodies of a delivery's first minute, when only first retries can arrive, show about the number of transfers.
 */
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

/** When a body arrived and when its 200 was written completely; null: it was not, as far as is known. */
export interface Receipt {
  receivedAt: number;
  ackedAt: number | null;
}

/** Longer names are stored as their hash. */
const MAX_NAME_LENGTH = 60;

/**
 * Judges a body against what was seen before, and updates the delivery's record. A signed body is identified by its ID
 * and its place: each place counts as one transfer. Others are judged by when they arrived.
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
  const id = shortName(identity.id);
  const place = identity.place === null ? null : shortName(`${identity.chainId ?? ''} ${identity.place}`);
  const { ids, places } = judged.delivery;
  const isSameBody = ids.includes(id);
  const isKnown = isSameBody || (place !== null && places.includes(place));
  const delivery = isSameBody
    ? judged.delivery
    : { ...judged.delivery, ids: [...ids, id], places: isKnown || place === null ? places : [...places, place] };
  if (!known) return { verdict: judged.verdict, delivery };
  if (!isKnown && place === null) return { verdict: judged.verdict, delivery };
  // A body from before deliveries were signed may be any of the named ones.
  const count = isKnown ? known.count : Math.max(known.count, delivery.places.length);
  return {
    verdict: count > known.count ? 'second' : 'repeat',
    delivery: { ...delivery, count, firstMinute: known.firstMinute },
  };
}

const shortName = (name: string): string => (name.length > MAX_NAME_LENGTH ? hash('sha256', name) : name);

/**
 * Judges a body by when it arrived. Even an acknowledged delivery may be repeated, if the response was lost. So a body
 * that can be a retry of an earlier one never counts as a second transfer, and never more transfers are counted than
 * there are. Of three or more equal transfers, one may be missed if its body arrived 14 to 19 seconds (with rounding,
 * 13 to 20) after another one's and less than ten after the last.
 */
function judgeByTime(
  known: SeenDelivery | undefined,
  transferKnown: boolean,
  keys: { delivery: string; transfer: string },
  { receivedAt, ackedAt }: Receipt,
): { verdict: Verdict; delivery: SeenDelivery } {
  const unacknowledged = ackedAt === null;
  if (!known) {
    const delivery = {
      key: keys.delivery,
      transferKey: keys.transfer,
      count: 1,
      unacknowledged,
      ackedAt,
      received: 1,
      seenAt: receivedAt,
      firstMinute: null,
      ids: [],
      places: [],
    };
    return { verdict: transferKnown ? 'twin' : 'new', delivery };
  }
  const firstMinute = withBody(known, receivedAt);
  const delivery = { ...known, received: known.received + 1, firstMinute };
  // Once set, `ackedAt` does not move with repeats. If the responses to two equal transfers were both lost, both
  // come again in quick succession, and the second one must not count as a third transfer.
  if (known.unacknowledged) {
    return { verdict: 'repeat', delivery: { ...delivery, unacknowledged, ackedAt: known.ackedAt ?? ackedAt } };
  }
  // Both were in flight at once, so either may be the later one. After a clock was set back they are far apart.
  const soon = known.ackedAt !== null && Math.abs(receivedAt - known.ackedAt) < SECOND_TRANSFER_MS;
  if (soon && known.count < firstMinute.least) {
    return {
      verdict: 'second',
      delivery: { ...delivery, count: known.count + 1, unacknowledged, ackedAt: ackedAt ?? known.ackedAt },
    };
  }
  return { verdict: 'repeat', delivery };
}

/** Counts another body: as a retry of the oldest body that it can repeat, or else as one more transfer. */
function withBody({ seenAt, count, firstMinute }: SeenDelivery, receivedAt: number): FirstMinute {
  const first = Array.from({ length: OUT_OF_ORDER + 1 }, (_, second) => (second === OUT_OF_ORDER ? 1 : 0));
  const { least, alone } = firstMinute ?? { least: count, alone: first };
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
