import type { Logger } from 'pino';
import type { DeliverySchedule, NewAlert, Warning } from '../domain/alert.ts';
import type { Clock } from '../domain/clock.ts';
import { isCompared } from '../domain/completeness.ts';
import { parseEvent } from '../domain/event.ts';
import { judge, type SeenTransfer, type Verdict } from '../domain/identity.ts';
import { type InboxRow, OTHER_CHAIN } from '../domain/inbox.ts';
import { isKnownAsset, matchTransfer, mayMention, passesHolds } from '../domain/match.ts';
import {
  type Decision,
  latenessOf,
  type RoutingResult,
  type StoredDelivery,
  type WatchedTransfer,
} from '../domain/routing.ts';
import { type Counterparty, distinct } from '../domain/scam.ts';
import { dueOf, isQuiet } from '../domain/schedule.ts';
import { type ActivityStats, afterEvent, type Watcher } from '../domain/subscription.ts';
import { deliveryKey, type Transfer, transferKey } from '../domain/transfer.ts';
import {
  type ContextOptions,
  matchContext,
  networkOf,
  type ParsedDelivery,
  type RoutingState,
  readContext,
} from './context.ts';
import { addCounterparty, counterpartyToLearn, lookAlikes, type Marker, tokenWarnings, warningsFor } from './scam.ts';

/** How many earlier blocks of a reorganized transfer are remembered. */
const MAX_LEFT_BLOCKS = 8;
const MAX_CHANNELS = 20;

export interface DecideOptions extends ContextOptions {
  markRepeat: Marker;
  clock: Pick<Clock, 'now'>;
  log: Logger;
}

export type ParsedRow = ParsedDelivery | { row: InboxRow; reason: string };

export function parseRow(row: InboxRow): ParsedRow {
  const parsed = parseEvent(row.body);
  if (!parsed.ok) return { row, reason: parsed.reason };
  const { event } = parsed;
  const key = transferKey(row.scope, event.transfer);
  const isFound = row.identity?.minedAt !== undefined;
  return { row, isFound, event, keys: { transfer: key, delivery: deliveryKey(key, event) } };
}

interface EventDecision extends Matches {
  verdict: Verdict;
  transfer: SeenTransfer;
  delivery: StoredDelivery;
  /** Sent messages that show the transfer must change. */
  isEdit: boolean;
}

interface Matches {
  alerts: NewAlert[];
  decisions: Decision[];
  counterparties: Counterparty[];
  isWorthless: boolean;
  /** No sign that the address is in use: the catalog does not list the token. */
  isDust: boolean;
}

const AT_ANY_TIME: DeliverySchedule = { digest: null, quiet: null };

const NOTHING: Matches = { alerts: [], decisions: [], counterparties: [], isWorthless: false, isDust: false };

type State = RoutingState & Pick<DecideOptions, 'networks' | 'markRepeat'>;

