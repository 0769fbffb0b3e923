import type { ActivityStats } from './activity-stats.ts';
import type { AddressText } from './address.ts';
import type { NewAlert } from './alert.ts';
import type { SeenDelivery, SeenTransfer } from './identity.ts';
import type { HiddenReason } from './match.ts';
import type { Asset, Watcher } from './subscription.ts';
import type { Transfer, TransferEvent } from './transfer.ts';

/** Whether a subscription was alerted, or why not. */
export interface Decision {
  transferKey: string;
  guildId: string;
  channelId: string;
  subscription: number;
  /** The watched address. */
  address: AddressText;
  /** `matched`, or the reason that hid it. */
  outcome: 'matched' | HiddenReason;
  /** When the transfer arrived. */
  at: number;
}

/** What is stored of a delivery: the watched address that its body names, and when it last arrived. */
export interface StoredDelivery extends SeenDelivery, Pick<TransferEvent, 'projectId' | 'addressType' | 'direction'> {
  lastAt: number;
}

/** The stats of one subscription. */
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
  /** Of every subscription that the decisions are about. */
  stats: SubscriptionStats[];
  /** Inbox ids to quarantine, with the reason, and when each was acknowledged, as far as is known. */
  quarantined: { id: number; reason: string; ackedAt: number | null }[];
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
}

/** The addresses of a transfer that somebody may watch. */
export const addressesOf = ({ transfer: { from, to, token } }: ObservedTransfer): AddressText[] =>
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
  deliveries: SeenDelivery[];
  /** New transfers that somebody watches. */
  watched: WatchedTransfer[];
  /** Tokens that are muted in these guilds now. */
  mutes: { guildId: string; token: Asset }[];
  /** Of the guilds whose alerts may be held. */
  timezones: { guildId: string; timezone: string | null }[];
  knowledge: TokenKnowledge;
  /** The guilds' own projects among the queried scopes. */
  projects: { scope: number; projectId: string }[];
  /** Of the subscriptions in `watched` with an earlier event. */
  stats: SubscriptionStats[];
}

/** The explorer's information about a token. */
export interface CatalogEntry {
  token: AddressText;
  /** null: unknown. */
  cataloged: boolean | null;
  symbol: string | null;
  name: string | null;
  checkedAt: number;
}

/** What the router must know about a transfer before it decides. */
export interface ObservedTransfer {
  transfer: Pick<Transfer, 'txHash' | 'from' | 'to' | 'token' | 'tokenSymbol' | 'blockNumber'>;
}

/** What is known about the tokens and the parties of some transfers. */
export interface TokenKnowledge {
  catalog: CatalogEntry[];
  /** Cataloged tokens whose symbols look like those of the transfers' tokens. */
  genuine: { skeleton: string; token: AddressText }[];
  /** The native coin's symbol in the events. */
  nativeSymbol: string | null;
  /** Addresses that a guild has labeled or watches and that begin and end like one of the parties. */
  named: { guildId: string; address: AddressText; label: string | null }[];
  /** Counterparties of the watched addresses in the last 30 days that begin and end like one of the parties. */
  counterparties: (Counterparty & { seenAt: number })[];
}

/** A watched address and one that it sent to or received from, for the guild that watches. */
export interface Counterparty {
  guildId: string;
  address: AddressText;
  counterparty: AddressText;
}

/** A counterparty to store, and when the transfer arrived. */
export interface LearnedCounterparty extends Counterparty {
  at: number;
}

/** What the deliveries of one commit add to the knowledge about tokens. */
export interface Learned {
  catalog: CatalogEntry[];
  counterparties: LearnedCounterparty[];
  nativeSymbol: string | null;
  /** The highest block that each scope's events name. */
  heads: { scope: number; block: number; at: number }[];
}
