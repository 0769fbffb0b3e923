import { hash, randomBytes } from 'node:crypto';
import { type Clock, repeat, SECOND } from './clock.ts';
import type { NewDelivery } from './inbox.ts';
import type { Transfer } from './transfer.ts';

/** Equal bodies within this, at one process, are several transfers: a retry comes after 15 s at the earliest. */
const WINDOW_MS = 10_000;

export interface SeenTransfer {
  /** null until it is stored. */
  id: number | null;
  key: string;
  scope: number;
  network: number;
  seenAt: number;
  count: number;
  reorganized: boolean;
  /** When it happened, if it was found on the chain and not delivered. */
  minedAt?: number;
  /** Its subscriptions do not know the token: anybody may have made it. Kept for a shorter time. */
  isWorthless: boolean;
  /** `left`: the hashes of the abandoned blocks that it was in before. */
  transfer: Transfer & { leftBlocks?: string[] };
}

export interface SeenDelivery {
  key: string;
  transferKey: string;
  count: number;
  received: number;
  seenAt: number;
  /** Run and time of the latest window's first body; `inWindow`: how many bodies the window had. */
  run: string;
  windowMs: number;
  inWindow: number;
  /** The IDs of the signed bodies, and the places that these name. */
  ids: string[];
  places: string[];
}

/** `twin`: another body of a known transfer. `second`: an equal transfer in the same transaction. */
export type Verdict = 'new' | 'twin' | 'second' | 'repeat';

export type Receipt = Pick<NewDelivery, 'receivedAt' | 'run' | 'runMs' | 'identity'>;

/** Longer names are stored as their hash. */
const MAX_NAME_LENGTH = 60;

/**
 * A signed body is identified by its ID and place, each place being a transfer; others by when they arrived. Each
 * transfer is delivered once at most within ten seconds, so that never counts too many. It counts too few when equal
 * transfers arrive further apart, or at different processes.
 */
export function judge(
  known: SeenDelivery | undefined,
  transferKnown: boolean,
  keys: { delivery: string; transfer: string },
  { receivedAt, run, runMs, identity }: Receipt,
): { verdict: Verdict; delivery: SeenDelivery } {
  const id = identity && shortName(identity.id);
  const place = identity && identity.place !== null ? shortName(`${identity.chainId ?? ''} ${identity.place}`) : null;
  const first = { run, windowMs: runMs, inWindow: 1 };
  if (!known) {
    const { delivery: key, transfer: transferKey } = keys;
    const names = { ids: id === null ? [] : [id], places: place === null ? [] : [place] };
    const delivery = { key, transferKey, count: 1, received: 1, seenAt: receivedAt, ...first, ...names };
    return { verdict: transferKnown ? 'twin' : 'new', delivery };
  }
  const delivery = { ...known, received: known.received + 1 };
  const isSameBody = id !== null && known.ids.includes(id);
  if (id !== null && !isSameBody) delivery.ids = [...known.ids, id];
  if (isSameBody || (place !== null && known.places.includes(place))) return { verdict: 'repeat', delivery };
  if (place !== null) {
    const places = [...known.places, place];
    // A body from before deliveries were signed may be any of the named ones.
    const count = Math.max(known.count, places.length);
    return { verdict: count > known.count ? 'second' : 'repeat', delivery: { ...delivery, places, count } };
  }
  // Bodies are stored when they are complete, so one that arrived a little earlier may come later.
  const isInWindow = run === known.run && Math.abs(runMs - known.windowMs) < WINDOW_MS;
  const window = isInWindow ? { inWindow: known.inWindow + 1 } : first;
  const count = Math.max(known.count, window.inWindow);
  return { verdict: count > known.count ? 'second' : 'repeat', delivery: { ...delivery, ...window, count } };
}

const shortName = (name: string): string => (name.length > MAX_NAME_LENGTH ? hash('sha256', name) : name);

/** How many earlier blocks of a reorganized transfer are remembered. */
const MAX_LEFT_BLOCKS = 8;

/**
 * What another delivery changes in a transfer that is known. `isProven`: whether the block was compared with the chain,
 * which knows more than a delivery.
 */
export function seenAgain(
  seen: SeenTransfer,
  transfer: Transfer,
  verdict: Verdict,
  count: number,
  isProven: (block: number | null) => boolean,
): SeenTransfer {
  // What was read from the chain describes the transfer's previous block.
  const { settled, balances: _, ...known } = seen.transfer;
  const { blockHash, blockNumber, leftBlocks = [] } = known;
  if (isProven(blockNumber) && (settled !== 0 || isProven(transfer.blockNumber))) return seen;
  // A repeat names the block of its first time, which the chain may have left since. So may a twin of such a repeat.
  const newHash = verdict === 'twin' && transfer.blockHash !== blockHash ? transfer.blockHash : null;
  const isPlaced = newHash !== null && !leftBlocks.includes(newHash);
  const isMoved = isPlaced && blockHash !== null;
  return {
    ...seen,
    // What the settled chain has is not raised by a delivery, unless that is of another block.
    count: isPlaced ? Math.max(1, seen.count, count) : (settled ?? Math.max(seen.count, count)),
    reorganized: seen.reorganized || isMoved,
    transfer: isPlaced
      ? {
          ...known,
          blockHash: newHash,
          blockNumber: isMoved ? transfer.blockNumber : (blockNumber ?? transfer.blockNumber),
          ...(isMoved && { leftBlocks: [...leftBlocks, blockHash].slice(-MAX_LEFT_BLOCKS) }),
        }
      : seen.transfer,
  };
}

/** A process that did nothing for this long was suspended: a sender waits for 3 s, a load balancer for less. */
const MIN_SUSPENDED_MS = 1.5 * SECOND;
export const CHECK_MS = SECOND / 4;
/** How long it takes to read all requests that arrived in the meantime. */
const READ_MS = SECOND;

/** Names this run of the process, which distinguishes equal transfers from repeats. */
export type Run = ReturnType<typeof startRun>;

const makeName = (): string => randomBytes(12).toString('base64url');

export function startRun({ now, elapsed, after }: Clock) {
  let name = makeName();
  let checkedAt = elapsed();
  let wallAt = now();
  let resumedAt = Number.NEGATIVE_INFINITY;

  /**
   * null: the request may have arrived while the process was suspended. Its sender retries: stored now, it would look
   * like a second transfer. Also called at intervals, to notice that.
   */
  function stamp(): Pick<Receipt, 'run' | 'runMs'> | null {
    const [at, wall] = [elapsed(), now()];
    const passed = at - checkedAt;
    if (passed > MIN_SUSPENDED_MS) resumedAt = at;
    // A suspended machine's elapsed time stands still.
    if (wall - wallAt - passed > MIN_SUSPENDED_MS) name = makeName();
    checkedAt = at;
    wallAt = wall;
    return at - resumedAt < READ_MS ? null : { run: name, runMs: Math.floor(at) };
  }

  return { stamp, close: repeat({ after }, CHECK_MS, stamp) };
}
