import { outerDigitsOf } from '../domain/address.ts';
import { mayHold, type NewAlert, type Warning } from '../domain/alert.ts';
import type { Clock } from '../domain/clock.ts';
import { isCompared } from '../domain/completeness.ts';
import { parseEvent } from '../domain/event.ts';
import { judge, type SeenTransfer, seenAgain, type Verdict } from '../domain/identity.ts';
import { type InboxRow, isOperatorScope, OTHER_CHAIN } from '../domain/inbox.ts';
import { matchTransfer } from '../domain/match.ts';
import { FIRST_NETWORK } from '../domain/network.ts';
import {
  type Decision,
  latenessOf,
  type RoutingResult,
  type StoredDelivery,
  type SubscriptionStats,
  type WatchedTransfer,
} from '../domain/routing.ts';
import { type Counterparty, distinct } from '../domain/scam.ts';
import { AT_ONCE, dueOf, isQuiet } from '../domain/schedule.ts';
import { afterEvent, type Watcher } from '../domain/subscription.ts';
import { keysOf } from '../domain/transfer.ts';
import { type ContextOptions, type ParsedDelivery, type RoutingState, readContext } from './context.ts';
import { addCounterparty, compareParties, type Marker, tokenWarnings } from './scam.ts';

export interface DecideOptions extends ContextOptions {
  markRepeat: Marker;
  clock: Pick<Clock, 'now'>;
}

