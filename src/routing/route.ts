import type { AlertTarget } from '../domain/alert.ts';
import type { InboxRow } from '../domain/inbox.ts';
import { isPassing } from '../errors.ts';
import {
  type DecideOptions,
  decide,
  failureReason,
  parseDelivery,
  quarantineOne,
  type WaitingDelivery,
} from './decide.ts';
import { createInboxBuffer } from './inbox-buffer.ts';

/** Deliveries per commit, at most: more would cost the disk less but hold the event loop for longer. */
const MAX_IN_COMMIT = 400;
/** Pause after a failure that may pass: a locked file, a full disk. */
const PAUSE_MS = 500;

/** What the router needs, and whom it notifies after each commit. */
export interface RouterOptions extends DecideOptions {
  /** These deliveries left the inbox; so many of them went to quarantine. */
  onRouted(result: { ids: number[]; quarantined: number }): void;
  /** These channels have something to post or edit, once per alert, after so many events. */
  onAlerts(targets: readonly AlertTarget[], events: number): void;
}

/** Turns stored deliveries into alerts, oldest first, several per commit. */
export function startRouter(options: RouterOptions) {
  const { store, log, now, ackedAt, onRouted, onAlerts } = options;
  const buffer = createInboxBuffer(store, parseDelivery);
  /** The oldest delivery, if its response was still pending: nothing can be routed before that has ended. */
  let pendingId: number | null = null;
  let isWanted = false;
  let isClosing = false;
  let retryTimer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;

  function wake(): void {
    isWanted = true;
    if (running || isClosing) return;
    running = run().finally(() => {
      running = null;
      if (isWanted && !isClosing) wake();
    });
  }

  async function run(): Promise<void> {
    while (isWanted && !isClosing) {
      isWanted = false;
      try {
        const items = await buffer.next(MAX_IN_COMMIT);
        const oldest = items[0]?.row.id;
        if (oldest === undefined || (oldest === pendingId && ackedAt(oldest) === undefined)) continue;
        if ((await routeItems(items)) > 0) isWanted = true;
        else pendingId = oldest;
      } catch (error) {
        if (isClosing) return;
        log.error({ err: error }, 'routing paused');
        // One retry, however often it was woken: retries that add up would fill a full disk with their log.
        clearTimeout(retryTimer);
        retryTimer = setTimeout(wake, PAUSE_MS);
        return;
      }
    }
  }

  /** Routes those of the items that can be decided; returns how many. */
  async function routeItems(items: WaitingDelivery[]): Promise<number> {
    try {
      return await routeTogether(items);
    } catch (error) {
      if (isPassing(error)) throw error;
      if (items.length === 1) return quarantine(items[0]!.row.id, error);
    }
    let routed = 0;
    for (const item of items) {
      if (ackedAt(item.row.id) === undefined) break;
      routed += await routeItems([item]);
    }
    return routed;
  }

  async function routeTogether(items: WaitingDelivery[]): Promise<number> {
    const result = await decide(items, options);
    const ids = [...result.done, ...result.quarantined.map(({ id }) => id)];
    if (ids.length === 0) return 0;
    const committing = store.routing.commit(result);
    buffer.parseAhead(ids.length, MAX_IN_COMMIT);
    const edited = await committing;
    if (result.alerts.length > 0) onAlerts(result.alerts, ids.length);
    const editTargets = edited.map((channelId) => ({ channelId }));
    if (editTargets.length > 0) onAlerts(editTargets, 0);
    finish(ids, result.quarantined.length);
    return ids.length;
  }

  /** Quarantines a delivery that cannot be looked up or stored, so that it does not hold up the others. */
  async function quarantine(id: number, error: unknown): Promise<number> {
    const answeredAt = ackedAt(id);
    if (answeredAt === undefined) return 0;
    log.error({ err: error, inbox: id }, 'routing failed: delivery quarantined');
    await store.routing.commit(quarantineOne(id, failureReason(error), answeredAt, now()));
    finish([id], 1);
    return 1;
  }

  function finish(ids: number[], quarantined: number): void {
    buffer.remove(ids);
    onRouted({ ids, quarantined });
  }

  return {
    /** There may be something to route: these were stored just now, others may wait in the inbox. */
    wake(stored: readonly InboxRow[] = []): void {
      buffer.add(stored);
      wake();
    },
    async close(): Promise<void> {
      isClosing = true;
      clearTimeout(retryTimer);
      await running;
    },
  };
}
