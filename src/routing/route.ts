import { setTimeout as sleep } from 'node:timers/promises';
import type { AlertTarget } from '../domain/alert.ts';
import type { Clock } from '../domain/clock.ts';
import type { InboxRow } from '../domain/inbox.ts';
import { isDatabaseFault } from '../errors.ts';
import {
  type DecideOptions,
  decide,
  failureReason,
  parseDelivery,
  quarantineOne,
  type WaitingDelivery,
} from './decide.ts';
import { createInboxBuffer, type InboxBuffer } from './inbox-buffer.ts';
import type { Responses } from './responses.ts';

/** Most deliveries per commit: more would cost less disk time but block the event loop for longer. */
const MAX_IN_COMMIT = 400;
/**
 * While the receiver is busy, routing takes a fiftieth of the time: it waits this many times as long as its last commit
 * took.
 */
const YIELD_FACTOR = 49;
/** The shortest and the longest such wait, and how often it checks whether the receiver is still busy. */
const YIELD_MS = 250;
const MAX_YIELD_MS = 5_000;
const BUSY_CHECK_MS = 10;
/** Pause after a failure of the database's file, such as a full disk. */
const PAUSE_MS = 500;

/** A body that left the inbox. */
interface RoutedBody {
  scope: number;
  bytes: number;
}

/** Dependencies and callbacks of the router. The callbacks are called after each commit. */
export interface RouterOptions extends Omit<DecideOptions, 'ackedAt'> {
  /** Reads the inbox, and knows how the responses to its deliveries ended. */
  responses: Responses;
  /** These deliveries left the inbox; `quarantined` of them went to quarantine. */
  onRouted(result: { ids: number[]; bodies: RoutedBody[]; quarantined: number }): void;
  /** These channels have something to post, named once per alert, after this many events. */
  onAlerts(targets: readonly AlertTarget[], events: number): void;
  /** Sent messages must change in these channels. */
  onEdits(channelIds: readonly string[]): void;
  /** Channels that were not named have something to post: a commit was stored, although it failed. */
  onUnnamed(): void;
  /** Whether the receiver is so busy that routing should wait. */
  isReceiverBusy?(): boolean;
  after: Clock['after'];
  /** Other processes store deliveries, too. */
  isShared?: boolean;
}

/** Turns stored deliveries into alerts, oldest first, several per commit. */
export function startRouter(options: RouterOptions) {
  const { responses, log, after, isReceiverBusy = () => false } = options;
  const buffer = createInboxBuffer(responses, parseDelivery, options.isShared);
  const routeItems = createItemRouter(options, buffer);
  const pending = createPendingScopes(responses.ackedAt);
  let isWanted = false;
  /** What is being routed; after a failure, what may have been routed, although the commit failed. */
  let unsure: readonly WaitingDelivery[] = [];
  /** How long the last commit took, with what led to it. */
  let tookMs = 0;
  let isClosing = false;
  let cancelRetry = (): void => undefined;
  let running: Promise<void> | null = null;

  function wake(): void {
    isWanted = true;
    if (running || isClosing) return;
    running = run().finally(() => {
      running = null;
      if (isWanted && !isClosing) wake();
    });
  }

  /** Receiving has priority; the inbox is already on disk. In real time, because the load is real. */
  async function yieldToReceiver(): Promise<void> {
    const until = performance.now() + Math.min(MAX_YIELD_MS, Math.max(YIELD_MS, tookMs * YIELD_FACTOR));
    while (isReceiverBusy() && !isClosing && performance.now() < until) await sleep(BUSY_CHECK_MS);
  }

  async function next(): Promise<WaitingDelivery[]> {
    const items = await buffer.next(MAX_IN_COMMIT);
    if (unsure.some(({ row }) => !buffer.has(row.id))) options.onUnnamed();
    unsure = [];
    return pending.without(items);
  }

  async function run(): Promise<void> {
    while (isWanted && !isClosing) {
      isWanted = false;
      try {
        await yieldToReceiver();
        const began = performance.now();
        const items = await next();
        if (items.length === 0) continue;
        unsure = items;
        const routed = await routeItems(items);
        unsure = [];
        tookMs = performance.now() - began;
        if (routed > 0) isWanted = true;
        pending.note(items);
      } catch (error) {
        if (isClosing) return;
        log.error({ err: error }, 'routing paused');
        // A commit whose response was lost may be stored, and an erasure takes deliveries out of the inbox.
        buffer.readAgain();
        // Only one retry, however often it was woken: retries that add up would fill the disk with log lines.
        cancelRetry();
        cancelRetry = after(PAUSE_MS, wake);
        return;
      }
    }
  }

  return {
    /** Routes these, which were stored just now, and what else waits in the inbox. */
    deliveriesStored(rows: readonly InboxRow[]): void {
      buffer.add(rows);
      wake();
    },
    /** Routes what waits in the inbox and can be routed now. */
    wake(): void {
      buffer.add([]);
      wake();
    },
    async close(): Promise<void> {
      isClosing = true;
      cancelRetry();
      await running;
    },
  };
}