/** Stores nothing itself. Stops at the first delivery that the context does not cover: the rest comes again. */
export async function decide(
  items: ParsedRow[],
  { store, networks, markRepeat, clock, log }: DecideOptions,
): Promise<{ result: RoutingResult; logStored(): void }> {
  const now = clock.now();
  const parsed = items.filter((item) => 'event' in item);
  const { covered, state: read, learned } = await readContext(parsed, { store, networks }, now);
  const state = { ...read, networks, markRepeat };
  const result = { ...resultOf(now), learned };
  const transfers = new Map<string, SeenTransfer>();
  const deliveries = new Map<string, StoredDelivery>();
  const stats = new Map<number, ActivityStats>();
  const concerned = new Set<number>();
  const changed = new Set<string>();
  const decided: { row: InboxRow; decision: EventDecision | Refusal }[] = [];
  for (const item of items) {
    if (item === parsed[covered]) break;
    const { row } = item;
    const decision = decideOrRefuse(item, state);
    decided.push({ row, decision });
    if ('reason' in decision) {
      result.quarantined.push({ id: row.id, reason: decision.reason });
      continue;
    }
    const { transfer, delivery, counterparties, alerts, decisions } = decision;
    // The following deliveries are decided as if this were stored.
    state.transfers.set(transfer.key, transfer);
    state.deliveries.set(delivery.key, delivery);
    for (const counterparty of counterparties) addCounterparty(state.signals, counterparty);
    for (const { subscription, at } of decisions) {
      concerned.add(subscription);
      // Dust must neither end a silence nor make an address look busy.
      if (!decision.isDust)
        stats.set(subscription, afterEvent(stats.get(subscription) ?? state.stats.get(subscription), at));
    }
    result.done.push(row.id);
    transfers.set(transfer.key, transfer);
    deliveries.set(delivery.key, delivery);
    result.alerts.push(...alerts);
    result.decisions.push(...decisions);
    learned.counterparties.push(...counterparties);
    if (decision.isEdit) changed.add(transfer.key);
  }
  return {
    result: {
      ...result,
      transfers: [...transfers.values()],
      deliveries: [...deliveries.values()],
      concerned: [...concerned],
      stats: [...stats].map(([subscription, after]) => ({ subscription, ...after })),
      changed: [...changed],
    },
    logStored() {
      for (const { row, decision } of decided) logDecision(log, row, decision, now);
    },
  };
}

const resultOf = (now: number): RoutingResult => ({
  done: [],
  transfers: [],
  deliveries: [],
  alerts: [],
  decisions: [],
  concerned: [],
  stats: [],
  quarantined: [],
  changed: [],
  learned: { catalog: [], counterparties: [], nativeSymbols: [], heads: [] },
  now,
});

export const quarantineOne = (id: number, error: unknown, now: number): RoutingResult => ({
  ...resultOf(now),
  quarantined: [{ id, reason: failureReason(error) }],
});

const failureReason = (error: unknown): string => `Routing failed: ${(error as Error).message}`;

interface Refusal {
  reason: string;
  error?: unknown;
}

function decideOrRefuse(item: ParsedRow, state: State): EventDecision | Refusal {
  if (!('event' in item)) return { reason: item.reason };
  const { chainId } = state.networks.get(networkOf(item.row, state)) ?? {};
  // Decimal, or hex as nodes write it; other text names no chain.
  const named = Number(item.row.identity?.chainId ?? 0);
  if (named && chainId && named !== chainId)
    return { reason: `${OTHER_CHAIN} ${named}, and this URL is for chain ${chainId}` };
  try {
    return decideEvent(item, state);
  } catch (error) {
    return { reason: failureReason(error), error };
  }
}

function decideEvent(item: ParsedDelivery, state: State): EventDecision {
  const { row, event, keys } = item;
  const { projectId, addressType, direction } = event;
  const network = networkOf(row, state);
  const seen = state.transfers.get(keys.transfer);
  const { verdict, delivery: judged } = judge(state.deliveries.get(keys.delivery), seen !== undefined, keys, row);
  const delivery = { ...judged, projectId, addressType, direction, lastAt: row.receivedAt };
  if (seen) {
    const progress = item.isFound ? undefined : state.compared.get(network);
    const isProven = (block: number | null) => progress !== undefined && block !== null && isCompared(progress, block);
    const transfer = seenAgain(seen, event.transfer, verdict, delivery.count, isProven);
    const isEdit = transfer.transfer.leftBlocks !== seen.transfer.leftBlocks || transfer.count > seen.count;
    return { verdict, transfer, delivery, isEdit, ...NOTHING };
  }
  const watched = state.watched.get(keys.transfer);
  const matches = watched ? decideMatches(watched, item, network, state) : NOTHING;
  const transfer: SeenTransfer = {
    id: null,
    key: keys.transfer,
    scope: row.scope,
    network,
    seenAt: row.receivedAt,
    count: 1,
    reorganized: false,
    ...(row.identity?.minedAt !== undefined && { minedAt: row.identity.minedAt }),
    isWorthless: matches.isWorthless,
    transfer: event.transfer,
  };
  return { verdict, transfer, delivery, isEdit: false, ...matches };
}

