/** Follows every transaction from its block through its deliveries to the messages that report it. */
import type { DeliveryProgress } from '../services/notification/types.ts';
import type { Mined } from './chain/index.ts';
import type { ControlEvent, MessageState } from './discord/control.ts';
import { componentsIn } from './discord/message-rules.ts';
import type { Delivery, Journey } from './page/protocol.ts';
import type { Routed } from './routed.ts';

const JOURNEYS_KEPT = 300;
const SUMMARIES_KEPT = 5_000;
const ATTEMPTS_KEPT = 10;
const SECOND = 1_000;
/** How long changes are collected before they are reported together, in milliseconds: a burst changes hundreds. */
const COLLECT_MS = 100;
const HASH = /0x[0-9a-f]{64}/g;

/** The journeys of the newest 300 transactions. */
export interface Journeys {
  /** Oldest first. */
  list(): Journey[];
  recordMined(mined: Mined): void;
  recordProgress(progress: DeliveryProgress): void;
  /** Records which transactions an alert reports. Replies to commands are not alerts. */
  recordMessage(event: ControlEvent, botId: string): void;
  /** Records what the bot decided about a delivery. */
  recordRouted(routed: Routed): void;
  close(): void;
}

/** @param listener called with new and changed journeys, oldest first. */
export function createJourneys(listener: (journeys: Journey[]) => void): Journeys {
  const all = new Map<string, Journey>();
  /** Outlives the journeys: a late delivery must still be recognized as the sandbox's own transaction. */
  const summaries = new Map<string, string>();
  const list = (): Journey[] => [...all.values()];
  const changes = collectChanges((changed) => listener(list().filter((journey) => changed.has(journey))));

  function journeyOf(hash: string, blockNumber: number, at: number): Journey {
    const key = hash.toLowerCase();
    const found = all.get(key);
    if (found) return found;
    const summary = summaries.get(key) ?? null;
    const journey = { txHash: key, summary, blockNumber, minedAt: at, deliveries: [], routed: null, posted: [] };
    all.set(key, journey);
    if (all.size > JOURNEYS_KEPT) all.delete(all.keys().next().value!);
    return journey;
  }

  /** A digest names its period and few hashes: it reports everything stored in that period and not posted yet. */
  function recordDigest({ id: messageId, channelId, message }: MessageState): void {
    const found = message.embeds.find(({ title }) => title?.startsWith('🗂️'));
    const times = [...(found?.description ?? '').matchAll(/<t:(\d+)/g)].map(([, seconds]) => Number(seconds) * SECOND);
    const first = times[0];
    const last = times[1] ?? first;
    if (first === undefined || last === undefined) return;
    const isInside = ({ storedAt }: Delivery): boolean =>
      storedAt !== null && storedAt >= first - SECOND && storedAt < last + 2 * SECOND;
    for (const journey of all.values()) {
      if (journey.posted.length > 0 || !journey.deliveries.some(isInside)) continue;
      journey.posted.push({ messageId, channelId, at: Date.parse(message.timestamp), alerts: 0 });
      changes.add(journey);
    }
  }

  return {
    list,
    recordMined({ hash, blockNumber, summary }) {
      summaries.set(hash.toLowerCase(), summary);
      if (summaries.size > SUMMARIES_KEPT) summaries.delete(summaries.keys().next().value!);
      const journey = journeyOf(hash, blockNumber, Date.now());
      journey.summary = summary;
      changes.add(journey);
    },
    recordProgress(progress) {
      const { txHash, blockNumber, deliveryId, at } = progress;
      const journey = journeyOf(txHash, blockNumber, at);
      let delivery = journey.deliveries.find(({ id }) => id === deliveryId);
      if (delivery === undefined) {
        delivery = { id: deliveryId, noticedAt: at, attempts: [], next: null, storedAt: null, exhausted: false };
        journey.deliveries.push(delivery);
      }
      advance(delivery, progress);
      changes.add(journey);
    },
    recordMessage(event, botId) {
      if (event.type !== 'message') return;
      const { message } = event;
      if (message.message.author.id !== botId || message.message.interaction_metadata) return;
      recordDigest(message);
      for (const [hash, alerts] of alertsPerHash(message)) {
        const journey = all.get(hash);
        if (journey === undefined) continue;
        const earlier = journey.posted.find(({ messageId }) => messageId === message.id);
        journey.posted = journey.posted.filter((post) => post !== earlier);
        const at = earlier?.at ?? Date.parse(event.at);
        if (!message.deleted) journey.posted.push({ messageId: message.id, channelId: message.channelId, at, alerts });
        changes.add(journey);
      }
    },
    recordRouted({ txHash, at, hidden }) {
      const journey = all.get(txHash.toLowerCase());
      if (journey === undefined) return;
      const before = journey.routed;
      journey.routed = {
        at: before?.at ?? at,
        isMatched: (before?.isMatched ?? false) || at !== null,
        hidden: [...new Set([...(before?.hidden ?? []), ...hidden])],
      };
      changes.add(journey);
    },
    close: changes.close,
  };
}

/** Collects changed journeys for a moment and reports them together. */
function collectChanges(report: (changed: ReadonlySet<Journey>) => void) {
  let changed = new Set<Journey>();
  let timer: NodeJS.Timeout | undefined;
  return {
    add(journey: Journey): void {
      changed.add(journey);
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
      delivery.attempts = [
        ...delivery.attempts,
        { at: progress.at, answeredAt: null, status: null, error: null },
      ].slice(-ATTEMPTS_KEPT);
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
