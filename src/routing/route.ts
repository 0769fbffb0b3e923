import type { AlertTarget } from '../domain/alert.ts';
import type { InboxRow } from '../domain/inbox.ts';
import { isPassing } from '../errors.ts';
import { type DecideOptions, type Delivered, decide, nothing, understand } from './decide.ts';
import { createInboxBuffer } from './inbox-buffer.ts';

/** Deliveries that share a commit at the most: with more each costs the disk less, but holds the event loop for longer. */
const MOST_IN_COMMIT = 400;
/** Pause after a failure that may pass: a locked file, a full disk. */
const PAUSE_MS = 500;

/** What the router needs, and whom it tells. */
export interface RouterOptions extends DecideOptions {
  /** Called after each commit. */
  onRouted(result: { ids: number[]; quarantined: number }): void;
  /** So many events gave channels something new to tell. */
  onLines(lines: readonly AlertTarget[], events: number): void;
}

/** Turns stored deliveries into lines for channels, in the order in which they came, some of them in each commit. */
export function startRouter(options: RouterOptions) {
  const { store, log, now, outcome, onRouted, onLines } = options;
  const front = createInboxBuffer(store, understand);
  /** The oldest delivery, while its answer is still on its way: nothing can be routed before that has ended. */
  let unanswered: number | null = null;
  let wanted = false;
  let closing = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (wanted && !closing) {
      wanted = false;
      try {
        const items = await front.next(MOST_IN_COMMIT);
        const oldest = items[0]?.row.id;
        if (oldest === undefined || (oldest === unanswered && outcome(oldest) === undefined)) continue;
        if ((await routeItems(items)) > 0) wanted = true;
        else unanswered = oldest;
      } catch (error) {
        if (closing) return;
        log.error({ err: error }, 'routing paused');
        // One retry, however often it was nudged: retries that add up would fill a full disk with their log.
        clearTimeout(timer);
        timer = setTimeout(nudge, PAUSE_MS);
        return;
      }
    }
  }

  /** Routes those of the items that can be decided; gives how many. */
  async function routeItems(items: Delivered[]): Promise<number> {
    try {
      return await routeTogether(items);
    } catch (error) {
      if (isPassing(error)) throw error;
      if (items.length === 1) return setAside(items[0]!.row.id, error);
    }
    let routed = 0;
    for (const item of items) {
      if (outcome(item.row.id) === undefined) break;
      routed += await routeItems([item]);
    }
    return routed;
  }

  async function routeTogether(items: Delivered[]): Promise<number> {
    const routed = await decide(items, options);
    const ids = [...routed.done, ...routed.quarantined.map(({ id }) => id)];
    if (ids.length === 0) return 0;
    const committing = store.routing.commit(routed);
    // The channels are told before the commit has ended: the store does what it is asked for in order.
    if (routed.alerts.length > 0) onLines(routed.alerts, ids.length);
    front.prepare(ids.length, MOST_IN_COMMIT);
    const edited = await committing;
    const changed = edited.map((channelId) => ({ channelId }));
    if (changed.length > 0) onLines(changed, 0);
    done(ids, routed.quarantined.length);
    return ids.length;
  }

  /** One event that cannot be looked up or stored must not hold the others. */
  async function setAside(id: number, error: unknown): Promise<number> {
    const answeredAt = outcome(id);
    if (answeredAt === undefined) return 0;
    log.error({ err: error, inbox: id }, 'event set aside');
    const quarantined = [{ id, reason: `Routing failed: ${(error as Error).message}`, answeredAt }];
    await store.routing.commit({ ...nothing(now()), quarantined });
    done([id], 1);
    return 1;
  }

  function done(ids: number[], quarantined: number): void {
    front.done(ids);
    onRouted({ ids, quarantined });
  }

  function nudge(): void {
    wanted = true;
    if (running || closing) return;
    running = run().finally(() => {
      running = null;
      if (wanted && !closing) nudge();
    });
  }

  return {
    /** There may be something to route: these were stored just now, others may wait in the inbox. */
    nudge(stored: readonly InboxRow[] = []): void {
      front.stored(stored);
      nudge();
    },
    async close(): Promise<void> {
      closing = true;
      clearTimeout(timer);
      await running;
    },
  };
}
