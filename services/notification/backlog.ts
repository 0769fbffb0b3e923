import type { Logger } from 'pino';
import type { Clock } from '../../src/domain/clock.ts';
import { createLoop } from './loop.ts';

/** Work that is not urgent. A call that hangs in one kind of it delays neither the other kinds nor new blocks. */
export interface Backlog {
  /** Starts every kind that is not running. */
  start(): void;
  /** Waits for the current runs, and then for one more of each kind. */
  rerun(): Promise<void>;
  /** Resolves when the current runs have ended. */
  stop(): Promise<void>;
}

/** Creates the backlog; a failure is logged with its kind's message and retried at the next start. */
export function createBacklog(
  kinds: readonly { failure: string; work(): Promise<void> }[],
  { clock, log, isStopping }: { clock: Clock; log: Logger; isStopping(): boolean },
): Backlog {
  const loops = kinds.map(({ failure, work }) =>
    createLoop(clock, () =>
      work().catch((error: unknown) => {
        if (!isStopping()) log.warn({ err: error }, failure);
      }),
    ),
  );
  return {
    start() {
      for (const loop of loops) void loop.run();
    },
    async rerun() {
      await Promise.all(loops.map((loop) => loop.rerun()));
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