/** `isProven`: whether the block was compared with the chain, which knows more than a delivery. */
function seenAgain(
  seen: SeenTransfer,
  transfer: Transfer,
  verdict: Verdict,
  count: number,
  isProven: (block: number | null) => boolean,
): SeenTransfer {
  const { blockHash, blockNumber, leftBlocks = [], settled } = seen.transfer;
  if (isProven(blockNumber) && (settled !== 0 || isProven(transfer.blockNumber))) return seen;
  // A repeat names the block of its first time, which the chain may have left since. So may a twin of such a repeat.
  const newHash = verdict === 'twin' && transfer.blockHash !== blockHash ? transfer.blockHash : null;
  const isPlaced = newHash !== null && !leftBlocks.includes(newHash);
  const isMoved = isPlaced && blockHash !== null;
  return {
    ...seen,
    // What the settled chain has is not raised by a delivery, unless that is of another block.
    count: isPlaced ? Math.max(1, seen.count, count) : (settled ?? Math.max(seen.count, count)),
    reorganized: seen.reorganized || isMoved,
    transfer: isPlaced
      ? {
          ...withoutChainFacts(seen.transfer),
          blockHash: newHash,
          blockNumber: isMoved ? transfer.blockNumber : (blockNumber ?? transfer.blockNumber),
          ...(isMoved && { leftBlocks: [...leftBlocks, blockHash].slice(-MAX_LEFT_BLOCKS) }),
        }
      : seen.transfer,
  };
}

/** Drops the facts that were read from the chain: they describe the transfer's previous block. */
const withoutChainFacts = ({
  settled: _,
  balances: _balances,
  ...transfer
}: SeenTransfer['transfer']): SeenTransfer['transfer'] => transfer;

/** One alert per channel in which a subscription matches, and one recorded decision per subscription. */
function decideMatches(
  { watchers, passedAt }: WatchedTransfer,
  item: ParsedDelivery,
  network: number,
  state: State,
): Matches {
  const { row, event, keys } = item;
  const { transfer } = event;
  const { timezones, signals, now } = state;
  const context = matchContext(network, state);
  const at = row.receivedAt;
  const ofToken = tokenWarnings(network, transfer, signals);
  const ofDelivery = deliveryWarnings(passedAt, item, state);
  const decisions: Decision[] = [];
  let isWorthless = true;
  const learned = new Map<string, Counterparty>();
  const byChannel = new Map<
    string,
    { alert: Omit<NewAlert, 'hold' | 'dueAt'>; of: { isHeld: boolean; subscription: Watcher }[] }
  >();
  const payers = new Set(watchers.flatMap(({ guildId, address }) => (address === transfer.from ? guildId : [])));
  for (const subscription of watchers) {
    const match = matchTransfer(subscription, transfer, context, payers.has(subscription.guildId));
    if (match.outcome === 'unrelated') continue;
    const { guildId, channelId, id, address } = subscription;
    const alike = lookAlikes(subscription, transfer, signals);
    const isKnownToken = isKnownAsset(subscription, transfer, context);
    isWorthless &&= !isKnownToken;
    const warned = [...ofToken, ...alike];
    const counterparty = counterpartyToLearn(subscription, transfer, { warnings: warned, isKnownToken, at }, signals);
    // An address that is watched in several channels has the same counterparty in each.
    if (counterparty) learned.set(`${guildId} ${address}`, counterparty);
    const of = { transferKey: keys.transfer, guildId, channelId };
    const outcome = match.outcome === 'matched' ? 'matched' : match.reason;
    decisions.push({ ...of, subscription: id, address, outcome, at });
    if (match.outcome === 'hidden') continue;
    const found = byChannel.get(channelId) ?? {
      alert: { ...of, inboxId: row.id, matches: [], warnings: [], isSignificant: false },
      of: [],
    };
    byChannel.set(channelId, found);
    const { perspective, isKnown, isSignificant } = match;
    found.alert.matches.push({
      subscription: id,
      perspective,
      isKnown,
      mayMention: mayMention(subscription, transfer, isSignificant, context),
    });
    found.alert.isSignificant ||= isSignificant;
    found.of.push({ isHeld: !passesHolds({ subscription, perspective, isSignificant }), subscription });
    const warnings = [...alike, ...warningsFor(subscription, transfer, ofToken), ...ofDelivery];
    found.alert.warnings = distinct([...found.alert.warnings, ...warnings]);
  }
  const alerts: NewAlert[] = [];
  for (const { alert, of } of byChannel.values()) {
    const timezone = timezones.get(alert.guildId)?.timezone ?? null;
    const schedules = of.map(({ isHeld, subscription }) => (isHeld ? subscription : AT_ANY_TIME));
    const due = dueOf(schedules, timezone, now);
    const postedAt = due.hold === null ? now : due.dueAt;
    for (const [index, match] of alert.matches.entries()) {
      // Even an alert that passes quiet hours pings nobody in them.
      match.mayMention &&= !isQuiet(of[index]!.subscription, timezone, postedAt);
    }
    // What leaves for a look-alike is always a card: a stranger who warns of an address with dust first costs it nothing.
    if (!alert.isSignificant)
      alert.warnings = alert.warnings.map((warning) =>
        state.markRepeat(alert.channelId, network, warning, row.id, now),
      );
    alerts.push({ ...alert, ...due });
  }
  isWorthless &&= decisions.length > 0;
  const isDust = isWorthless && transfer.token !== null && context.cataloged(transfer.token) === false;
  return { alerts, decisions, counterparties: [...learned.values()], isWorthless, isDust };
}

