import type { Clock } from '../../src/domain/clock.ts';

/** Work that is repeated, and never runs twice at the same time. */
export interface Loop {
  /** Starts a run, or joins the one under way; resolves when it ends. */
  run(): Promise<void>;
  /** Waits for the run under way, if there is one, and then for a whole run. */
  rerun(): Promise<void>;
  /** Starts a run now, or another one as soon as the run under way ends. */
  wake(): void;
  /** Starts no more runs; resolves when the run under way ends. */
  stop(): Promise<void>;
}

/** Creates a loop that pauses between runs, or without `pauseMs` runs only on request. `work` must not reject. */
export function createLoop(clock: Clock, work: () => Promise<void>, pauseMs?: number): Loop {
  let running: Promise<void> | null = null;
  let isWoken = false;
  let isStopped = false;
  let cancel = () => {};

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
    async rerun() {
      await running;
      await run();
    },
    wake() {
      if (isStopped) return;
      if (running === null) void run();
      else isWoken = true;
    },
    async stop() {
      isStopped = true;
      cancel();
      await running;
    },
  };
}
