import type { Logger } from 'pino';
import { type ActivityStats, afterEvent } from '../domain/activity-stats.ts';
import { parseEvent } from '../domain/event.ts';
import type { InboxRow } from '../domain/inbox.ts';
import type { Decision, Learned, RoutingResult, SubscriptionStats } from '../domain/routing.ts';
import { deliveryKey, transferKey } from '../domain/transfer.ts';
import { type ContextOptions, type ParsedDelivery, readContext } from './context.ts';
import { decideEvent, type EventDecision, remember } from './decide-event.ts';

/** What deciding needs. */
export interface DecideOptions extends ContextOptions {
  now(): number;
  log: Logger;
  /** When a delivery's 200 was sent to the end; null: never; undefined: its response is still pending. */
  ackedAt(id: number): number | null | undefined;
}

/** A delivery that waits to be routed: parsed, or with the reason why it cannot be parsed. */
export type WaitingDelivery = ParsedDelivery | { row: InboxRow; reason: string };

/** Parses a stored delivery. */
export function parseDelivery(row: InboxRow): WaitingDelivery {
  const parsed = parseEvent(row.body);
  if (!parsed.ok) return { row, reason: parsed.reason };
  const { event } = parsed;
  const key = transferKey(row.scope, event.transfer);
  return { row, event, keys: { transfer: key, delivery: deliveryKey(key, event) } };
}

type Outcome =
  | { status: 'decided'; row: InboxRow; id: number; decision: EventDecision }
  | { status: 'quarantined'; id: number; reason: string; ackedAt: number | null; error?: unknown };

/**
 * Decides about deliveries, oldest first, and returns everything that is to be stored; stores nothing itself. Leaves
 * out each scope from its first delivery on whose response is still pending, and stops at the first delivery that the
 * context does not cover: the rest comes again. The context is read before it is known how the responses ended.
 * `logOutcomes` logs a line for each delivery, for when the result is stored.
 */
export async function decide(
  items: WaitingDelivery[],
  options: DecideOptions,
): Promise<{ result: RoutingResult; logOutcomes(): void }> {
  const { log } = options;
  const now = options.now();
  const parsed = items.filter((item) => 'event' in item);
  const { covered, state, learned } = await readContext(parsed, options, now);
  const firstUncovered = parsed[covered];
  const outcomes: Outcome[] = [];
  const pending = new Set<number>();
  for (const item of items) {
    if (item === firstUncovered) break;
    const { id } = item.row;
    const acked = options.ackedAt(id);
    if (acked === undefined) pending.add(item.row.scope);
    if (acked === undefined || pending.has(item.row.scope)) continue;
    const ackedAt = acked ?? item.row.ackedAt;
    if (!('event' in item)) {
      outcomes.push({ status: 'quarantined', id, reason: item.reason, ackedAt });
      continue;
    }
    try {
      const decision = decideEvent(item, ackedAt, state);
      remember(state, decision);
      outcomes.push({ status: 'decided', row: item.row, id, decision });
    } catch (error) {
      outcomes.push({ status: 'quarantined', id, reason: failureReason(error), ackedAt, error });
    }
  }
  return {
    result: merge(outcomes, learned, state.stats, now),
    logOutcomes() {
      for (const outcome of outcomes) {
        if (outcome.status === 'decided') logRouted(log, outcome, now);
        else logQuarantined(log, outcome);
      }
    },
  };
}

function logQuarantined(log: Logger, { id, reason, error }: Extract<Outcome, { status: 'quarantined' }>): void {
  if (error === undefined) log.warn({ inbox: id, reason }, 'delivery quarantined');
  else log.error({ err: error, inbox: id }, 'routing failed: delivery quarantined');
}

/** Channels that a line of the log names. */
const MAX_CHANNELS = 20;

/** One line for what became of a delivery; `inbox` is the number by which the line of the message names it again. */
function logRouted(log: Logger, { row, decision }: Extract<Outcome, { status: 'decided' }>, now: number): void {
  const { alerts, decisions, transfer, verdict, isEdit } = decision;
  const level = alerts.length > 0 || isEdit ? 'info' : 'debug';
  if (!log.isLevelEnabled(level)) return;
  const hidden = Object.groupBy(
    decisions.filter(({ outcome }) => outcome !== 'matched'),
    ({ outcome }) => outcome,
  );
  const line = {
    inbox: row.id,
    scope: row.scope,
    tx: transfer.transfer.txHash,
    verdict,
    ...(transfer.count > 1 && { count: transfer.count }),
    alerts: alerts.length,
    channels: alerts.slice(0, MAX_CHANNELS).map(({ channelId }) => channelId),
    hidden: Object.fromEntries(Object.entries(hidden).map(([reason, of]) => [reason, of.length])),
    ms: now - row.receivedAt,
  };
  log[level](line, 'routed');
}

/** Why a delivery that made routing fail is quarantined. */
export const failureReason = (error: unknown): string => `Routing failed: ${(error as Error).message}`;

/** A result that only quarantines one delivery. */
export function quarantineOne(id: number, reason: string, ackedAt: number | null, now: number): RoutingResult {
  const learned = { catalog: [], counterparties: [], nativeSymbol: null, heads: [] };
  return merge([{ status: 'quarantined', id, reason, ackedAt }], learned, new Map(), now);
}

/** Merges decisions into one result; the last state of each transfer and delivery counts. */
function merge(
  outcomes: Outcome[],
  learned: Learned,
  statsBefore: ReadonlyMap<number, ActivityStats>,
  now: number,
): RoutingResult {
  const decided = outcomes.filter((outcome) => outcome.status === 'decided');
  const quarantined = outcomes.filter((outcome) => outcome.status === 'quarantined');
  const decisions = decided.map(({ decision }) => decision);
  const transfers = new Map(decisions.map(({ transfer }) => [transfer.key, transfer]));
  const deliveries = new Map(decisions.map(({ delivery }) => [delivery.key, delivery]));
  const matches = decisions.flatMap((decision) => decision.decisions);
  const edits = decisions.filter(({ isEdit }) => isEdit).map(({ transfer }) => transfer.key);
  return {
    done: decided.map(({ id }) => id),
    transfers: [...transfers.values()],
    deliveries: [...deliveries.values()],
    alerts: decisions.flatMap(({ alerts }) => alerts),
    decisions: matches,
    stats: statsAfter(statsBefore, matches),
    quarantined: quarantined.map(({ id, reason, ackedAt }) => ({ id, reason, ackedAt })),
    changed: [...new Set(edits)],
    learned: { ...learned, counterparties: decisions.flatMap(({ counterparties }) => counterparties) },
    now,
  };
}

/** The stats of every subscription that was decided about. */
function statsAfter(before: ReadonlyMap<number, ActivityStats>, decisions: Decision[]): SubscriptionStats[] {
  const stats = new Map<number, ActivityStats>();
  for (const { subscription, at } of decisions)
    stats.set(subscription, afterEvent(stats.get(subscription) ?? before.get(subscription), at));
  return [...stats].map(([subscription, after]) => ({ subscription, ...after }));
}
