import type { Logger } from 'pino';
import { type Clock, MINUTE } from '../domain/clock.ts';
import type { Reachability } from '../domain/reachability.ts';
import { repeat } from '../domain/repeat.ts';

/** How often the public address is probed; the first time one minute after the start, when the proxy may be up too. */
const FIRST_MS = MINUTE;
const EVERY_MS = 10 * MINUTE;

/** Since when the receiver has not been reachable at its public address, in milliseconds since 1970, and why. */
export interface Unreachable {
  since: number;
  reason: Exclude<Reachability['status'], 'reachable'>;
}

/** Tracks whether the receiver is reachable at its public address; logs each change once. */
export function watchReach(options: {
  probe(): Promise<Reachability>;
  /** Whether it probes by itself, too. */
  isRepeated: boolean;
  clock: Clock;
  log: Logger;
}) {
  const { clock, log } = options;
  let unreachable: Unreachable | null = null;
  const stop = options.isRepeated ? repeat(clock, EVERY_MS, probe, FIRST_MS) : () => {};

  async function probe(): Promise<Reachability> {
    const found = await options.probe();
    const before = unreachable;
    if (found.status === 'reachable') {
      if (before) log.info({ forMs: Math.max(0, clock.now() - before.since) }, 'PUBLIC_URL is reachable again');
      unreachable = null;
    } else {
      if (before?.reason !== found.status) log.warn({ reason: found.status }, 'PUBLIC_URL is not reachable from here');
      unreachable = { since: before?.since ?? clock.now(), reason: found.status };
    }
    return found;
  }

  return {
    /** Probes now. */
    probe,
    /** As of the last probe; null while the receiver is reachable, or was not probed yet. */
    unreachable: (): Unreachable | null => unreachable,
    close: stop,
  };
}
