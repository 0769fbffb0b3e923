import type { Clock } from '../../src/domain/clock.ts';

/** Runs never overlap. Without `pauseMs` they start only on request. `work` must not reject. */
export function createLoop(clock: Clock, work: () => Promise<void>, pauseMs?: number) {
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
    async rerun(): Promise<void> {
      await running;
      await run();
    },
    wake(): void {
      if (isStopped) return;
      if (running === null) void run();
      else isWoken = true;
    },
    async stop(): Promise<void> {
      isStopped = true;
      cancel();
      await running;
    },
  };
}
