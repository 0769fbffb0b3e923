import type { DeliveryProgress } from '../services/notification/types.ts';
import { SECOND } from '../src/domain/clock.ts';
import type { Mined } from './chain/index.ts';
import type { ControlEvent, MessageState } from './discord/control.ts';
import { componentsIn } from './discord/message-rules.ts';
import type { Delivery, TrackedTransaction } from './page/protocol.ts';
import type { Routed } from './routed.ts';

const MAX_TRANSACTIONS = 300;
const MAX_SUMMARIES = 5_000;
const MAX_ATTEMPTS = 10;
/** Milliseconds in which changes are collected, because a burst changes hundreds. */
const COLLECT_MS = 100;
const HASH = /0x[0-9a-f]{64}/g;

/** Keeps the newest 300 of a network. `listener` gets new and changed ones, oldest first. */
export function createTransactionTracker(network: number, listener: (transactions: TrackedTransaction[]) => void) {
  const all = new Map<string, TrackedTransaction>();
  /** Kept for longer: a late delivery must still be recognized as the sandbox's own transaction. */
  const summaries = new Map<string, string>();
  const list = (): TrackedTransaction[] => [...all.values()];
  const changes = collectChanges((changed) => listener(list().filter((transaction) => changed.has(transaction))));

  function transactionOf(hash: string, blockNumber: number, at: number): TrackedTransaction {
    const key = hash.toLowerCase();
    const found = all.get(key);
    if (found) return found;
    const summary = summaries.get(key) ?? null;
    const progress = { deliveries: [], routed: null, posted: [] };
    const transaction = { network, txHash: key, summary, blockNumber, minedAt: at, ...progress };
    all.set(key, transaction);
    if (all.size > MAX_TRANSACTIONS) all.delete(all.keys().next().value!);
    return transaction;
  }

  /** A digest names its period and few hashes, so it counts for everything stored in that period and not posted yet. */
  function recordDigest({ id: messageId, channelId, message }: MessageState): void {
    const found = message.embeds.find(({ title }) => title?.startsWith('🗂️'));
    const times = [...(found?.description ?? '').matchAll(/<t:(\d+)/g)].map(([, seconds]) => Number(seconds) * SECOND);
    const first = times[0];
    const last = times[1] ?? first;
    if (first === undefined || last === undefined) return;
    const isInside = ({ storedAt }: Delivery): boolean =>
      storedAt !== null && storedAt >= first - SECOND && storedAt < last + 2 * SECOND;
    for (const transaction of all.values()) {
      if (transaction.posted.length > 0 || !transaction.deliveries.some(isInside)) continue;
      transaction.posted.push({ messageId, channelId, at: Date.parse(message.timestamp), alerts: 0 });
      changes.add(transaction);
    }
  }

  return {
    list,
    recordMined({ hash, blockNumber, summary }: Mined): void {
      summaries.set(hash.toLowerCase(), summary);
      if (summaries.size > MAX_SUMMARIES) summaries.delete(summaries.keys().next().value!);
      const transaction = transactionOf(hash, blockNumber, Date.now());
      transaction.summary = summary;
      changes.add(transaction);
    },
    recordProgress(progress: DeliveryProgress): void {
      const { txHash, blockNumber, deliveryId, at } = progress;
      const transaction = transactionOf(txHash, blockNumber, at);
      let delivery = transaction.deliveries.find(({ id }) => id === deliveryId);
      if (delivery === undefined) {
        delivery = { id: deliveryId, noticedAt: at, attempts: [], next: null, storedAt: null, exhausted: false };
        transaction.deliveries.push(delivery);
      }
      advance(delivery, progress);
      changes.add(transaction);
    },
    /** Replies to commands are not alerts. */
    recordMessage(event: ControlEvent, botId: string): void {
      if (event.type !== 'message') return;
      const { message } = event;
      if (message.message.author.id !== botId || message.message.interaction_metadata) return;
      recordDigest(message);
      for (const [hash, alerts] of alertsPerHash(message)) {
        const transaction = all.get(hash);
        if (transaction === undefined) continue;
        const earlier = transaction.posted.find(({ messageId }) => messageId === message.id);
        transaction.posted = transaction.posted.filter((post) => post !== earlier);
        const at = earlier?.at ?? Date.parse(event.at);
        if (!message.deleted)
          transaction.posted.push({ messageId: message.id, channelId: message.channelId, at, alerts });
        changes.add(transaction);
      }
    },
    recordRouted({ txHash, at, hidden }: Routed): void {
      const transaction = all.get(txHash.toLowerCase());
      if (transaction === undefined) return;
      const before = transaction.routed;
      transaction.routed = {
        at: before?.at ?? at,
        isMatched: (before?.isMatched ?? false) || at !== null,
        hidden: [...new Set([...(before?.hidden ?? []), ...hidden])],
      };
      changes.add(transaction);
    },
    close: changes.close,
  };
}

function collectChanges(report: (changed: ReadonlySet<TrackedTransaction>) => void) {
  let changed = new Set<TrackedTransaction>();
  let timer: NodeJS.Timeout | undefined;
  return {
    add(transaction: TrackedTransaction): void {
      changed.add(transaction);
      timer ??= setTimeout(() => {
        timer = undefined;
        const collected = changed;
        changed = new Set();
        report(collected);
      }, COLLECT_MS);
    },
    close: (): void => clearTimeout(timer),
  };
}

function advance(delivery: Delivery, progress: DeliveryProgress): void {
  const attempt = delivery.attempts.at(-1);
  switch (progress.type) {
    case 'matched':
      return;
    case 'attempted':
      delivery.next = null;
      delivery.attempts.push({ at: progress.at, answeredAt: null, status: null, error: null });
      delivery.attempts = delivery.attempts.slice(-MAX_ATTEMPTS);
      return;
    case 'answered':
      if (attempt === undefined) return;
      attempt.answeredAt = progress.at;
      attempt.status = progress.status;
      attempt.error = progress.error ?? null;
      if (progress.status === 200) delivery.storedAt ??= progress.at;
      return;
    case 'scheduled':
      delivery.next = { at: progress.dueAt, reason: progress.reason };
      return;
    case 'ended':
      delivery.next = null;
      delivery.exhausted = progress.outcome === 'exhausted';
  }
}

function alertsPerHash({ message }: MessageState): Map<string, number> {
  const found = new Map<string, number>();
  const texts = [...componentsIn(message.components, [])].map(([{ content }]) => String(content ?? ''));
  for (const part of [message.content, ...texts, ...message.embeds.map((embed) => JSON.stringify(embed))])
    for (const hash of new Set(part.toLowerCase().match(HASH))) found.set(hash, (found.get(hash) ?? 0) + 1);
  return found;
}
