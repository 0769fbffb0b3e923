import { setTimeout as wait } from 'node:timers/promises';
import { SECOND } from '../../src/domain/clock.ts';
import type { OpenedStore } from './watched.ts';

const STILL_MS = 40 * SECOND;
const LOOK_MS = 100;

/**
 * Waits until nothing is left to do, or nothing has moved for long; returns what is left as problems. `open` opens the
 * bot's data; `unfinished` counts what the sender and the channels still wait for.
 */
export async function settle(open: () => Promise<OpenedStore>, unfinished: () => number): Promise<string[]> {
  const { store, close } = await open();
  try {
    let lowest = Number.POSITIVE_INFINITY;
    let since = Date.now();
    for (;;) {
      const backlog = await store.metrics.backlog(Date.now());
      const { inbox, alerts, frozen, quarantine, deadLetters } = backlog;
      const rest = unfinished() + inbox.waiting + alerts.due + alerts.held + alerts.closed + frozen;
      const failed = quarantine.rows + deadLetters;
      if (rest === 0) return failed === 0 ? [] : [`something could not be posted: ${JSON.stringify(backlog)}`];
      if (Date.now() - since > STILL_MS) return [`something is left: ${unfinished()}, ${JSON.stringify(backlog)}`];
      if (rest < lowest) {
        lowest = rest;
        since = Date.now();
      }
      await wait(LOOK_MS);
    }
  } finally {
    await close();
  }
}
