import type { Clock } from '../../src/domain/clock.ts';

export type ManualClock = ReturnType<typeof createManualClock>;

/** A clock that stands still until `advance` or `leap` moves it. */
export function createManualClock(start = Date.UTC(2026, 0, 1)) {
  let time = start;
  let timers: { due: number; ms: number; run: () => void }[] = [];

  function now(): number {
    return time;
  }

  function elapsed(): number {
    return time - start;
  }

  function after(ms: number, run: () => void): () => void {
    const timer = { due: time + ms, ms, run };
    timers.push(timer);
    return () => {
      timers = timers.filter((other) => other !== timer);
    };
  }

  /**
   * Milliseconds until the next timer, apart from those that were set for `except` milliseconds; Infinity without any.
   */
  function untilNext(except?: number): number {
    return Math.min(...timers.filter(({ ms }) => ms !== except).map(({ due }) => due)) - time;
  }

  /** Timers run in order, each at its own time. */
  function advance(ms: number): void {
    const end = time + ms;
    for (;;) {
      const next = timers.filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
      if (!next) break;
      timers.splice(timers.indexOf(next), 1);
      time = Math.max(time, next.due);
      next.run();
    }
    time = end;
  }

  /** Moves the time at once, as after a suspension of the process. Timers that became due run at the end. */
  function leap(ms: number): void {
    time += ms;
    const due = timers.filter((timer) => timer.due <= time).sort((a, b) => a.due - b.due);
    for (const timer of due) {
      // An earlier one may have canceled it.
      if (!timers.includes(timer)) continue;
      timers.splice(timers.indexOf(timer), 1);
      timer.run();
    }
  }

  return { now, elapsed, after, untilNext, advance, leap };
}

/** `stop` cancels all pending timers. */
export function stoppable(clock: Clock): Clock & { stop(): void } {
  const running = new Set<() => void>();
  return {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    after(ms, run) {
      const cancel = clock.after(ms, () => {
        running.delete(stop);
        run();
      });

      function stop() {
        running.delete(stop);
        cancel();
      }

      running.add(stop);
      return stop;
    },
    stop() {
      for (const cancel of running) cancel();
    },
  };
}

const EPOCH = 1_420_070_400_000;

/** Snowflakes are unique and increasing, and contain the clock's time. */
export function snowflakes(clock: Clock): () => string {
  let last = 0n;
  return () => {
    const id = BigInt(Math.max(1, Math.floor(clock.now()) - EPOCH)) << 22n;
    last = id > last ? id : last + 1n;
    return last.toString();
  };
}

export function timeOf(id: string): number {
  return Number(BigInt(id) >> 22n) + EPOCH;
}

export function iso(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000+00:00');
}
