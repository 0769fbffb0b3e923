import type { AddressText, Asset } from '../domain/address.ts';
import type { InboxRow } from '../domain/inbox.ts';
import type { MatchContext } from '../domain/match.ts';
import { FIRST_NETWORK, type Network } from '../domain/network.ts';
import { isOperatorScope, operatorScope } from '../domain/project.ts';
import type { Learned, RoutingQuery, WatchedTransfer } from '../domain/routing.ts';
import { type CatalogEntry, outerDigitsOf } from '../domain/scam.ts';
import { type ChainPrices, isItem, type Transfer, type TransferEvent } from '../domain/transfer.ts';
import type { Store } from '../store/store.ts';
import { addToCatalog, type ScamSignals, tokensLike, toScamSignals } from './scam.ts';
import type { TokenCatalog, WantedToken } from './token-catalog.ts';

/** How long routing waits for the price of a token that the explorer just listed: the source is asked once a second. */
const PRICE_WAIT_MS = 1_000;

export interface ParsedDelivery {
  row: InboxRow;
  /** This bot found it on the chain. */
  isFound: boolean;
  event: TransferEvent;
  keys: { transfer: string; delivery: string };
}

type Scopes = Map<number, { network: number; projectId: string | null }>;

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

/** A project that is gone has no network any more; its events concern nobody. */
export const networkOf = ({ scope }: InboxRow, { scopes }: { scopes: Scopes }): number =>
  scopes.get(scope)?.network ?? FIRST_NETWORK;

/** One call to the store. `covered`: for how many of the deliveries, from the first on, the context is complete. */
export async function readContext(parsed: ParsedDelivery[], { store, networks }: ContextOptions, now: number) {
  // Of two forms of a transfer one is stored first: deliveries of a service and what was found on the chain take turns.
  const other = parsed.findIndex(({ isFound }) => isFound !== parsed[0]!.isFound);
  const items = other === -1 ? parsed : parsed.slice(0, other);
  const queries = items.map(({ row, event, keys, isFound }): RoutingQuery => {
    const { scope, receivedAt: at } = row;
    return { transferKey: keys.transfer, deliveryKey: keys.delivery, scope, at, isFound, transfer: event.transfer };
  });
  const { covered: count, knowledge, aliases, ...read } = await store.routing.context(queries, now);
  const covered = items.slice(0, count);
  const scopes: Scopes = byField(read.scopes, 'scope');
  for (const [id, { operatorProject: projectId }] of networks)
    scopes.set(operatorScope(id), { network: id, projectId });
  const watched = byField(read.watched, 'transferKey');

  const heads = new Map<number, Learned['heads'][number]>();
  const symbols = new Map<number, string>();
  for (const { row, keys, event } of covered) {
    keys.transfer = aliases.get(keys.transfer) ?? keys.transfer;
    const { scope, receivedAt: at } = row;
    const { blockNumber: block, kind, tokenType } = event.transfer;
    if (block !== null && block > (heads.get(scope)?.block ?? -1)) heads.set(scope, { scope, block, at });
    // Events of a guild's own project must not affect other guilds.
    if (isOperatorScope(scope) && kind === 'native' && tokenType !== null && !/^native$/i.test(tokenType))
      symbols.set(networkOf(row, { scopes }), tokenType);
  }
  const learned: Learned = { catalog: [], counterparties: [], nativeSymbols: [], heads: [...heads.values()] };
  const signals = toScamSignals(knowledge);
  for (const [network, { nativeSymbol, catalog }] of networks) {
    if (catalog) signals.explorers.add(network);
    const symbol = nativeSymbol ?? symbols.get(network);
    if (symbol === undefined) continue;
    if (nativeSymbol === undefined && symbol !== signals.nativeSymbols.get(network))
      learned.nativeSymbols.push({ network, symbol });
    signals.nativeSymbols.set(network, symbol);
  }
  const byNetwork = Map.groupBy(covered, ({ row }) => networkOf(row, { scopes }));
  const lookUps = [...byNetwork].map(async ([network, some]) => {
    const { catalog, prices } = networks.get(network) ?? {};
    const known = new Map<AddressText, CatalogEntry>();
    for (const entry of knowledge.catalog) if (entry.network === network) known.set(entry.token, entry);
    if (catalog) {
      const wanted = wantedTokens(network, some, watched, signals);
      for (const found of await catalog.learn(wanted, known, covered[0]?.row.receivedAt ?? now)) {
        addToCatalog(signals, { network, ...found });
        learned.catalog.push({ network, ...found });
      }
      for (const token of wanted.keys()) if (catalog.isPassedOver(token)) signals.crowded.add(`${network} ${token}`);
    }
    const transfers = some.flatMap(({ keys, event }) => (watched.has(keys.transfer) ? event.transfer : []));
    if (prices) await addPrices(transfers, prices, network, { signals, known });
  });
  await Promise.all(lookUps);
  return {
    covered: count,
    state: {
      now,
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

const byField = <Row, Field extends keyof Row>(rows: readonly Row[], field: Field): Map<Row[Field], Row> =>
  new Map(rows.map((row) => [row[field], row]));

/** The data that decisions about one commit's deliveries read; each decision updates it. */
export type RoutingState = Awaited<ReturnType<typeof readContext>>['state'];

export function matchContext(network: number, { now, signals, mutes }: RoutingState): MatchContext {
  return {
    now,
    cataloged: (token) => signals.catalog.get(`${network} ${token}`)?.cataloged ?? null,
    isNamed: (guildId, token) =>
      (signals.named.get(guildId + outerDigitsOf(token)) ?? []).some(({ address }) => address === token),
    tokenMuted: (guildId, asset) => mutes.has(`${guildId} ${asset}`),
  };
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
