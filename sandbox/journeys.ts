/** Follows every transaction from its block over the deliveries to the messages that tell of it. */
import type { DeliveryProgress } from '../services/notification/types.ts';
import type { Mined } from './chain/index.ts';
import type { ControlEvent, MessageState } from './discord/control.ts';
import type { Delivery, Journey } from './page/protocol.ts';
import type { Routed } from './routed.ts';

const KEPT = 300;
const SECOND = 1_000;
/** News is gathered this long, in milliseconds, so that a burst is a few announcements and not hundreds. */
const GATHER_MS = 100;
const HASH = /0x[0-9a-f]{64}/g;

/** The last 300 journeys; `listener` hears of new and changed ones, oldest first. */
export class Journeys {
  readonly #all = new Map<string, Journey>();
  readonly #changed = new Set<Journey>();
  readonly #listener: (journeys: Journey[]) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(listener: (journeys: Journey[]) => void) {
    this.#listener = listener;
  }

  /** Oldest first. */
  list(): Journey[] {
    return [...this.#all.values()];
  }

  mined({ hash, blockNumber, summary }: Mined): void {
    const journey = this.#of(hash, blockNumber, Date.now());
    journey.summary = summary;
    this.#news(journey);
  }

  progress(progress: DeliveryProgress): void {
    const { txHash, blockNumber, deliveryId, at } = progress;
    const journey = this.#of(txHash, blockNumber, at);
    let delivery = journey.deliveries.find(({ id }) => id === deliveryId);
    if (delivery === undefined) {
      delivery = { id: deliveryId, noticedAt: at, attempts: [], next: null, storedAt: null, exhausted: false };
      journey.deliveries.push(delivery);
    }
    advance(delivery, progress);
    this.#news(journey);
  }

  /** Notes which transactions an alert of the bot tells of; replies to commands are no alerts. */
  discord(event: ControlEvent, botId: string): void {
    if (event.type !== 'message') return;
    const { message } = event;
    if (message.message.author.id !== botId || message.message.interaction_metadata) return;
    this.#digest(message);
    for (const [hash, lines] of linesPerHash(message)) {
      const journey = this.#all.get(hash);
      if (journey === undefined) continue;
      const earlier = journey.told.find(({ messageId }) => messageId === message.id);
      journey.told = journey.told.filter((told) => told !== earlier);
      const at = earlier?.at ?? Date.parse(event.at);
      if (!message.deleted) journey.told.push({ messageId: message.id, channelId: message.channelId, at, lines });
      this.#news(journey);
    }
  }

  /** Notes what the bot decided about transfers. */
  routed(transfers: readonly Routed[]): void {
    for (const { txHash, at, outcomes } of transfers) {
      const journey = this.#all.get(txHash.toLowerCase());
      if (journey === undefined) continue;
      const { routed } = journey;
      const hidden = new Set([...(routed?.hidden ?? []), ...outcomes.filter((outcome) => outcome !== 'matched')]);
      const lines = (routed?.lines ?? false) || outcomes.includes('matched');
      journey.routed = { at: routed?.at ?? at, lines, hidden: [...hidden] };
      this.#news(journey);
    }
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** A digest (in any language) names its time and few hashes: it tells of all that was stored in that time and told nowhere yet. */
  #digest({ id: messageId, channelId, message }: MessageState): void {
    const digest = message.embeds.find(({ title }) => title?.startsWith('🗂️'));
    const times = [...(digest?.description ?? '').matchAll(/<t:(\d+)/g)].map(([, seconds]) => Number(seconds) * 1000);
    const [first, last] = times;
    if (first === undefined || last === undefined) return;
    const inside = ({ storedAt }: Delivery): boolean =>
      storedAt !== null && storedAt >= first - SECOND && storedAt < last + 2 * SECOND;
    for (const journey of this.#all.values()) {
      if (journey.told.length > 0 || !journey.deliveries.some(inside)) continue;
      journey.told.push({ messageId, channelId, at: Date.parse(message.timestamp), lines: 0 });
      this.#news(journey);
    }
  }

  #of(hash: string, blockNumber: number, at: number): Journey {
    const key = hash.toLowerCase();
    let journey = this.#all.get(key);
    if (journey === undefined) {
      journey = { txHash: key, summary: null, blockNumber, minedAt: at, deliveries: [], routed: null, told: [] };
      this.#all.set(key, journey);
      if (this.#all.size > KEPT) this.#all.delete(this.#all.keys().next().value!);
    }
    return journey;
  }

  #news(journey: Journey): void {
    this.#changed.add(journey);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      const journeys = this.list().filter((one) => this.#changed.has(one));
      this.#changed.clear();
      this.#listener(journeys);
    }, GATHER_MS);
  }
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
      ].slice(-10);
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

function linesPerHash({ message }: MessageState): Map<string, number> {
  const found = new Map<string, number>();
  for (const part of [message.content, ...message.embeds.map((embed) => JSON.stringify(embed))])
    for (const hash of new Set(part.toLowerCase().match(HASH))) found.set(hash, (found.get(hash) ?? 0) + 1);
  return found;
}
