import type { Logger } from 'pino';
import { parseEvent } from '../domain/event.ts';
import { judge, type Receipt } from '../domain/identity.ts';
import type { Mark } from '../domain/mark.ts';
import { matchTransfer } from '../domain/match.ts';
import { dueOf } from '../domain/rhythm.ts';
import type { Watcher } from '../domain/subscription.ts';
import { deliveryKey, transferKey } from '../domain/transfer.ts';
import { isPassing } from '../errors.ts';
import type { InboxRow } from '../store/inbox.ts';
import type { NewAlert, Routed, Sighting } from '../store/routing.ts';
import { createFront } from './front.ts';
import { type Item, type Known, lookUp, type Sources } from './known.ts';
import { learnDealing, lookAlikes, marksFor, tokenMarks } from './marks.ts';

/** Deliveries that are committed as one: more share the pages that they change, and keep the event loop for longer. */
const BATCH = 400;
/** Pause after a failure that may pass: a locked file, a full disk. */
const PAUSE_MS = 500;

/** Left blocks of a transfer that are remembered. */
const LEFT_MOST = 8;

/** What the router needs. `outcome` tells whether a delivery's 200 got to its end, `undefined` while it is on the way. */
export interface RouterOptions extends Sources {
  now(): number;
  log: Logger;
  outcome(id: number): number | null | undefined;
  /** Called after each commit. */
  onRouted(result: { ids: number[]; quarantined: number; events: number }): void;
  /** These channels have something new, named once for each line, after so many events; the store knows of it. */
  onLines(channels: string[], events: number): void;
}

