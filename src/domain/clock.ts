import { SECOND } from './units.ts';

export { DAY, HOUR, MINUTE, SECOND } from './units.ts';

/** Time as an argument: tests advance it by hand. */
export interface Clock {
  /** For what is stored or shown. It jumps when the machine's clock is set. */
  now(): number;
  /** For durations in memory: it never jumps. */
  elapsed(): number;
  /** Returns a function that cancels the run. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: Date.now,
  elapsed: () => performance.now(),
  after(ms, run) {
    // A longer delay would overflow Node's timer. The caller then checks again.
    const timer = setTimeout(run, Math.min(Math.max(0, ms), 2_147_483_647));
    timer.unref();
    return clearTimeout.bind(null, timer);
  },
};

/** null when the work takes longer, while it continues. */
export function inTime<Value>(
  work: Promise<Value>,
  ms: number,
  { after }: Pick<Clock, 'after'>,
): Promise<Value | null> {
  const late = Promise.withResolvers<null>();
  const cancel = after(ms, () => late.resolve(null));
  return Promise.race([work, late.promise]).finally(cancel);
}

/** `work` must not throw; if its promise rejects, the repetition goes on. Returns a function that ends it. */
export function repeat({ after }: Pick<Clock, 'after'>, ms: number, work: () => unknown, firstMs = ms): () => void {
  let isStopped = false;
  let cancel = after(firstMs, run);

  function run(): void {
    const running = work();
    if (running instanceof Promise) void running.finally(schedule);
    else schedule();
  }

  function schedule(): void {
    if (!isStopped) cancel = after(ms, run);
  }

  return () => {
    isStopped = true;
    cancel();
  };
}

/** `work` must not reject. `close` waits at most a second for a run, which `isClosed` tells to end. */
export function workEvery(clock: Clock, ms: number, work: (isClosed: () => boolean) => Promise<void>) {
  let isClosed = false;
  let running = Promise.resolve();
  const stop = repeat(clock, ms, () => {
    running = work(() => isClosed);
    return running;
  });
  return {
    async close(): Promise<void> {
      isClosed = true;
      stop();
      await inTime(running, SECOND, clock);
    },
  };
}

/** Waits between attempts, in milliseconds. */
export interface BackOff {
  /** The first wait; each further one is twice as long. */
  base: number;
  max: number;
  /** Share of a wait that is random, from 0 to 1; default 0. */
  jitter?: number;
}

/** `random`: from 0 to 1. */
export function backOff(doublings: number, { base, max, jitter = 0 }: BackOff, random = 1): number {
  return Math.min(max, base * 2 ** doublings) * (1 - jitter + jitter * random);
}

/** A token bucket: allows a burst, then one more every `everyMs`. */
export interface BucketRule {
  burst: number;
  everyMs: number;
}

export function createBuckets({ burst, everyMs }: BucketRule) {
  const buckets = new Map<string, { tokens: number; at: number }>();

  function leftAt(key: string, now: number): number {
    const bucket = buckets.get(key);
    return bucket ? Math.min(burst, bucket.tokens + Math.max(0, now - bucket.at) / everyMs) : burst;
  }

  return {
    /** Milliseconds until the next one may happen; 0: now. */
    wait: (key: string, now: number): number => Math.max(0, Math.ceil((1 - leftAt(key, now)) * everyMs)),
    take(key: string, now: number): void {
      const tokens = leftAt(key, now) - 1;
      buckets.delete(key);
      buckets.set(key, { tokens, at: now });
      // Drops full buckets. The first ones were used longest ago.
      for (const [first] of buckets) {
        if (leftAt(first, now) < burst) break;
        buckets.delete(first);
      }
    },
  };
}

/** A slow read never replaces newer state: its result is dropped if that of a later one was applied before. */
export function readInOrder<Result>(read: () => Promise<Result>, apply: (result: Result) => void): () => Promise<void> {
  let begun = 0;
  let applied = 0;
  return async () => {
    const turn = ++begun;
    const result = await read();
    if (turn < applied) return;
    applied = turn;
    apply(result);
  };
}

/** The bot could not work: it was stopped, could not send, or the clock jumped. */
export interface Pause {
  from: number;
  until: number;
}

/** Goes back until the bot could work for `ms` in total; `pauses` do not overlap and are in order. */
export function uptimeSince(now: number, ms: number, pauses: readonly Pause[]): number {
  let since = now - ms;
  for (const { from, until } of pauses.toReversed()) {
    const end = Math.min(until, now);
    if (end <= since) break;
    if (end > from) since -= end - from;
  }
  return since;
}

export function addPause(pauses: readonly Pause[], { from, until }: Pause): Pause[] {
  const last = pauses.at(-1);
  if (until <= from) return [...pauses];
  if (!last || last.until < from) return [...pauses, { from, until }];
  return [...pauses.slice(0, -1), { from: Math.min(last.from, from), until: Math.max(last.until, until) }];
}

/** Time after it, from a clock that was ahead, does not count. */
export const pausesUntil = (pauses: readonly Pause[], time: number): Pause[] =>
  pauses.filter(({ from }) => from < time).map(({ from, until }) => ({ from, until: Math.min(until, time) }));
