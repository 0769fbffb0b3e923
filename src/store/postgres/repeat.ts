import type { Clock } from '../../domain/clock.ts';

/** Runs something again and again, one at a time: a while after each, or `now`. */
export function repeat(clock: Clock, run: () => Promise<void>, pauseMs: () => number) {
  let present: Promise<void> | null = null;
  let isWanted = false;
  let isStopped = false;
  let cancel = () => {};

  function now(): void {
    isWanted = true;
    if (present || isStopped) return;
    cancel();
    isWanted = false;
    present = run().finally(() => {
      present = null;
      if (isStopped) return;
      if (isWanted) now();
      else cancel = clock.after(pauseMs(), now);
    });
  }

  return {
    now,
    present: () => present,
    async stop(): Promise<void> {
      isStopped = true;
      cancel();
      await present;
    },
  };
}
