import type { AddressText, Asset } from '../domain/address.ts';
import type { Clock } from '../domain/clock.ts';
import { type InboxRow, isOperatorScope } from '../domain/inbox.ts';
import { FIRST_NETWORK, type Network } from '../domain/network.ts';
import type { Learned, RoutingQuery, WatchedTransfer } from '../domain/routing.ts';
import type { CatalogEntry, TokenKnowledge } from '../domain/scam.ts';
import { type ChainPrices, isItem, type Transfer, type TransferEvent } from '../domain/transfer.ts';
import type { Store } from '../store/store.ts';
import { addToCatalog, type ScamSignals, tokensLike, toScamSignals } from './scam.ts';
import { createTokenCatalog, type TokenCatalog, type WantedToken } from './token-catalog.ts';

/** How long routing waits for the price of a token that the explorer just listed: the source is asked once a second. */
const PRICE_WAIT_MS = 1_000;

export interface ParsedDelivery {
  row: InboxRow;
  /** This bot found it on the chain. */
  isFound: boolean;
  event: TransferEvent;
  /** The context replaces the transfer's key if the transfer is stored in another form. */
  keys: { transfer: string; delivery: string };
  /** From the context. */
  network: number;
}

export interface ContextOptions {
  store: Store;
  networks: ReadonlyMap<number, RoutedNetwork>;
}

/** `nativeSymbol` undefined: the one in the operator's events. */
export interface RoutedNetwork extends Pick<Network, 'chainId' | 'nativeSymbol'> {
  operatorProject: string | null;
  catalog: TokenCatalog | null;
  prices?: ChainPrices | null;
}

/** A network's interfaces, as far as routing asks them. */
interface RoutedInterfaces {
  network: Pick<Network, 'id' | 'chainId' | 'nativeSymbol'>;
  projects: { operatorId: string | null };
  explorer: { token: Parameters<typeof createTokenCatalog>[0]['lookUp'] } | null;
  prices: ChainPrices | null;
}

export const routedNetworks = (all: readonly RoutedInterfaces[], clock: Clock): ReadonlyMap<number, RoutedNetwork> =>
  new Map(
    all.map(({ network: { id, chainId, nativeSymbol }, projects, explorer, prices }) => {
      const catalog = explorer && createTokenCatalog({ lookUp: explorer.token, clock });
      return [id, { chainId, nativeSymbol, operatorProject: projects.operatorId, catalog, prices }];
    }),
  );

/** One call to the store. `covered`: for how many of the deliveries, from the first on, the context is complete. */
export async function readContext(parsed: ParsedDelivery[], { store, networks }: ContextOptions, now: number) {
  const queries: RoutingQuery[] = [];
  for (const { row, event, keys, isFound } of parsed) {
    // Of two forms of a transfer one is stored first: deliveries of a service and what was found on the chain take turns.
    if (isFound !== parsed[0]!.isFound) break;
    const { scope, receivedAt: at } = row;
    const { transfer } = event;
    queries.push({ transferKey: keys.transfer, deliveryKey: keys.delivery, scope, at, isFound, transfer });
  }
  const { covered, knowledge, aliases, ...read } = await store.routing.context(queries, now);
  const items = parsed.slice(0, covered);
  const scopes = byField(read.scopes, 'scope');
  const watched = byField(read.watched, 'transferKey');
  const signals = toScamSignals(knowledge);

  const heads = new Map<number, Learned['heads'][number]>();
  const symbols = new Map<number, string>();
  for (const item of items) {
    const { scope, receivedAt: at } = item.row;
    const { blockNumber: block, kind, tokenType } = item.event.transfer;
    item.keys.transfer = aliases.get(item.keys.transfer) ?? item.keys.transfer;
    // A project that is gone has no network any more; its events concern nobody.
    item.network = scopes.get(scope)?.network ?? FIRST_NETWORK;
    if (block !== null && block > (heads.get(scope)?.block ?? -1)) heads.set(scope, { scope, block, at });
    // Events of a guild's own project must not affect other guilds.
    if (isOperatorScope(scope) && kind === 'native' && tokenType !== null && !/^native$/i.test(tokenType))
      symbols.set(item.network, tokenType);
  }
  const learned: Learned = { catalog: [], counterparties: [], nativeSymbols: [], heads: [...heads.values()] };
  const found = { watched, signals, learned, knowledge, since: items[0]?.row.receivedAt ?? now };
  const lookUps: Promise<void>[] = [];
  for (const [network, routed] of networks) {
    const { nativeSymbol, catalog, prices } = routed;
    if (catalog) signals.explorers.add(network);
    const symbol = nativeSymbol ?? symbols.get(network);
    if (symbol !== undefined) {
      if (nativeSymbol === undefined && symbol !== signals.nativeSymbols.get(network))
        learned.nativeSymbols.push({ network, symbol });
      signals.nativeSymbols.set(network, symbol);
    }
    if (catalog || prices) lookUps.push(lookUp(network, routed, items, found));
  }
  await Promise.all(lookUps);
  return {
    covered,
    state: {
      now,
      networks,
      transfers: byField(read.transfers, 'key'),
      deliveries: byField(read.deliveries, 'key'),
      /** New transfers that somebody watches. */
      watched,
      /** By guild, for guilds whose alerts may be held. */
      timezones: byField(read.timezones, 'guildId'),
      /** Guild and token, with a space between them. */
      mutes: new Set(read.mutes.map(({ guildId, token }) => `${guildId} ${token}`)),
      signals,
      scopes,
      compared: read.compared,
      stats: byField(read.stats, 'subscription'),
    },
    learned,
  };
}