function deliveryWarnings(passedAt: number[], { row, event }: ParsedDelivery, { scopes }: State): Warning[] {
  const { projectId } = event;
  const expected = scopes.get(row.scope)?.projectId ?? null;
  const { minedAt } = row.identity ?? {};
  if (minedAt !== undefined) return [{ kind: 'found', ms: Math.max(0, row.receivedAt - minedAt) }];
  const lateMs = latenessOf(passedAt, row.receivedAt);
  const isOther = projectId !== null && expected !== null && projectId !== expected;
  return [
    ...(lateMs === null ? [] : [{ kind: 'late' as const, ms: lateMs }]),
    ...(isOther ? [{ kind: 'other-project' as const, projectId }] : []),
  ];
}

/** `inbox` is the number by which the log line of the message names the delivery again. */
function logDecision(log: Logger, row: InboxRow, decision: EventDecision | Refusal, now: number): void {
  if ('reason' in decision) {
    const { reason, error } = decision;
    if (error === undefined) log.warn({ inbox: row.id, reason }, 'delivery quarantined');
    else log.error({ err: error, inbox: row.id }, 'routing failed: delivery quarantined');
    return;
  }
  const { alerts, decisions, transfer, verdict, isEdit } = decision;
  const level = alerts.length > 0 || isEdit ? 'info' : 'debug';
  if (!log.isLevelEnabled(level)) return;
  const hidden: Record<string, number> = {};
  for (const { outcome } of decisions) if (outcome !== 'matched') hidden[outcome] = (hidden[outcome] ?? 0) + 1;
  const line = {
    inbox: row.id,
    scope: row.scope,
    tx: transfer.transfer.txHash,
    verdict,
    ...(transfer.count > 1 && { count: transfer.count }),
    alerts: alerts.length,
    channels: alerts.slice(0, MAX_CHANNELS).map(({ channelId }) => channelId),
    hidden,
    ms: now - row.receivedAt,
  };
  log[level](line, 'routed');
}
