import type { AddressText, Asset } from './address.ts';
import type { NewAlert } from './alert.ts';
import { DAY, MINUTE } from './clock.ts';
import type { CheckProgress } from './completeness.ts';
import type { SeenDelivery, SeenTransfer } from './identity.ts';
import type { HiddenReason } from './match.ts';
import type { ActivityStats } from './silence.ts';
import type { Watcher } from './subscription.ts';
import type { Transfer, TransferEvent } from './transfer.ts';

export interface Decision {
  transferKey: string;
  guildId: string;
  channelId: string;
  subscription: number;
  /** The watched address. */
  address: AddressText;
  outcome: 'matched' | HiddenReason;
  /** When the transfer arrived. */
  at: number;
}

/** What is stored of a delivery: the watched address that its body names, and when it last arrived. */
export interface StoredDelivery extends SeenDelivery, Pick<TransferEvent, 'projectId' | 'addressType' | 'direction'> {
  lastAt: number;
}

export interface SubscriptionStats extends ActivityStats {
  subscription: number;
}

/**
 * Maximum number of subscriptions that the new transfers of one commit concern. Each costs lookups, a decision and usually an alert,
 * while deliveries wait to be stored. Every guild may watch the same address.
 */
const MAX_REACHED = 5_000;

/** Everything that routing some deliveries changes, in one commit. */
export interface RoutingResult {
  /** Inbox ids that are done. */
  done: number[];
  transfers: SeenTransfer[];
  deliveries: StoredDelivery[];
  alerts: NewAlert[];
  decisions: Decision[];
  /** The subscriptions that the decisions are about; what concerns a removed one is not stored. */
  concerned: number[];
  /** Of those whose address moved something of worth. */
  stats: SubscriptionStats[];
  quarantined: { id: number; reason: string }[];
  /** Keys of transfers whose sent messages must change. */
  changed: string[];
  learned: Learned;
  now: number;
}

/** The part of a delivery that decides what the router must look up. */
export interface RoutingQuery extends ObservedTransfer {
  transferKey: string;
  deliveryKey: string;
  scope: number;
  /** When it arrived. */
  at: number;
  /** This bot found it on the chain. */
  isFound?: boolean;
}

/** The addresses of a transfer that somebody may watch. */
export const watchableAddresses = ({ transfer: { from, to, token } }: ObservedTransfer): AddressText[] =>
  [...new Set([from, to, token])].filter((address) => address !== null);

/**
 * The first query of each transfer that is new and that somebody watches, until they concern too many subscriptions.
 * `covered`: how many queries were considered. `reachOf`: how many subscriptions a query's transfer concerns.
 */
export function watchedQueries(
  queries: readonly RoutingQuery[],
  isKnown: (transferKey: string) => boolean,
  reachOf: (query: RoutingQuery) => number,
): { watched: RoutingQuery[]; covered: number } {
  const watched: RoutingQuery[] = [];
  const met = new Set<string>();
  let reached = 0;
  for (const [index, query] of queries.entries()) {
    if (isKnown(query.transferKey) || met.has(query.transferKey)) continue;
    const reach = reachOf(query);
    reached += reach;
    if (reached > MAX_REACHED && index > 0) return { watched, covered: index };
    met.add(query.transferKey);
    if (reach > 0) watched.push(query);
  }
  return { watched, covered: queries.length };
}

/** A new transfer, with the subscriptions to its addresses in its scope. */
export interface WatchedTransfer {
  transferKey: string;
  watchers: Watcher[];
  /** When the first two samples showed its scope's events beyond its block; fewer if there are not two. */
  passedAt: number[];
}

/** What is known about some deliveries: the result of routing queries. */
export interface RoutingContext {
  /**
   * How many of the queries it covers, from the first one on: at least one, and not all if very many subscriptions
   * watch.
   */
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
  /** How far networks were compared with their chains. */
  compared: ReadonlyMap<number, CheckProgress>;
  /** The network of each queried scope, and the project of a guild's own. */
  scopes: { scope: number; network: number; projectId: string | null }[];
  /** Of the subscriptions in `watched` with an earlier event. */
  stats: SubscriptionStats[];
}

/** The information of a network's explorer about a token. */
export interface CatalogEntry {
  network: number;
  token: AddressText;
  cataloged: boolean | null;
  symbol: string | null;
  name: string | null;
  checkedAt: number;
}

/** What the router must know about a transfer before it decides. */
export interface ObservedTransfer {
  transfer: Pick<
    Transfer,
    'kind' | 'txHash' | 'from' | 'to' | 'token' | 'tokenSymbol' | 'value' | 'tokenId' | 'tokenIdExact' | 'blockNumber'
  >;
}

/** What is known about the tokens and the parties of some transfers. */
export interface TokenKnowledge {
  catalog: CatalogEntry[];
  /** Cataloged tokens whose symbols look like those of the transfers' tokens. */
  genuine: { network: number; skeleton: string; token: AddressText }[];
  /** The native coins' symbols in the events, by network. */
  nativeSymbols: ReadonlyMap<number, string>;
  /** Addresses that a guild has labeled or watches and that begin and end like one of the parties. */
  named: { guildId: string; address: AddressText; label: string | null }[];
  /** Counterparties of the watched addresses in the last 30 days that begin and end like one of the parties. */
  counterparties: (Counterparty & { seenAt: number; isPaid: boolean })[];
}

/** A watched address and one that it sent to or received from, for the guild that watches. */
export interface Counterparty {
  guildId: string;
  address: AddressText;
  counterparty: AddressText;
}

export interface LearnedCounterparty extends Counterparty {
  at: number;
  /** The watched address paid it, which no stranger can bring about. */
  isPaid: boolean;
}

/** What the deliveries of one commit add to the knowledge about tokens. */
export interface Learned {
  catalog: CatalogEntry[];
  counterparties: LearnedCounterparty[];
  nativeSymbols: { network: number; symbol: string }[];
  /** The highest block that each scope's events name. */
  heads: { scope: number; block: number; at: number }[];
}

/** The block that a scope's events had reached at a time. */
export interface Head {
  block: number;
  at: number;
}

/** No delivery is repeated for longer, so older samples do not matter. */
export const HEADS_MS = 3 * DAY;
/** One or two retries are normal; the third is sent after eleven minutes. */
const LATE_MS = 10 * MINUTE;

/**
 * How many milliseconds late a transfer is; null: it is not late, as far as is known. `passedAt`: when the first two
 * samples showed its scope's events beyond its block.
 */
export function latenessOf(passedAt: readonly number[], at: number): number | null {
  const [first, second] = passedAt;
  if (first === undefined || second === undefined || Math.max(first, second) > at - LATE_MS) return null;
  return at - Math.min(first, second);
}

/**
 * Whether a head is kept as the next sample after the latest three, newest first: one a minute, and only progress. One
 * absurd block number must not count as progress, so the middle of the three does.
 */
export function isNextHead(latest: readonly Head[], { block, at }: Head): boolean {
  const middle = latest.map((head) => head.block).sort((a, b) => a - b)[(latest.length - 1) >> 1];
  return middle === undefined || (at >= latest[0]!.at + MINUTE && block > middle);
}
