import type { Logger } from 'pino';
import type { NewAlert } from '../domain/alert.ts';
import { parseEvent } from '../domain/event.ts';
import { judge, type Receipt, type SeenTransfer, type Verdict } from '../domain/identity.ts';
import type { InboxRow } from '../domain/inbox.ts';
import { matchTransfer } from '../domain/match.ts';
import type { RoutingResult, WatchedTransfer } from '../domain/routing.ts';
import { dueOf } from '../domain/schedule.ts';
import type { Watcher } from '../domain/subscription.ts';
import { deliveryKey, type Transfer, transferKey } from '../domain/transfer.ts';
import type { Warning } from '../domain/warning.ts';
import { type Item, lookUp, type RoutingState, type Sources } from './context.ts';
import { learnDealing, lookAlikes, tokenWarnings, warningsFor } from './scam-signals.ts';

/** How many of the blocks that a transfer was seen in, and that the chain has left, are remembered. */
const LEFT_MOST = 8;

/** What deciding needs. `outcome` tells when a delivery's 200 was sent to its end: null: never; undefined: it is still on its way. */
export interface DecideOptions extends Sources {
  now(): number;
  log: Logger;
  outcome(id: number): number | null | undefined;
}

/** A delivery that waits to be routed: read, or with the reason why it cannot be read. */
export type Delivered = Item | { row: InboxRow; reason: string };

/** Reads a stored delivery. */
export function understand(row: InboxRow): Delivered {
  const parsed = parseEvent(row.body);
  if (!parsed.ok) return { row, reason: parsed.reason };
  const { event } = parsed;
  const key = transferKey(row.scope, event.transfer);
  return { row, event, keys: { transfer: key, delivery: deliveryKey(key, event) } };
}

/** What is stored when nothing was decided. */
export const nothing = (now: number): RoutingResult => ({
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
 * Decides about deliveries, oldest first, and gives everything that is to be stored; stores nothing itself. It stops
 * before the first delivery whose answer is still on its way, and before the first about which the store was not asked
 * everything: what is left comes again. Only how an answer ended is needed late, so the look-up does not wait for it.
 */
export async function decide(items: Delivered[], options: DecideOptions): Promise<RoutingResult> {
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
    const ended = outcome(id);
    if (ended === undefined) break;
    const answeredAt = ended ?? item.row.answeredAt ?? null;
    if (!('event' in item)) {
      routed.quarantined.push({ id, reason: item.reason, answeredAt });
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
      routed.quarantined.push({ id, reason: `Routing failed: ${(error as Error).message}`, answeredAt });
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

/** Decides about one delivery, and notes what it changes. */
function routeEvent(
  item: Item,
  receipt: Receipt,
  known: RoutingState,
  routed: RoutingResult,
  changed: { transfers: Set<string>; deliveries: Set<string>; lines: Set<string> },
): void {
  const { row, event, keys } = item;
  const seen = known.transfers.get(keys.transfer);
  const { verdict, delivery } = judge(known.deliveries.get(keys.delivery), seen !== undefined, keys, receipt);
  const sighting = seen ? undefined : known.sightings.get(keys.transfer);
  // Before anything is noted, because this may fail.
  if (sighting) tell(sighting, item, known, routed);
  const { transfer, projectId, addressType, direction } = event;
  known.deliveries.set(keys.delivery, { ...delivery, projectId, addressType, direction, lastAt: row.receivedAt });
  changed.deliveries.add(keys.delivery);
  changed.transfers.add(keys.transfer);
  if (seen) {
    const after = seenAgain(seen, transfer, verdict, delivery.count);
    known.transfers.set(keys.transfer, after);
    const isMoved = after.transfer.left !== seen.transfer.left;
    if (isMoved || after.count > seen.count) changed.lines.add(keys.transfer);
    return;
  }
  known.transfers.set(keys.transfer, {
    id: null,
    key: keys.transfer,
    scope: row.scope,
    seenAt: row.receivedAt,
    count: 1,
    bodies: 1,
    reorganised: false,
    transfer,
  });
}

/** What is known of a transfer after another body told of it, which may name another block. */
function seenAgain(seen: SeenTransfer, transfer: Transfer, verdict: Verdict, count: number): SeenTransfer {
  const { blockHash, blockNumber, left = [] } = seen.transfer;
  // A repeat names the block of its first time, which the chain may have left since. So may a twin of such a repeat.
  const named = verdict === 'twin' && transfer.blockHash !== blockHash ? transfer.blockHash : null;
  const placed = named !== null && !left.includes(named);
  const moved = placed && blockHash !== null;
  return {
    ...seen,
    bodies: seen.bodies + 1,
    count: Math.max(seen.count, count),
    reorganised: seen.reorganised || moved,
    transfer: placed
      ? {
          ...seen.transfer,
          blockHash: named,
          blockNumber: moved ? transfer.blockNumber : (blockNumber ?? transfer.blockNumber),
          ...(moved && { left: [...left, blockHash].slice(-LEFT_MOST) }),
        }
      : seen.transfer,
  };
}

/** One line for each channel in which a subscription matches, and a recorded reason for every one that does not. */
function tell(
  { watchers, lateMs }: WatchedTransfer,
  { row, event, keys }: Item,
  known: RoutingState,
  routed: RoutingResult,
): void {
  const { signals } = known;
  const { transfer } = event;
  const at = row.receivedAt;
  const ofToken = tokenWarnings(transfer, signals);
  const late: Warning[] = lateMs === null ? [] : [{ kind: 'late', ms: lateMs }];
  const told = new Map<string, { alert: Omit<NewAlert, 'hold' | 'dueAt'>; matched: Watcher[] }>();
  for (const subscription of watchers) {
    const match = matchTransfer(subscription, transfer, known.context);
    if (match.outcome === 'unrelated') continue;
    const alike = lookAlikes(subscription, transfer, signals);
    const dealing = learnDealing(subscription, transfer, [...ofToken, ...alike], signals, at);
    if (dealing) routed.learned.dealings.push(dealing);
    const { guildId, channelId, id, address } = subscription;
    const outcome = match.outcome === 'matched' ? 'matched' : match.reason;
    const of = { transferKey: keys.transfer, guildId, channelId };
    routed.decisions.push({ ...of, subscription: id, address, outcome, at });
    if (match.outcome === 'hidden') continue;
    const { alert, matched } = told.get(channelId) ?? { alert: { ...of, matches: [], warnings: [] }, matched: [] };
    alert.matches.push({ subscription: id, perspective: match.perspective });
    matched.push(subscription);
    const warnings = [...alert.warnings, ...alike, ...warningsFor(subscription, transfer, ofToken), ...late];
    alert.warnings = [...new Map(warnings.map((mark) => [JSON.stringify(mark), mark])).values()];
    told.set(channelId, { alert, matched });
  }
  for (const { alert, matched } of told.values()) {
    const due = dueOf(matched, known.timezones.get(alert.guildId) ?? null, routed.now);
    routed.alerts.push({ ...alert, ...due });
  }
}
