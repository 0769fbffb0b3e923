import type { Logger } from 'pino';
import type { DeliverySchedule, NewAlert, Warning } from '../domain/alert.ts';
import { isCompared } from '../domain/completeness.ts';
import { parseEvent } from '../domain/event.ts';
import { judge, type SeenTransfer, type Verdict } from '../domain/identity.ts';
import { type InboxRow, OTHER_CHAIN } from '../domain/inbox.ts';
import { matchTransfer, passesHolds } from '../domain/match.ts';
import { FIRST_NETWORK } from '../domain/network.ts';
import {
  type Decision,
  type Learned,
  type LearnedCounterparty,
  latenessOf,
  type RoutingResult,
  type StoredDelivery,
  type SubscriptionStats,
  type WatchedTransfer,
} from '../domain/routing.ts';
import { dueOf, isQuiet } from '../domain/schedule.ts';
import { isKnownAsset, mayMention } from '../domain/significance.ts';
import { type ActivityStats, afterEvent } from '../domain/silence.ts';
import type { Watcher } from '../domain/subscription.ts';
import { deliveryKey, type Transfer, transferKey } from '../domain/transfer.ts';
import { type ContextOptions, isFound, type ParsedDelivery, type RoutingState, readContext } from './context.ts';
import { addCounterparty, counterpartyToLearn, lookAlikes, tokenWarnings, type Warned, warningsFor } from './scam.ts';

/** How many earlier blocks of a reorganized transfer are remembered. */
const MAX_LEFT_BLOCKS = 8;
const MAX_CHANNELS = 20;

export interface DecideOptions extends ContextOptions {
  warned: Warned;
  /** Milliseconds since 1970. */
  now(): number;
  log: Logger;
}

/** A delivery that waits to be routed: parsed, or with the reason why it cannot be parsed. */
export type ParsedRow = ParsedDelivery | { row: InboxRow; reason: string };

export function parseRow(row: InboxRow): ParsedRow {
  const parsed = parseEvent(row.body);
  if (!parsed.ok) return { row, reason: parsed.reason };
  const { event } = parsed;
  const key = transferKey(row.scope, event.transfer);
  return { row, event, keys: { transfer: key, delivery: deliveryKey(key, event) } };
}

interface EventDecision extends MatchDecision {
  transfer: SeenTransfer;
  delivery: StoredDelivery;
  verdict: Verdict;
  /** Sent messages that show the transfer must change. */
  isEdit: boolean;
}

/** The decisions of the subscriptions to a new transfer's addresses. */
interface MatchDecision {
  /** One per channel in which a subscription matches. */
  alerts: NewAlert[];
  /** One per subscription: matched, or why it hides the transfer. */
  decisions: Decision[];
  counterparties: LearnedCounterparty[];
  isWorthless: boolean;
  /** It is no sign that the address is in use: the catalog does not list the token. */
  isDust: boolean;
}

/** The schedule of what is never held. */
const AT_ANY_TIME: DeliverySchedule = { digest: null, quiet: null };

/** `mark`: see {@link Warned}. */
type Marking = RoutingState & Pick<ReturnType<Warned['begin']>, 'mark'>;

const NOTHING: MatchDecision = { alerts: [], decisions: [], counterparties: [], isWorthless: false, isDust: false };

type Outcome =
  | { status: 'decided'; row: InboxRow; id: number; decision: EventDecision }
  | { status: 'quarantined'; id: number; reason: string; error?: unknown };

/**
 * Decides about deliveries, oldest first, and returns everything that is to be stored; stores nothing itself. Stops at
 * the first delivery that the context does not cover: the rest comes again. `stored` is for when the result is stored: it
 * logs a line for each delivery and remembers what was warned of.
 */
export async function decide(
  items: ParsedRow[],
  options: DecideOptions,
): Promise<{ result: RoutingResult; stored(): void }> {
  const { log } = options;
  const now = options.now();
  const parsed = items.filter((item) => 'event' in item);
  const { covered, state, learned } = await readContext(parsed, options, now);
  const warned = options.warned.begin(now);
  const firstUncovered = parsed[covered];
  const outcomes = items
    .slice(0, firstUncovered && items.indexOf(firstUncovered))
    .map((item) => outcomeOf(item, { ...state, mark: warned.mark }));
  return {
    result: merge(outcomes, learned, state.stats, now),
    stored() {
      warned.keep();
      for (const outcome of outcomes) {
        if (outcome.status === 'decided') logRouted(log, outcome, now);
        else logQuarantined(log, outcome);
      }
    },
  };
}

