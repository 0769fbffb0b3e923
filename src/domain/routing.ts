import type { AddressText, Asset } from './address.ts';
import type { NewAlert } from './alert.ts';
import { DAY, MINUTE } from './clock.ts';
import type { CheckProgress } from './completeness.ts';
import type { SeenDelivery, SeenTransfer } from './identity.ts';
import type { HiddenReason } from './match.ts';
import type { CatalogEntry, Counterparty, TokenKnowledge } from './scam.ts';
import type { ActivityStats, Watcher } from './subscription.ts';
import type { Transfer, TransferEvent } from './transfer.ts';

export interface Decision {
  transferKey: string;
  guildId: string;
  channelId: string;
  subscription: number;
  address: AddressText;
  outcome: 'matched' | HiddenReason;
  at: number;
}

export interface StoredDelivery extends SeenDelivery, Pick<TransferEvent, 'projectId' | 'addressType' | 'direction'> {
  lastAt: number;
}

export interface SubscriptionStats extends ActivityStats {
  subscription: number;
}

export interface RoutingResult {
  done: number[];
  transfers: SeenTransfer[];
  deliveries: StoredDelivery[];
  alerts: NewAlert[];
  decisions: Decision[];
  /** What concerns a removed subscription is not stored. */
  concerned: number[];
  /** Of subscriptions whose address moved something of worth. */
  stats: SubscriptionStats[];
  quarantined: { id: number; reason: string }[];
  /** Keys of transfers whose sent messages must change. */
  changed: string[];
  learned: Learned;
  now: number;
}

export interface RoutingQuery {
  transferKey: string;
  deliveryKey: string;
  scope: number;
  at: number;
  isFound?: boolean;
  transfer: Transfer;
}

export interface WatchedTransfer {
  transferKey: string;
  watchers: Watcher[];
  /** When the first two samples showed its scope's events beyond its block; fewer if there are not two. */
  passedAt: number[];
}

export interface RoutingContext {
  /** How many of the first queries: at least one, not all if very many subscriptions watch. */
  covered: number;
  transfers: SeenTransfer[];
  /** The key of the known transfer that a query's transfer is in another form, by the query's transfer key. */
  aliases: ReadonlyMap<string, string>;
  deliveries: SeenDelivery[];
  watched: WatchedTransfer[];
  mutes: { guildId: string; token: Asset }[];
  /** Of the guilds whose alerts may be held. */
  timezones: { guildId: string; timezone: string | null }[];
  knowledge: TokenKnowledge;
  compared: ReadonlyMap<number, CheckProgress>;
  scopes: { scope: number; network: number; projectId: string | null }[];
  /** Only of subscriptions with an earlier event. */
  stats: SubscriptionStats[];
}

export interface Learned {
  catalog: CatalogEntry[];
  counterparties: Counterparty[];
  nativeSymbols: { network: number; symbol: string }[];
  /** The highest block that each scope's events name. */
  heads: (Head & { scope: number })[];
}

export interface Head {
  block: number;
  at: number;
}

/** No delivery is repeated for longer, so older samples do not matter. */
export const HEADS_MS = 3 * DAY;
/** One or two retries are normal; the third is sent after eleven minutes. */
const LATE_MS = 10 * MINUTE;

export function latenessOf(passedAt: readonly number[], at: number): number | null {
  const [first, second] = passedAt;
  if (first === undefined || second === undefined || Math.max(first, second) > at - LATE_MS) return null;
  return at - Math.min(first, second);
}

/** One sample a minute. One absurd block must not count as progress, so the middle of the latest three does. */
export function isNextHead(latest: readonly Head[], { block, at }: Head): boolean {
  if (latest[0] && at < latest[0].at + MINUTE) return false;
  const middle = latest.toSorted((a, b) => a.block - b.block)[(latest.length - 1) >> 1];
  return middle === undefined || block > middle.block;
}
