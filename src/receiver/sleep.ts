import { type Clock, SECOND } from '../domain/clock.ts';
import { repeat } from '../domain/repeat.ts';

/** A process that did nothing for this long was stopped: a sender waits for 3 s, a load balancer for less. */
const SLEPT_MS = 1.5 * SECOND;
const LOOK_MS = SECOND / 4;
/** How long it takes to read all requests that arrived in the meantime. */
const READ_MS = SECOND;

/**
 * Tracks whether this process has just slept. Requests that arrived meanwhile look new, but their senders gave up and
 * may have delivered to another process since: stored now, they would look like second transfers.
 */
export function watchSleep(now: () => number, clock: Pick<Clock, 'after'>) {
  let lookedAt = now();
  let wokeAt = Number.NEGATIVE_INFINITY;

  function look(): void {
    const at = now();
    if (at - lookedAt > SLEPT_MS) wokeAt = at;
    lookedAt = at;
  }

  const close = repeat(clock, LOOK_MS, look);
  return {
    hasSlept(): boolean {
      look();
      return lookedAt - wokeAt < READ_MS;
    },
    close,
  };
}