/** Decides about one delivery, and adds the decision to the state for the following ones. */
function outcomeOf(item: ParsedRow, state: Marking): Outcome {
  const { row } = item;
  if (!('event' in item)) return { status: 'quarantined', id: row.id, reason: item.reason };
  const reason = otherChain(row, state.chains.get(networkOf(row, state)));
  if (reason !== null) return { status: 'quarantined', id: row.id, reason };
  try {
    const decision = decideEvent(item, state);
    state.transfers.set(decision.transfer.key, decision.transfer);
    state.deliveries.set(decision.delivery.key, decision.delivery);
    for (const counterparty of decision.counterparties)
      addCounterparty(state.signals, counterparty, { seenAt: counterparty.at, isPaid: counterparty.isPaid });
    return { status: 'decided', row, id: row.id, decision };
  } catch (error) {
    return { status: 'quarantined', id: row.id, reason: failureReason(error), error };
  }
}

/** Why a signed delivery does not belong to the network of its URL; null: it does, or nobody knows. */
function otherChain({ identity }: InboxRow, chainId: number | null | undefined): string | null {
  // Decimal, or hex as nodes write it; other text names no chain.
  const named = Number(identity?.chainId ?? 0);
  if (!named || !chainId || named === chainId) return null;
  return `${OTHER_CHAIN} ${named}, and this URL is for chain ${chainId}`;
}

/** Decides about one delivery; changes nothing. */
function decideEvent(item: ParsedDelivery, state: Marking): EventDecision {
  const { row, event, keys } = item;
  const { transfer, projectId, addressType, direction } = event;
  const seen = state.transfers.get(keys.transfer);
  const { verdict, delivery: judged } = judge(state.deliveries.get(keys.delivery), seen !== undefined, keys, row);
  const delivery = { ...judged, projectId, addressType, direction, lastAt: row.receivedAt };
  if (seen) {
    const progress = isFound(item) ? undefined : state.compared.get(networkOf(row, state));
    const isProven = (block: number | null) => progress !== undefined && block !== null && isCompared(progress, block);
    const after = seenAgain(seen, transfer, verdict, delivery.count, isProven);
    const isEdit = after.transfer.left !== seen.transfer.left || after.count > seen.count;
    return { transfer: after, delivery, verdict, isEdit, ...NOTHING };
  }
  const watched = state.watched.get(keys.transfer);
  const matches = watched ? decideMatches(watched, item, state) : NOTHING;
  return {
    transfer: firstSeen(item, networkOf(row, state), matches.isWorthless),
    delivery,
    verdict,
    isEdit: false,
    ...matches,
  };
}

/** Events of a project that is gone concern nobody. */
const networkOf = ({ scope }: InboxRow, { networks }: RoutingState) => networks.get(scope) ?? FIRST_NETWORK;

function firstSeen({ row, event, keys }: ParsedDelivery, network: number, isWorthless: boolean): SeenTransfer {
  return {
    id: null,
    key: keys.transfer,
    scope: row.scope,
    network,
    seenAt: row.receivedAt,
    count: 1,
    reorganized: false,
    ...(row.identity?.minedAt !== undefined && { minedAt: row.identity.minedAt }),
    isWorthless,
    transfer: event.transfer,
  };
}

/**
 * A transfer after another body reported it, which may name another block. `isProven`: whether the block was compared with
 * the chain, which knows more than a delivery.
 */
function seenAgain(
  seen: SeenTransfer,
  transfer: Transfer,
  verdict: Verdict,
  count: number,
  isProven: (block: number | null) => boolean,
): SeenTransfer {
  const { blockHash, blockNumber, left = [], settled } = seen.transfer;
  if (isProven(blockNumber) && (settled !== 0 || isProven(transfer.blockNumber))) return seen;
  // A repeat names the block of its first time, which the chain may have left since. So may a twin of such a repeat.
  const newHash = verdict === 'twin' && transfer.blockHash !== blockHash ? transfer.blockHash : null;
  const isPlaced = newHash !== null && !left.includes(newHash);
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
          ...(isMoved && { left: [...left, blockHash].slice(-MAX_LEFT_BLOCKS) }),
        }
      : seen.transfer,
  };
}

/** What was read from the chain is about the block that it was in before. */
const withoutChainFacts = ({
  settled: _,
  balances: _balances,
  ...transfer
}: SeenTransfer['transfer']): SeenTransfer['transfer'] => transfer;