/** Turns stored deliveries into lines for channels, in the order in which they came, a batch a transaction. */
export function startRouter(options: RouterOptions) {
  const { store, log, now, outcome, onRouted, onLines } = options;
  const front = createFront(store, readItem);
  /** The oldest delivery when nothing could be routed because its answer was on the way: not to be looked up again before. */
  let unanswered: number | null = null;
  let wanted = false;
  let closing = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (wanted && !closing) {
      wanted = false;
      try {
        const items = await front.next(BATCH);
        const oldest = items[0]?.row.id;
        if (oldest === undefined || (oldest === unanswered && outcome(oldest) === undefined)) continue;
        if ((await routeItems(items)) > 0) wanted = true;
        else unanswered = oldest;
      } catch (error) {
        if (closing) return;
        log.error({ err: error }, 'routing paused');
        timer = setTimeout(nudge, PAUSE_MS);
        return;
      }
    }
  }

  /** Gives how many were routed: those from the front whose answer is over, one way or the other. */
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
    const routed = await routeBatch(items, options);
    const ids = [...routed.done, ...routed.quarantined.map(({ id }) => id)];
    if (ids.length === 0) return 0;
    const committing = store.routing.commit(routed);
    // Nobody waits for the commit: the store does what it is asked for in order.
    if (routed.alerts.length > 0)
      onLines(
        routed.alerts.map(({ channelId }) => channelId),
        ids.length,
      );
    front.prepare(ids.length, BATCH);
    const edited = await committing;
    if (edited.length > 0) onLines(edited, 0);
    done(ids, routed.quarantined.length);
    return ids.length;
  }

  /** One event that cannot be looked up or stored must not hold the others. */
  async function setAside(id: number, error: unknown): Promise<number> {
    if (outcome(id) === undefined) return 0;
    log.error({ err: error, inbox: id }, 'event set aside');
    const quarantined = [{ id, reason: `Routing failed: ${(error as Error).message}` }];
    await store.routing.commit({ ...nothing(now()), quarantined });
    done([id], 1);
    return 1;
  }

  function done(ids: number[], quarantined: number): void {
    front.done(ids);
    onRouted({ ids, quarantined, events: ids.length });
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

const nothing = (now: number): Routed => ({
  done: [],
  transfers: [],
  deliveries: [],
  alerts: [],
  decisions: [],
  quarantined: [],
  changed: [],
  learned: { catalog: [], dealings: [], nativeSymbol: null, heads: [] },
  now,
});

/**
 * Decides about a batch, as far from its front as answers are over and the store told what it knows; changes nothing
 * itself. How an answer ended matters only after the look-up, which therefore does not wait for it.
 */
async function routeBatch(items: Delivered[], options: RouterOptions): Promise<Routed> {
  const { log, outcome } = options;
  const routed = nothing(options.now());
  const asked = items.filter((item) => 'event' in item);
  const { items: answered, known, learned } = await lookUp(asked, options, routed.now);
  const unknown = asked[answered.length];
  routed.learned = learned;
  const changed = { transfers: new Set<string>(), deliveries: new Set<string>(), lines: new Set<string>() };
  for (const item of items) {
    if (item === unknown) break;
    const { id, receivedAt } = item.row;
    const answeredAt = outcome(id);
    if (answeredAt === undefined) break;
    if (!('event' in item)) {
      routed.quarantined.push({ id, reason: item.reason });
      log.warn({ inbox: id, reason: item.reason }, 'delivery quarantined');
      continue;
    }
    const lists = [routed.alerts, routed.decisions, routed.learned.dealings];
    const lengths = lists.map(({ length }) => length);
    try {
      routeEvent(item, { receivedAt, answeredAt }, known, routed, changed);
      routed.done.push(id);
    } catch (error) {
      // It must leave no trace, or its replay would be taken for a repeat.
      for (const [index, length] of lengths.entries()) lists[index]!.length = length;
      log.error({ err: error, inbox: id }, 'event set aside');
      routed.quarantined.push({ id, reason: `Routing failed: ${(error as Error).message}` });
    }
  }
  routed.transfers = [...changed.transfers].map((key) => {
    const { transfer, ...seen } = known.transfers.get(key)!;
    return { ...seen, txHash: transfer.txHash, data: JSON.stringify(transfer) };
  });
  routed.deliveries = [...changed.deliveries].map((key) => known.deliveries.get(key)!);
  routed.changed = [...changed.lines];
  return routed;
}

/** A delivery as the router takes it up: understood, or why it cannot be. */
type Delivered = Item | { row: InboxRow; reason: string };

function readItem(row: InboxRow): Delivered {
  const parsed = parseEvent(row.body);
  if (!parsed.ok) return { row, reason: parsed.reason };
  const { event } = parsed;
  const key = transferKey(row.scope, event.transfer);
  return { row, event, keys: { transfer: key, delivery: deliveryKey(key, event) } };
}

function routeEvent(
  { row, event, keys }: Item,
  receipt: Receipt,
  known: Known,
  routed: Routed,
  changed: { transfers: Set<string>; deliveries: Set<string>; lines: Set<string> },
): void {
  const seen = known.transfers.get(keys.transfer);
  const { verdict, delivery } = judge(known.deliveries.get(keys.delivery), seen !== undefined, keys, receipt);
  const sighting = seen ? undefined : known.sightings.get(keys.transfer);
  // Before anything is noted, because this may fail.
  if (sighting) tell(sighting, { row, event, keys }, known, routed);
  const { projectId, addressType, direction } = event;
  known.deliveries.set(keys.delivery, { ...delivery, projectId, addressType, direction, lastAt: row.receivedAt });
  changed.deliveries.add(keys.delivery);
  changed.transfers.add(keys.transfer);

  const { transfer } = event;
  if (!seen) {
    known.transfers.set(keys.transfer, {
      key: keys.transfer,
      scope: row.scope,
      seenAt: row.receivedAt,
      count: 1,
      bodies: 1,
      reorganised: false,
      transfer,
    });
    return;
  }
  const { blockHash, blockNumber } = seen.transfer;
  const { left = [] } = seen.transfer;
  // What comes again tells of the block of its time, which may be left behind by now; so does a twin of it.
  const named = verdict === 'twin' && transfer.blockHash !== blockHash ? transfer.blockHash : null;
  const placed = named !== null && !left.includes(named);
  const moved = placed && blockHash !== null;
  const count = Math.max(seen.count, delivery.count);
  if (moved || count > seen.count) changed.lines.add(keys.transfer);
  known.transfers.set(keys.transfer, {
    ...seen,
    bodies: seen.bodies + 1,
    count,
    reorganised: seen.reorganised || moved,
    transfer: placed
      ? {
          ...seen.transfer,
          blockHash: named,
          blockNumber: moved ? transfer.blockNumber : (blockNumber ?? transfer.blockNumber),
          ...(moved && { left: [...left, blockHash].slice(-LEFT_MOST) }),
        }
      : seen.transfer,
  });
}

/** One line for each channel in which a subscription matches, and a recorded reason for every one that does not. */
function tell({ watchers, lateMs }: Sighting, { row, event, keys }: Item, known: Known, routed: Routed): void {
  const { suspicion } = known;
  const { transfer } = event;
  const at = row.receivedAt;
  const ofToken = tokenMarks(transfer, suspicion);
  const late: Mark[] = lateMs === null ? [] : [{ kind: 'late', ms: lateMs }];
  const told = new Map<string, { alert: Omit<NewAlert, 'hold' | 'dueAt'>; matched: Watcher[] }>();
  for (const subscription of watchers) {
    const match = matchTransfer(subscription, transfer, known.context);
    if (match.outcome === 'unrelated') continue;
    const alike = lookAlikes(subscription, transfer, suspicion);
    const dealing = learnDealing(subscription, transfer, [...ofToken, ...alike], suspicion, at);
    if (dealing) routed.learned.dealings.push(dealing);
    const { guildId, channelId, id, address } = subscription;
    const outcome = match.outcome === 'matched' ? 'matched' : match.reason;
    const of = { transferKey: keys.transfer, guildId, channelId };
    routed.decisions.push({ ...of, subscription: id, address, outcome, at });
    if (match.outcome === 'hidden') continue;
    const { alert, matched } = told.get(channelId) ?? { alert: { ...of, matches: [], marks: [] }, matched: [] };
    alert.matches.push({ subscription: id, perspective: match.perspective });
    matched.push(subscription);
    const marks = [...alert.marks, ...alike, ...marksFor(subscription, transfer, ofToken), ...late];
    alert.marks = [...new Map(marks.map((mark) => [JSON.stringify(mark), mark])).values()];
    told.set(channelId, { alert, matched });
  }
  for (const { alert, matched } of told.values()) {
    const due = dueOf(matched, known.timezones.get(alert.guildId) ?? null, routed.now);
    routed.alerts.push({ ...alert, ...due });
  }
}
