import type { Logger } from 'pino';
import type { Clock } from '../../src/domain/clock.ts';
import { createLoop } from './loop.ts';

/** Work that is not urgent, each kind in its own time: a call that hangs in one holds up no new block and no other kind. */
export interface Backlog {
  /** Starts what is not under way. */
  start(): void;
  /** Waits for what is under way, and then for a whole run of everything. */
  rerun(): Promise<void>;
  /** Resolves when everything under way has ended. */
  stop(): Promise<void>;
}

/** Creates the backlog; what fails is logged with the words of its kind, and runs again at the next start. */
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