interface EventDecision extends Matches {
  row: InboxRow;
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

const NOTHING: Matches = { alerts: [], decisions: [], counterparties: [], isWorthless: false, isDust: false };

/** Why a delivery goes to quarantine; `error`: because the bot failed. */
interface Refusal {
  row: InboxRow;
  reason: string;
  error?: unknown;
}

export interface Decided {
  decided: (EventDecision | Refusal)[];
  result: RoutingResult;
}

type Rows = Pick<RoutingResult, 'done' | 'quarantined' | 'alerts' | 'decisions'>;

type State = RoutingState & Pick<DecideOptions, 'markRepeat'>;

export type ParsedRow = ParsedDelivery | Refusal;

export function parseRow(row: InboxRow): ParsedRow {
  const parsed = parseEvent(row.body);
  if (!parsed.ok) return { row, reason: parsed.reason };
  const { event } = parsed;
  const isFound = row.identity?.minedAt !== undefined;
  return { row, isFound, event, keys: keysOf(row.scope, event), network: FIRST_NETWORK };
}

/**
 * Stores nothing itself. Stops at the first delivery that the context does not cover: the rest comes again. What is
 * decided later about a transfer, a delivery or a subscription replaces what was decided before.
 */
export async function decide(items: readonly ParsedRow[], options: DecideOptions): Promise<Decided> {
  const now = options.clock.now();
  const parsed: ParsedDelivery[] = [];
  for (const item of items) if ('event' in item) parsed.push(item);
  const { covered, state: read, learned } = await readContext(parsed, options, now);
  const state = { ...read, markRepeat: options.markRepeat };
  const decided: Decided['decided'] = [];
  const rows: Rows = { done: [], quarantined: [], alerts: [], decisions: [] };
  const transfers = new Map<string, SeenTransfer>();
  const deliveries = new Map<string, StoredDelivery>();
  const stats = new Map<number, SubscriptionStats>();
  const [concerned, changed] = [new Set<number>(), new Set<string>()];
  for (const item of items) {
    if (item === parsed[covered]) break;
    const { id } = item.row;
    let decision: EventDecision | Refusal;
    try {
      decision = 'event' in item ? decideEvent(item, state) : item;
    } catch (error) {
      decision = { row: item.row, reason: reasonOf(error), error };
    }
    decided.push(decision);
    if ('reason' in decision) {
      rows.quarantined.push({ id, reason: decision.reason });
      continue;
    }
    const { transfer, delivery, alerts, decisions, counterparties } = decision;
    rows.done.push(id);
    rows.alerts.push(...alerts);
    rows.decisions.push(...decisions);
    learned.counterparties.push(...counterparties);
    transfers.set(transfer.key, transfer);
    deliveries.set(delivery.key, delivery);
    if (decision.isEdit) changed.add(transfer.key);
    // The following deliveries are decided as if this were stored.
    state.transfers.set(transfer.key, transfer);
    state.deliveries.set(delivery.key, delivery);
    for (const counterparty of counterparties) addCounterparty(state.signals, counterparty);
    for (const { subscription, at } of decisions) {
      concerned.add(subscription);
      // Dust must neither end a silence nor make an address look busy.
      if (decision.isDust) continue;
      const moved = { subscription, ...afterEvent(state.stats.get(subscription), at) };
      state.stats.set(subscription, moved);
      stats.set(subscription, moved);
    }
  }
  return {
    decided,
    result: {
      ...rows,
      transfers: [...transfers.values()],
      deliveries: [...deliveries.values()],
      concerned: [...concerned],
      stats: [...stats.values()],
      changed: [...changed],
      learned,
      now,
    },
  };
}

const reasonOf = (error: unknown): string => `Routing failed: ${(error as Error).message}`;

function decideEvent(item: ParsedDelivery, state: State): EventDecision | Refusal {
  const { row, event, keys, network } = item;
  const { projectId, addressType, direction } = event;
  const { chainId } = state.networks.get(network) ?? {};
  // Decimal, or hex as nodes write it; other text names no chain.
  const named = Number(row.identity?.chainId ?? 0);
  if (named && chainId && named !== chainId)
    return { row, reason: `${OTHER_CHAIN} ${named}, and this URL is for chain ${chainId}` };

  const seen = state.transfers.get(keys.transfer);
  const { verdict, delivery: judged } = judge(state.deliveries.get(keys.delivery), seen !== undefined, keys, row);
  const delivery = { ...judged, projectId, addressType, direction, lastAt: row.receivedAt };
  if (seen) {
    const progress = item.isFound ? undefined : state.compared.get(network);
    const isProven = (block: number | null) => progress !== undefined && block !== null && isCompared(progress, block);
    const transfer = seenAgain(seen, event.transfer, verdict, delivery.count, isProven);
    const isEdit = transfer.transfer.leftBlocks !== seen.transfer.leftBlocks || transfer.count > seen.count;
    return { row, verdict, transfer, delivery, isEdit, ...NOTHING };
  }

  const watched = state.watched.get(keys.transfer);
  const matches = watched ? decideMatches(watched, item, state) : NOTHING;
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
  return { row, verdict, transfer, delivery, isEdit: false, ...matches };
}

/** An alert of one channel, of all its subscriptions that match, in the order of `alert.matches`. */
interface Draft {
  alert: NewAlert;
  subscriptions: Watcher[];
  /** Each subscription holds it for a digest or for the end of its quiet hours. */
  isHeld: boolean;
}

/** One alert per channel in which a subscription matches, and one recorded decision per subscription. */
function decideMatches({ watchers, passedAt }: WatchedTransfer, item: ParsedDelivery, state: State): Matches {
  const { row, event, keys, network } = item;
  const { transfer } = event;
  const { token } = transfer;
  const { signals } = state;
  const at = row.receivedAt;
  const cataloged = token === null ? null : (signals.catalog.get(`${network} ${token}`)?.cataloged ?? null);
  const ofToken = tokenWarnings(network, transfer, signals);
  const ofDelivery = deliveryWarnings(passedAt, item, state);
  const payers = new Set<string>();
  for (const { guildId, address } of watchers) if (address === transfer.from) payers.add(guildId);

  const decisions: Decision[] = [];
  const counterparties = new Map<string, Counterparty>();
  const drafts = new Map<string, Draft>();
  let isKnownToNone = true;
  for (const subscription of watchers) {
    const { guildId, channelId, id, address } = subscription;
    const named = (token && signals.named.get(guildId + outerDigitsOf(token))) ?? [];
    const isNamed = named.some((known) => known.address === token);
    const context = { now: state.now, cataloged, isNamed, mutes: state.mutes };
    const match = matchTransfer(subscription, transfer, context, payers.has(guildId));
    if (match.outcome === 'unrelated') continue;
    isKnownToNone &&= !match.isKnown;
    const seen = { ofToken, isKnownToken: match.isKnown, at };
    const { alike, learned } = compareParties(subscription, transfer, seen, signals);
    // An address that is watched in several channels has the same counterparty in each.
    if (learned) counterparties.set(`${guildId} ${address}`, learned);
    const of = { transferKey: keys.transfer, guildId, channelId };
    const outcome = match.outcome === 'matched' ? 'matched' : match.reason;
    decisions.push({ ...of, subscription: id, address, outcome, at });
    if (match.outcome === 'hidden') continue;

    const draft = drafts.get(channelId) ?? {
      alert: { ...of, ...AT_ONCE, inboxId: row.id, matches: [], warnings: [], isSignificant: false },
      subscriptions: [],
      isHeld: true,
    };
    drafts.set(channelId, draft);
    const { alert } = draft;
    const { perspective, isKnown, mayMention } = match;
    alert.matches.push({ subscription: id, perspective, isKnown, mayMention });
    alert.isSignificant ||= match.isSignificant;
    draft.subscriptions.push(subscription);
    draft.isHeld &&= mayHold(subscription) && !match.passesHolds;
    // A subscription that names the token is not warned that the explorer does not know it, or could not be asked.
    const ofCatalog = match.isAskedFor ? ofToken.filter(({ kind }) => kind === 'imitation') : ofToken;
    const warnings = [...alike, ...ofCatalog, ...ofDelivery];
    if (warnings.length > 0) alert.warnings = distinct([...alert.warnings, ...warnings]);
  }
  const isWorthless = isKnownToNone && decisions.length > 0;
  return {
    alerts: [...drafts.values()].map((draft) => finish(draft, network, state)),
    decisions,
    counterparties: [...counterparties.values()],
    isWorthless,
    isDust: isWorthless && cataloged === false,
  };
}

/** Decides when the alert is due, and whom it may mention and warn then. */
function finish({ alert, subscriptions, isHeld }: Draft, network: number, state: State): NewAlert {
  const { now, timezones, markRepeat } = state;
  const timezone = timezones.get(alert.guildId)?.timezone ?? null;
  const due = isHeld ? dueOf(subscriptions, timezone, now) : AT_ONCE;
  const postedAt = due.hold === null ? now : due.dueAt;
  for (const [index, match] of alert.matches.entries()) {
    // Even an alert that passes quiet hours pings nobody in them.
    match.mayMention &&= !isQuiet(subscriptions[index]!, timezone, postedAt);
  }
  // What leaves for a look-alike is always a card: a stranger who warns of an address with dust first costs it nothing.
  const warnings = alert.isSignificant
    ? alert.warnings
    : alert.warnings.map((warning) => markRepeat(alert.channelId, network, warning, alert.inboxId, now));
  return { ...alert, ...due, warnings };
}

function deliveryWarnings(passedAt: number[], { row, event, network }: ParsedDelivery, state: State): Warning[] {
  const { scope, receivedAt, identity } = row;
  if (identity?.minedAt !== undefined) return [{ kind: 'found', ms: Math.max(0, receivedAt - identity.minedAt) }];
  const warnings: Warning[] = [];
  const lateMs = passedAt.length > 0 ? latenessOf(passedAt, receivedAt) : null;
  if (lateMs !== null) warnings.push({ kind: 'late', ms: lateMs });
  const { projectId } = event;
  const { operatorProject: ofOperator } = state.networks.get(network) ?? {};
  const expected = (isOperatorScope(scope) ? ofOperator : state.scopes.get(scope)?.projectId) ?? null;
  if (projectId !== null && expected !== null && projectId !== expected)
    warnings.push({ kind: 'other-project', projectId });
  return warnings;
}

/** For a delivery that cannot be looked up or stored even alone. */
export function refuse(row: InboxRow, error: unknown, now: number): Decided {
  const reason = reasonOf(error);
  const learned = { catalog: [], counterparties: [], nativeSymbols: [], heads: [] };
  const rows: Rows = { done: [], quarantined: [{ id: row.id, reason }], alerts: [], decisions: [] };
  const result = { ...rows, transfers: [], deliveries: [], concerned: [], stats: [], changed: [], learned, now };
  return { decided: [{ row, reason, error }], result };
}
