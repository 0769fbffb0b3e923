import type { Logger } from 'pino';
import { type Clock, SECOND } from '../domain/clock.ts';
import type { Store } from '../store/store.ts';
import type { Scheduler } from './scheduler.ts';

/** Pause after a failed call to the store. */
const RETRY_MS = SECOND;

/** What looking for waiting alerts needs. */
interface RescanOptions {
  store: Pick<Store, 'outbox'>;
  scheduler: Scheduler;
  clock: Clock;
  log: Logger;
  wake(): void;
  isClosing(): boolean;
}

/** Creates what finds every channel with alerts in the store; it retries until the store responds. */
export function createRescan({ store: { outbox }, scheduler, clock, log, wake, isClosing }: RescanOptions) {
  let cancelRetry = () => {};

  async function rescan(): Promise<void> {
    if (isClosing()) return;
    try {
      await outbox.endLongHolds(clock.now());
      for (const { channelId, guildId, dueAt, sleepUntil, state } of await outbox.channelsWithWork())
        scheduler.addFound({ channelId, guildId, dueAt, sleepUntil, blocked: state !== 'ready' }, clock.now());
      wake();
    } catch (error) {
      if (isClosing()) return;
      log.error({ err: error }, 'sending paused');
      // Otherwise each rescan that fails would begin its own series of retries.
      cancelRetry();
      cancelRetry = clock.after(RETRY_MS, () => void rescan());
    }
  }

  return { rescan, cancelRetry: () => cancelRetry() };
}