function byField<Row, Field extends keyof Row>(rows: readonly Row[], field: Field): Map<Row[Field], Row> {
  const found = new Map<Row[Field], Row>();
  for (const row of rows) found.set(row[field], row);
  return found;
}

/** The data that decisions about one commit's deliveries read; each decision updates it. */
export type RoutingState = Awaited<ReturnType<typeof readContext>>['state'];

interface Found {
  watched: ReadonlyMap<string, WatchedTransfer>;
  signals: ScamSignals;
  learned: Learned;
  knowledge: TokenKnowledge;
  /** When the first of the deliveries that wait for this arrived. */
  since: number;
}

/** Asks for what is not known of one network's tokens and prices. */
async function lookUp(
  network: number,
  { catalog, prices }: RoutedNetwork,
  all: readonly ParsedDelivery[],
  { watched, signals, learned, knowledge, since }: Found,
): Promise<void> {
  const items = all.filter((item) => item.network === network);
  if (items.length === 0) return;
  const known = new Map<AddressText, CatalogEntry>();
  for (const entry of knowledge.catalog) if (entry.network === network) known.set(entry.token, entry);
  if (catalog) {
    const wanted = wantedTokens(network, items, watched, signals);
    for (const entry of await catalog.learn(wanted, known, since)) {
      addToCatalog(signals, { network, ...entry });
      learned.catalog.push({ network, ...entry });
    }
    for (const token of wanted.keys()) if (catalog.isPassedOver(token)) signals.crowded.add(`${network} ${token}`);
  }
  const transfers = items.flatMap(({ keys, event }) => (watched.has(keys.transfer) ? event.transfer : []));
  if (prices) await addPrices(transfers, prices, network, { signals, known });
}

/** Only the price of a token that the explorer just listed is waited for, because the explorer was, too. */
async function addPrices(
  transfers: readonly Transfer[],
  prices: ChainPrices,
  network: number,
  { signals, known }: { signals: ScamSignals; known: ReadonlyMap<AddressText, CatalogEntry> },
): Promise<void> {
  const assetOf = (transfer: Transfer): Asset | null => {
    const { kind, token } = transfer;
    if (token === null) return kind === 'native' ? 'native' : null;
    return signals.catalog.get(`${network} ${token}`)?.cataloged && !isItem(transfer) ? token : null;
  };
  const assets = [...new Set(transfers.flatMap((transfer) => assetOf(transfer) ?? []))];
  const asked = prices.ask(assets, PRICE_WAIT_MS);
  if (assets.some((asset) => asset !== 'native' && !known.has(asset))) await asked;
  for (const transfer of transfers) {
    const asset = assetOf(transfer);
    transfer.price = asset && prices.of(asset, transfer.decimals);
  }
}

function wantedTokens(
  network: number,
  items: readonly ParsedDelivery[],
  watched: ReadonlyMap<string, WatchedTransfer>,
  signals: ScamSignals,
): Map<AddressText, WantedToken> {
  const wanted = new Map<AddressText, WantedToken>();
  for (const { row, keys, event } of items) {
    const { token, from, tokenSymbol } = event.transfer;
    const watchers = watched.get(keys.transfer)?.watchers;
    if (!token || !watchers) continue;
    const isUrgent =
      watchers.some(({ address }) => address === from) || tokensLike(network, tokenSymbol, signals).length > 0;
    wanted.set(token, { scope: row.scope, isUrgent: isUrgent || wanted.get(token)?.isUrgent === true });
  }
  return wanted;
}
