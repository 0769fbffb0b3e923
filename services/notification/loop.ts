import type { Clock } from '../../src/domain/clock.ts';

/**
 * Repeats work that never runs twice at the same time: after a pause, or without `pauseMs` only on request. `work` must not
 * reject.
 */
export function createLoop(clock: Clock, work: () => Promise<void>, pauseMs?: number) {
  let running: Promise<void> | null = null;
  let isWoken = false;
  let isStopped = false;
  let cancel = () => {};

  /** Starts a run, or joins the one under way; resolves when it ends. */
  function run(): Promise<void> {
    cancel();
    running ??= work().finally(() => {
      running = null;
      if (isStopped) return;
      if (isWoken) void run();
      else if (pauseMs !== undefined) cancel = clock.after(pauseMs, () => void run());
      isWoken = false;
    });
    return running;
  }

  return {
    run,
    /** Waits for the run under way, if there is one, and then for a whole run. */
    async rerun(): Promise<void> {
      await running;
      await run();
    },
    /** Starts a run now, or another one as soon as the run under way ends. */
    wake(): void {
      if (isStopped) return;
      if (running === null) void run();
      else isWoken = true;
    },
    /** Starts no more runs; resolves when the run under way ends. */
    async stop(): Promise<void> {
      isStopped = true;
      cancel();
      await running;
    },
  };
}
