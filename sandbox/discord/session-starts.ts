/** How the bot's shards may begin sessions: Discord's limits for Identify. */
import { type Clock, DAY, SECOND } from '../../src/domain/clock.ts';

/** In this time, one shard of each bucket may identify. */
const SPACING_MS = 5 * SECOND;
const TOTAL = 1_000;
/** With a lower concurrency, libraries wait 5 s between sessions. */
const USUAL_CONCURRENCY = 16;

/** The limits that a test may set. */
export interface SessionStarts {
  /** How many shards are recommended. Default: one for each 1,000 servers. */
  shards: number;
  /** How many shards may identify within 5 s: shard n belongs to bucket n modulo this. Enforced once it is given. */
  maxConcurrency: number;
  /** How many sessions may still begin today. */
  remaining: number;
}

/** Creates the count of the sessions that began. */
export function createSessionStarts({ shards, maxConcurrency, remaining }: Partial<SessionStarts>, clock: Clock) {
  const lastOf = new Map<number, number>();
  let left = remaining ?? TOTAL;
  return {
    /** Returns the body of `GET /gateway/bot` without its `url`. `servers` is how many the bot is in. */
    information: (servers: number) => ({
      shards: shards ?? Math.max(1, Math.ceil(servers / 1_000)),
      session_start_limit: {
        total: TOTAL,
        remaining: left,
        reset_after: DAY,
        max_concurrency: maxConcurrency ?? USUAL_CONCURRENCY,
      },
    }),
    /** Counts an Identify. Returns false when it came too soon. */
    begin(shard: number): boolean {
      if (remaining !== undefined) left = Math.max(0, left - 1);
      if (maxConcurrency === undefined) return true;
      const bucket = shard % maxConcurrency;
      const isTooSoon = clock.now() - (lastOf.get(bucket) ?? Number.NEGATIVE_INFINITY) < SPACING_MS;
      if (!isTooSoon) lastOf.set(bucket, clock.now());
      return !isTooSoon;
    },
  };
}
