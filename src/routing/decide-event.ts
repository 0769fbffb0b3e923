import type { NewAlert } from '../domain/alert.ts';
import { judge, type SeenTransfer, type Verdict } from '../domain/identity.ts';
import { latenessOf } from '../domain/lateness.ts';
import { matchTransfer } from '../domain/match.ts';
import type { Decision, LearnedCounterparty, StoredDelivery, WatchedTransfer } from '../domain/routing.ts';
import { dueOf } from '../domain/schedule.ts';
import type { Watcher } from '../domain/subscription.ts';
import type { Transfer } from '../domain/transfer.ts';
import type { Warning } from '../domain/warning.ts';
import type { ParsedDelivery, RoutingState } from './context.ts';
import { addCounterparty, counterpartyToLearn, lookAlikes, tokenWarnings, warningsFor } from './scam-signals.ts';

/** How many earlier blocks of a reorganized transfer are remembered. */
const MAX_LEFT_BLOCKS = 8;

/** What is stored because of one delivery. */
export interface EventDecision extends MatchDecision {
  /** The updated transfer. */
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
}

/** Decides about one delivery; changes nothing. `ackedAt`: when its 200 was written completely; null: never. */
export function decideEvent(item: ParsedDelivery, ackedAt: number | null, state: RoutingState): EventDecision {
  const { row, event, keys } = item;
  const { transfer, projectId, addressType, direction } = event;
  const seen = state.transfers.get(keys.transfer);
  const receipt = { receivedAt: row.receivedAt, ackedAt };
  const judged = judge(state.deliveries.get(keys.delivery), seen !== undefined, keys, receipt, row.identity);
  const delivery = { ...judged.delivery, projectId, addressType, direction, lastAt: row.receivedAt };
  if (seen) {
    const after = seenAgain(seen, transfer, judged.verdict, delivery.count);
    const isEdit = after.transfer.left !== seen.transfer.left || after.count > seen.count;
    return {
      transfer: after,
      delivery,
      verdict: judged.verdict,
      isEdit,
      alerts: [],
      decisions: [],
      counterparties: [],
    };
  }
  const watched = state.watched.get(keys.transfer);
  const matches = watched ? decideMatches(watched, item, state) : { alerts: [], decisions: [], counterparties: [] };
  return { transfer: firstSeen(item), delivery, verdict: judged.verdict, isEdit: false, ...matches };
}

/** Adds a decision to the context of the following deliveries. */
export function remember(state: RoutingState, { transfer, delivery, counterparties }: EventDecision): void {
  state.transfers.set(transfer.key, transfer);
  state.deliveries.set(delivery.key, delivery);
  for (const counterparty of counterparties) addCounterparty(state.signals, counterparty, counterparty.at);
}

function firstSeen({ row, event, keys }: ParsedDelivery): SeenTransfer {
  return {
    id: null,
    key: keys.transfer,
    scope: row.scope,
    seenAt: row.receivedAt,
    count: 1,
    reorganized: false,
    transfer: event.transfer,
  };
}

/** A transfer after another body reported it, which may name another block. */
function seenAgain(seen: SeenTransfer, transfer: Transfer, verdict: Verdict, count: number): SeenTransfer {
  const { blockHash, blockNumber, left = [] } = seen.transfer;
  // A repeat names the block of its first time, which the chain may have left since. So may a twin of such a repeat.
  const newHash = verdict === 'twin' && transfer.blockHash !== blockHash ? transfer.blockHash : null;
  const isPlaced = newHash !== null && !left.includes(newHash);
  const isMoved = isPlaced && blockHash !== null;
  return {
    ...seen,
    count: Math.max(seen.count, count),
    reorganized: seen.reorganized || isMoved,
    transfer: isPlaced
      ? {
          ...seen.transfer,
          blockHash: newHash,
          blockNumber: isMoved ? transfer.blockNumber : (blockNumber ?? transfer.blockNumber),
          ...(isMoved && { left: [...left, blockHash].slice(-MAX_LEFT_BLOCKS) }),
        }
      : seen.transfer,
  };
}

/** One alert per channel in which a subscription matches, and one recorded decision per subscription. */
function decideMatches(
  { watchers, passedAt }: WatchedTransfer,
  { row, event: { transfer, projectId }, keys }: ParsedDelivery,
  { signals, context, timezones, projects }: RoutingState,
): MatchDecision {
  const at = row.receivedAt;
  const ofToken = tokenWarnings(transfer, signals);
  const lateMs = latenessOf(passedAt, at);
  const ofDelivery: Warning[] = lateMs === null ? [] : [{ kind: 'late', ms: lateMs }];
  const expected = projects.get(row.scope);
  if (projectId !== null && expected !== undefined && projectId !== expected) {
    ofDelivery.push({ kind: 'other-project', projectId });
  }
  const decisions: Decision[] = [];
  const learned = new Map<string, LearnedCounterparty>();
  const byChannel = new Map<string, { alert: Omit<NewAlert, 'hold' | 'dueAt'>; matched: Watcher[] }>();
  for (const subscription of watchers) {
    const match = matchTransfer(subscription, transfer, context);
    if (match.outcome === 'unrelated') continue;
    const { guildId, channelId, id, address } = subscription;
    const alike = lookAlikes(subscription, transfer, signals);
    const counterparty = counterpartyToLearn(subscription, transfer, [...ofToken, ...alike], signals, at);
    // An address that is watched in several channels has the same one in each.
    if (counterparty) learned.set(`${guildId} ${address}`, counterparty);
    const of = { transferKey: keys.transfer, guildId, channelId };
    const outcome = match.outcome === 'matched' ? 'matched' : match.reason;
    decisions.push({ ...of, subscription: id, address, outcome, at });
    if (match.outcome === 'hidden') continue;
    const found = byChannel.get(channelId) ?? {
      alert: { ...of, inboxId: row.id, matches: [], warnings: [] },
      matched: [],
    };
    byChannel.set(channelId, found);
    found.alert.matches.push({ subscription: id, perspective: match.perspective });
    found.matched.push(subscription);
    const warnings = [...alike, ...warningsFor(subscription, transfer, ofToken), ...ofDelivery];
    found.alert.warnings = distinct([...found.alert.warnings, ...warnings]);
  }
  const alerts = [...byChannel.values()].map(({ alert, matched }) => ({
    ...alert,
    ...dueOf(matched, timezones.get(alert.guildId) ?? null, context.now),
  }));
  return { alerts, decisions, counterparties: [...learned.values()] };
}

const distinct = (warnings: Warning[]): Warning[] => [
  ...new Map(warnings.map((warning) => [JSON.stringify(warning), warning])).values(),
];