/** One alert per channel in which a subscription matches, and one recorded decision per subscription. */
function decideMatches({ watchers, passedAt }: WatchedTransfer, item: ParsedDelivery, state: Marking): MatchDecision {
  const { row, event, keys } = item;
  const { transfer } = event;
  const { timezones, signals } = state;
  const network = networkOf(row, state);
  const context = state.contextOf(network);
  const at = row.receivedAt;
  const ofToken = tokenWarnings(network, transfer, signals);
  const ofDelivery = deliveryWarnings(passedAt, item, state);
  const decisions: Decision[] = [];
  let isWorthless = true;
  const learned = new Map<string, LearnedCounterparty>();
  const byChannel = new Map<
    string,
    { alert: Omit<NewAlert, 'hold' | 'dueAt'>; of: { isHeld: boolean; subscription: Watcher }[] }
  >();
  const payers = new Set(watchers.filter(({ address }) => address === transfer.from).map(({ guildId }) => guildId));
  for (const subscription of watchers) {
    const match = matchTransfer(subscription, transfer, context, payers.has(subscription.guildId));
    if (match.outcome === 'unrelated') continue;
    const { guildId, channelId, id, address } = subscription;
    const alike = lookAlikes(subscription, transfer, signals);
    const isKnownToken = isKnownAsset(subscription, transfer, context);
    isWorthless &&= !isKnownToken;
    const warned = [...ofToken, ...alike];
    const counterparty = counterpartyToLearn(subscription, transfer, { warnings: warned, isKnownToken, at }, signals);
    // An address that is watched in several channels has the same one in each.
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
  const alerts = [...byChannel.values()].map(({ alert, of }) => {
    const timezone = timezones.get(alert.guildId) ?? null;
    const due = dueOf(
      of.map(({ isHeld, subscription }) => (isHeld ? subscription : AT_ANY_TIME)),
      timezone,
      context.now,
    );
    const postedAt = due.hold === null ? context.now : due.dueAt;
    // Whatever lets it pass, it pings nobody who is in quiet hours then.
    const isAwake = (index: number) => !isQuiet(of[index]!.subscription, timezone, postedAt);
    return {
      ...alert,
      ...due,
      matches: alert.matches.map((match, index) => ({ ...match, mayMention: match.mayMention && isAwake(index) })),
      // What leaves for a look-alike is always a card: a stranger who warns of an address with dust first costs it nothing.
      warnings: alert.isSignificant ? alert.warnings : state.mark(alert.channelId, network, alert.warnings),
    };
  });
  isWorthless &&= decisions.length > 0;
  const isDust = isWorthless && transfer.token !== null && context.cataloged(transfer.token) === false;
  return { alerts, decisions, counterparties: [...learned.values()], isWorthless, isDust };
}

/** Warnings about how a transfer was delivered: late, or for another project. */
function deliveryWarnings(passedAt: number[], { row, event }: ParsedDelivery, { projects }: RoutingState): Warning[] {
  const { projectId } = event;
  const expected = projects.get(row.scope);
  const { minedAt } = row.identity ?? {};
  if (minedAt !== undefined) return [{ kind: 'found', ms: Math.max(0, row.receivedAt - minedAt) }];
  const lateMs = latenessOf(passedAt, row.receivedAt);
  const isOther = projectId !== null && expected !== undefined && projectId !== expected;
  return [
    ...(lateMs === null ? [] : [{ kind: 'late' as const, ms: lateMs }]),
    ...(isOther ? [{ kind: 'other-project' as const, projectId }] : []),
  ];
}

const distinct = (warnings: Warning[]): Warning[] => [
  ...new Map(warnings.map((warning) => [JSON.stringify(warning), warning])).values(),
];

function logQuarantined(log: Logger, { id, reason, error }: Extract<Outcome, { status: 'quarantined' }>): void {
  if (error === undefined) log.warn({ inbox: id, reason }, 'delivery quarantined');
  else log.error({ err: error, inbox: id }, 'routing failed: delivery quarantined');
}

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

export const failureReason = (error: unknown): string => `Routing failed: ${(error as Error).message}`;

export function quarantineOne(id: number, reason: string, now: number): RoutingResult {
  const learned = { catalog: [], counterparties: [], nativeSymbols: [], heads: [] };
  return merge([{ status: 'quarantined', id, reason }], learned, new Map(), now);
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
    concerned: [...new Set(matches.map(({ subscription }) => subscription))],
    // Dust must neither end a silence nor make an address look busy.
    stats: statsAfter(
      statsBefore,
      decisions.flatMap((decision) => (decision.isDust ? [] : decision.decisions)),
    ),
    quarantined: quarantined.map(({ id, reason }) => ({ id, reason })),
    changed: [...new Set(edits)],
    learned: { ...learned, counterparties: decisions.flatMap(({ counterparties }) => counterparties) },
    now,
  };
}

function statsAfter(before: ReadonlyMap<number, ActivityStats>, decisions: Decision[]): SubscriptionStats[] {
  const stats = new Map<number, ActivityStats>();
  for (const { subscription, at } of decisions)
    stats.set(subscription, afterEvent(stats.get(subscription) ?? before.get(subscription), at));
  return [...stats].map(([subscription, after]) => ({ subscription, ...after }));
}
