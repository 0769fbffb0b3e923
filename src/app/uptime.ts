import type { Logger } from 'pino';
import { addPause, type Clock, HOUR, MINUTE, type Pause, pausesUntil, uptimeSince } from '../domain/clock.ts';
import type { Store } from '../store/store.ts';

/** A jump or a stop for longer than this is a pause. */
const PAUSE_MS = 2 * MINUTE;
/** A jump by more than this is logged. */
const LOGGED_MS = HOUR;
/** Maximum number of pauses that are kept: more than a year of daily restarts. */
const MAX_PAUSES = 500;

interface UptimeOptions {
  store: Pick<Store, 'uptime'>;
  clock: Clock;
  log: Logger;
}

/**
 * Tracks the periods in which the bot could work: deadlines and deletion of old data count only those. The time between
 * the latest one in the database and now was a pause, or the clock is wrong.
 */
export async function openUptime({ store, clock, log }: UptimeOptions) {
  const { latest, pauses: known } = await store.uptime.read();
  let pauses: Pause[] = known;
  /** Wall-clock time minus elapsed time, which changes only when the clock jumps. */
  let offset = clock.now() - clock.elapsed();
  let tickedAt = clock.elapsed();
  if (latest !== null)
    note(latest, clock.now(), (times, by) => {
      if (by > 0)
        log.warn(times, 'clock is ahead of the latest time in the database: the bot was stopped, or it is wrong');
      else log.warn(times, 'clock is behind the latest time in the database: check the time of this machine');
    });

  /** Records a pause or a jump if the clock shows `now` instead of `expected`. */
  function note(expected: number, now: number, logJump: (times: object, by: number) => void): void {
    const by = now - expected;
    const hours = Math.round((by / HOUR) * 10) / 10;
    if (Math.abs(by) > LOGGED_MS) {
      logJump({ now: new Date(now).toISOString(), expected: new Date(expected).toISOString(), hours }, by);
    }
    if (by > PAUSE_MS) pauses = addPause(pauses, { from: expected, until: now }).slice(-MAX_PAUSES);
    if (by < -PAUSE_MS) pauses = pausesUntil(pauses, now);
  }

  /** Returns the time, after it recorded a jump of the clock. */
  function checked(): number {
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    note(offset + elapsed, now, (times) => log.warn(times, 'clock jumped: check the time of this machine'));
    offset = now - elapsed;
    return now;
  }

  return {
    /** Checks the clock and records that the bot works; `canSend`: it could send in the last minute. */
    async tick(canSend: boolean): Promise<void> {
      const now = checked();
      const elapsed = clock.elapsed();
      if (!canSend) pauses = addPause(pauses, { from: now - (elapsed - tickedAt), until: now });
      tickedAt = elapsed;
      try {
        await store.uptime.record(now, pauses);
      } catch (error) {
        log.warn({ err: error }, 'cannot record that the bot works');
      }
    },
    since: (ms: number): number => uptimeSince(checked(), ms, pauses),
  };
}

export type Uptime = Awaited<ReturnType<typeof openUptime>>;
