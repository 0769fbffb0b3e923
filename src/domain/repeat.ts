import type { Clock } from './clock.ts';

/**
 * Runs `work` again and again: first after `firstMs`, then `ms` after each run has ended. Returns a function after which
 * no run starts. `work` must not throw; it may return a promise, and if that rejects, the repetition goes on.
 */
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
