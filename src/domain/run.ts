import { randomBytes } from 'node:crypto';
import { type Clock, repeat, SECOND } from './clock.ts';
import type { Receipt } from './identity.ts';

/** A process that did nothing for this long was suspended: a sender waits for 3 s, a load balancer for less. */
const MIN_SUSPENDED_MS = 1.5 * SECOND;
export const CHECK_MS = SECOND / 4;
/** How long it takes to read all requests that arrived in the meantime. */
const READ_MS = SECOND;

/** Names this run of the process, which distinguishes equal transfers from repeats. */
export type Run = ReturnType<typeof startRun>;

const makeName = (): string => randomBytes(12).toString('base64url');

export function startRun({ now, elapsed, after }: Clock) {
  let name = makeName();
  let checkedAt = elapsed();
  let wallAt = now();
  let resumedAt = Number.NEGATIVE_INFINITY;

  function check(): void {
    const [at, wall] = [elapsed(), now()];
    const passed = at - checkedAt;
    if (passed > MIN_SUSPENDED_MS) resumedAt = at;
    // A suspended machine's elapsed time stands still.
    if (wall - wallAt - passed > MIN_SUSPENDED_MS) name = makeName();
    checkedAt = at;
    wallAt = wall;
  }

  return {
    /**
     * null: the request may have arrived while the process was suspended. Its sender retries: stored now, it would look
     * like a second transfer.
     */
    stamp(): Pick<Receipt, 'run' | 'runMs'> | null {
      check();
      return checkedAt - resumedAt < READ_MS ? null : { run: name, runMs: Math.floor(checkedAt) };
    },
    close: repeat({ after }, CHECK_MS, check),
  };
}
