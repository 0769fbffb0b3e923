import { type Clock, followClock } from '../domain/clock.ts';

/** In this time, Discord lets one shard of each bucket identify. */
const SPACING_MS = 5_000;

/** When a shard of this bot last identified, whichever process it belonged to. */
export interface IdentifyLog {
  last(): Promise<number | null>;
  note(at: number): Promise<void>;
}

/** The part of the library's manager that is needed. */
interface Manager {
  fetchGatewayInformation(): Promise<{ session_start_limit: { max_concurrency: number } }>;
  getShardCount(): Promise<number>;
}

/** Lets shards identify as fast as Discord allows. */
interface Throttler {
  /** Resolves once the shard may identify; rejects when the connection is given up. */
  waitForIdentify(shardId: number, signal: AbortSignal): Promise<void>;
}

/**
 * Creates the queue in which the shards of every client of this process identify. With several shards it also waits for
 * those of earlier processes. A single shard tries at once: if that is too soon, Discord makes it wait, which takes as long.
 */
export function createIdentifyQueue(log: IdentifyLog, clock: Clock) {
  const { after } = clock;
  /** When each bucket's next shard may identify, as far as this process knows. */
  const nextAt = new Map<number, number>();
  /** When any bucket may identify after what earlier processes did. */
  let firstAt = 0;
  let earlier: Promise<void> | null = null;
  // A clock that is set back by an hour must not keep a shard waiting for an hour.
  const now = followClock(clock, (ms) => {
    firstAt -= ms;
    for (const [bucket, at] of nextAt) nextAt.set(bucket, at - ms);
  });

  const readEarlier = (): Promise<void> =>
    (earlier ??= log.last().then(
      (at) => {
        // The clock of the earlier process may have been ahead.
        if (at !== null) firstAt = Math.min(at, now()) + SPACING_MS;
      },
      () => undefined,
    ));

  return async (manager: Manager): Promise<Throttler> => {
    const { session_start_limit: limit } = await manager.fetchGatewayInformation();
    const isAlone = (await manager.getShardCount()) === 1;
    return {
      async waitForIdentify(shardId, signal) {
        const bucket = shardId % limit.max_concurrency;
        if (!isAlone) await readEarlier();
        // A connection that was given up meanwhile takes no turn from the others.
        signal.throwIfAborted();
        const at = Math.max(now(), nextAt.get(bucket) ?? firstAt);
        nextAt.set(bucket, at + SPACING_MS);
        await pause(at - now(), after, signal);
        // While the database is away, the bot connects anyway.
        if (!isAlone) await log.note(now()).catch(() => undefined);
        signal.throwIfAborted();
      },
    };
  };
}

function pause(ms: number, after: Clock['after'], signal: AbortSignal): Promise<void> {
  if (ms <= 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const cancel = after(ms, resolve);
    signal.addEventListener('abort', () => {
      cancel();
      reject(signal.reason as Error);
    });
  });
}
