import { type Clock, SECOND } from '../domain/clock.ts';
import { repeat } from '../domain/repeat.ts';

/** A process that did nothing for this long was suspended: a sender waits for 3 s, a load balancer for less. */
const MIN_SUSPENDED_MS = 1.5 * SECOND;
const CHECK_MS = SECOND / 4;
/** How long it takes to read all requests that arrived in the meantime. */
const READ_MS = SECOND;

/**
 * Tracks whether this process was suspended just now. Requests that arrived meanwhile look new, but their senders gave up
 * and may have delivered to another process since: stored now, they would look like second transfers.
 */
export function watchSuspension(now: () => number, clock: Pick<Clock, 'after'>) {
  let checkedAt = now();
  let resumedAt = Number.NEGATIVE_INFINITY;

  function check(): void {
    const at = now();
    if (at - checkedAt > MIN_SUSPENDED_MS) resumedAt = at;
    checkedAt = at;
  }

  const close = repeat(clock, CHECK_MS, check);
  return {
    wasSuspended(): boolean {
      check();
      return checkedAt - resumedAt < READ_MS;
    },
    close,
  };
}
