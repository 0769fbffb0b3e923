import type { ManualClock } from '../../sandbox/discord/index.ts';
import type { Clock } from '../../src/domain/clock.ts';

/** The machine's clock, which may be set wrong. */
export interface Machine extends Clock {
  jump(ms: number): void;
}

export function createMachine(clock: ManualClock): Machine {
  let wrong = 0;
  return {
    now: () => clock.now() + wrong,
    after: clock.after.bind(clock),
    jump(ms) {
      wrong += ms;
    },
  };
}
