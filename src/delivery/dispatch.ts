import type { Logger } from 'pino';
import { type Clock, inTime, SECOND } from '../domain/clock.ts';
import type { Channel } from './channel-table.ts';
import type { RateLimit, RequestSlot } from './rate-limit.ts';
import type { Scheduler } from './scheduler.ts';

/** Maximum number of channels with a request in flight. */
const MAX_IN_FLIGHT = 40;
/** Pause of a channel after a failed call to the store. */
const STORE_PAUSE_MS = SECOND;
/** How long closing waits for what is in flight. */
const CLOSE_TIMEOUT_MS = 5 * SECOND;

/** What giving slots to channels needs. `serve` uses a channel's slot. */
interface DispatcherOptions {
  scheduler: Scheduler;
  rateLimit: RateLimit;
  clock: Clock;
  log: Logger;
  serve(channel: Channel, slot: RequestSlot): Promise<void>;
  /** From then on nothing new begins. */
  isClosing(): boolean;
}

/** Gives each channel its slot when the scheduler says so and the rate limit has room, and wakes when more is due. */
export function createDispatcher({ scheduler, rateLimit, clock, log, serve, isClosing }: DispatcherOptions) {
  const inFlight = new Set<Promise<void>>();
  let cancelTimer = () => {};

  function wake(): void {
    cancelTimer();
    if (isClosing()) return;
    while (inFlight.size < MAX_IN_FLIGHT) {
      const next = scheduler.next(clock.now());
      const slot = next.channel ? rateLimit.take(next.policy) : next.waitMs;
      if (next.channel && typeof slot !== 'number') {
        begin(next.channel, slot);
        continue;
      }
      if (typeof slot === 'number' && slot < Number.POSITIVE_INFINITY) cancelTimer = clock.after(slot, wake);
      return;
    }
  }

  function begin(channel: Channel, slot: RequestSlot): void {
    scheduler.beginSlot(channel.id);
    const work: Promise<void> = serve(channel, slot)
      .catch((error: unknown) => {
        scheduler.postpone(channel.id, clock.now() + STORE_PAUSE_MS);
        if (!isClosing()) log.error({ err: error, channel: channel.id }, 'sending paused');
      })
      .finally(() => {
        slot.release();
        scheduler.endSlot(channel.id, clock.now());
        inFlight.delete(work);
        wake();
      });
    inFlight.add(work);
  }

  return {
    /** Checks which channel is next. */
    wake,
    /** Resolves once nothing is in flight. */
    async idle(): Promise<void> {
      while (inFlight.size > 0) await Promise.allSettled(inFlight);
    },
    /** Lets what is in flight finish, for five seconds at most; the rest is frozen in the store. */
    async close(): Promise<void> {
      cancelTimer();
      await inTime(Promise.allSettled(inFlight), CLOSE_TIMEOUT_MS, clock);
    },
  };
}