/** Returns a function that routes those of the items that can be decided, and returns how many. */
function createItemRouter(options: RouterOptions, buffer: InboxBuffer<WaitingDelivery>) {
  const { store, log, now, responses, onRouted, onAlerts, onEdits } = options;
  const { ackedAt } = responses;

  async function routeItems(items: WaitingDelivery[]): Promise<number> {
    try {
      return await routeTogether(items);
    } catch (error) {
      if (isDatabaseFault(error)) throw error;
      if (items.length === 1) return quarantine(items[0]!.row.id, error);
    }
    let routed = 0;
    const pending = new Set<number>();
    for (const item of items) {
      if (ackedAt(item.row.id) === undefined) pending.add(item.row.scope);
      if (pending.has(item.row.scope)) continue;
      routed += await routeItems([item]);
    }
    return routed;
  }

  async function routeTogether(items: WaitingDelivery[]): Promise<number> {
    const { result, logOutcomes } = await decide(items, { ...options, ackedAt });
    const ids = [...result.done, ...result.quarantined.map(({ id }) => id)];
    if (ids.length === 0) return 0;
    const committing = store.routing.commit(result);
    buffer.parseAhead(ids.length, MAX_IN_COMMIT);
    const edited = await committing;
    logOutcomes();
    if (result.alerts.length > 0) onAlerts(result.alerts, ids.length);
    if (edited.length > 0) onEdits(edited);
    finish(ids, result.quarantined.length);
    return ids.length;
  }

  /** Quarantines a delivery that cannot be looked up or stored, so that it does not hold up the others. */
  async function quarantine(id: number, error: unknown): Promise<number> {
    const acked = ackedAt(id);
    if (acked === undefined) return 0;
    await store.routing.commit(quarantineOne(id, failureReason(error), acked, now()));
    log.error({ err: error, inbox: id }, 'routing failed: delivery quarantined');
    finish([id], 1);
    return 1;
  }

  function finish(ids: number[], quarantined: number): void {
    responses.forget(ids);
    onRouted({ ids, bodies: buffer.remove(ids), quarantined });
  }

  return routeItems;
}

/** Remembers the scopes that cannot be routed, because the response to their oldest delivery is pending. */
function createPendingScopes(ackedAt: Responses['ackedAt']) {
  let oldestIds: ReadonlySet<number> = new Set();
  const isPending = (id: number) => ackedAt(id) === undefined;
  return {
    /** Notes such scopes among these items, which are in order. */
    note(items: readonly WaitingDelivery[]): void {
      oldestIds = new Set(oldestOf(items).filter(isPending));
    },
    /** The items of all other scopes. */
    without(items: WaitingDelivery[]): WaitingDelivery[] {
      if (oldestIds.size === 0) return items;
      const waiting = new Set(
        items.filter(({ row }) => oldestIds.has(row.id) && isPending(row.id)).map(({ row }) => row.scope),
      );
      return items.filter(({ row }) => !waiting.has(row.scope));
    },
  };
}

/** The oldest delivery of each scope. */
function oldestOf(items: readonly WaitingDelivery[]): number[] {
  const oldest = new Map<number, number>();
  for (const { row } of items) if (!oldest.has(row.scope)) oldest.set(row.scope, row.id);
  return [...oldest.values()];
}
