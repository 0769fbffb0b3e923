import type { Clock } from '../../domain/clock.ts';

/** Runs something again and again, one run at a time: `pauseMs` after each, or `now`. */
export function createPoller(clock: Clock, run: () => Promise<void>, pauseMs: () => number) {
  let running: Promise<void> | null = null;
  let isWanted = false;
  let isStopped = false;
  let cancel = () => {};

  function now(): void {
    isWanted = true;
    if (running || isStopped) return;
    cancel();
    isWanted = false;
    running = run().finally(() => {
      running = null;
      if (isStopped) return;
      if (isWanted) now();
      else cancel = clock.after(pauseMs(), now);
    });
  }

  return {
    now,
    running: () => running,
    async stop(): Promise<void> {
      isStopped = true;
      cancel();
      await running;
    },
  };
}
