import type { AddressText, Asset } from '../domain/address.ts';
import { outerDigitsOf } from '../domain/guard.ts';
import type { InboxRow } from '../domain/inbox.ts';
import type { MatchContext } from '../domain/match.ts';
import { FIRST_NETWORK, type Network } from '../domain/network.ts';
import { isOperatorScope, operatorScope } from '../domain/project.ts';
import type { Learned, RoutingQuery, WatchedTransfer } from '../domain/routing.ts';
import { type ChainPrices, isItem, type Transfer, type TransferEvent } from '../domain/transfer.ts';
import type { Store } from '../store/store.ts';
import { addCatalog, type ScamSignals, tokensLike, toScamSignals } from './scam.ts';
import type { TokenCatalog, WantedToken } from './token-catalog.ts';

/** How long routing waits for the price of a token that the explorer just listed. */
const PRICE_WAIT_MS = 500;

export interface ParsedDelivery {
  row: InboxRow;
  event: TransferEvent;
  keys: { transfer: string; delivery: string };
}

type Scopes = ReadonlyMap<number, { network: number; projectId: string | null }>;

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
  const items = oneOrigin(parsed);
  const queries = items.map((item): RoutingQuery => {
    const { row, event, keys } = item;
    return {
      transferKey: keys.transfer,
      deliveryKey: keys.delivery,
      scope: row.scope,
      at: row.receivedAt,
      isFound: isFound(item),
      transfer: event.transfer,
    };
  });
  const { covered: count, knowledge, aliases, ...read } = await store.routing.context(queries, now);
  const covered = items.slice(0, count);
  for (const { keys } of covered) keys.transfer = aliases.get(keys.transfer) ?? keys.transfer;
  const scopes = new Map(read.scopes.map(({ scope, ...of }) => [scope, of]));
  for (const [id, { operatorProject: projectId }] of networks)
    scopes.set(operatorScope(id), { network: id, projectId });
  const byNetwork = Map.groupBy(covered, ({ row }) => networkOf(row, { scopes }));
  const watched = new Map(read.watched.map((transfer) => [transfer.transferKey, transfer]));

  const learned: Learned = { catalog: [], counterparties: [], nativeSymbols: [], heads: headsOf(covered) };
  const signals = toScamSignals(knowledge);
  for (const [network, { nativeSymbol, catalog }] of networks) {
    if (catalog) signals.explorers.add(network);
    const symbol = nativeSymbol ?? nativeSymbolOf(byNetwork.get(network) ?? []);
    if (symbol === null) continue;
    if (nativeSymbol === undefined && symbol !== signals.nativeSymbols.get(network))
      learned.nativeSymbols.push({ network, symbol });
    signals.nativeSymbols.set(network, symbol);
  }
  const lookUps = [...byNetwork].map(async ([network, some]) => {
    const { catalog, prices } = networks.get(network) ?? {};
    const known = new Map(
      knowledge.catalog.flatMap((entry) => (entry.network === network ? [[entry.token, entry]] : [])),
    );
    const wanted = wantedTokens(network, some, watched, signals);
    const found = (await catalog?.learn(wanted, known, covered[0]?.row.receivedAt ?? now)) ?? [];
    for (const token of wanted.keys()) if (catalog?.isPassedOver(token)) signals.crowded.add(`${network} ${token}`);
    const news = found.map((entry) => ({ network, ...entry }));
    addCatalog(signals, news);
    learned.catalog.push(...news);
    const transfers = some.flatMap(({ keys, event }) => (watched.has(keys.transfer) ? event.transfer : []));
    const isListed = (token: AddressText) => signals.catalog.get(`${network} ${token}`)?.cataloged === true;
    await addPrices(transfers, prices, { isListed, isNew: (token) => !known.has(token) });
  });
  await Promise.all(lookUps);
  return {
    covered: count,
    state: {
      now,
      transfers: new Map(read.transfers.map((seen) => [seen.key, seen])),
      deliveries: new Map(read.deliveries.map((seen) => [seen.key, seen])),
      /** New transfers that somebody watches. */
      watched,
      /** By guild, for guilds whose alerts may be held. */
      timezones: new Map(read.timezones.map(({ guildId, timezone }) => [guildId, timezone])),
      /** Guild and token, with a space between them. */
      mutes: new Set(read.mutes.map(({ guildId, token }) => `${guildId} ${token}`)),
      signals,
      scopes,
      compared: read.compared,
      /** By subscription. */
      stats: new Map(read.stats.map(({ subscription, ...stats }) => [subscription, stats])),
    },
    learned,
  };
}

/** What the decisions about one commit's deliveries depend on; each decision adds to it. */
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
  prices: RoutedNetwork['prices'],
  { isListed, isNew }: Record<'isListed' | 'isNew', (token: AddressText) => boolean>,
): Promise<void> {
  if (!prices) return;
  const assetOf = (transfer: Transfer): Asset | null => {
    const { kind, token } = transfer;
    if (token === null) return kind === 'native' ? 'native' : null;
    return isListed(token) && !isItem(transfer) ? token : null;
  };
  const assets = [...new Set(transfers.flatMap((transfer) => assetOf(transfer) ?? []))];
  const asked = prices.ask(assets, PRICE_WAIT_MS);
  if (assets.some((asset) => asset !== 'native' && isNew(asset))) await asked;
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

/** Whether this bot found it on the chain. */
export const isFound = ({ row }: Pick<ParsedDelivery, 'row'>): boolean => row.identity?.minedAt !== undefined;

/** The first deliveries, all of the service or all found on the chain: of two forms of a transfer one is stored first. */
function oneOrigin(items: ParsedDelivery[]): ParsedDelivery[] {
  const other = items.findIndex((item) => isFound(item) !== isFound(items[0]!));
  return other === -1 ? items : items.slice(0, other);
}

/** Events of a guild's own project must not affect other guilds. */
function nativeSymbolOf(items: ParsedDelivery[]): string | null {
  const native = items.findLast(({ row, event: { transfer } }) => {
    const { kind, tokenType } = transfer;
    return isOperatorScope(row.scope) && kind === 'native' && tokenType !== null && !/^native$/i.test(tokenType);
  });
  return native?.event.transfer.tokenType ?? null;
}

function headsOf(items: ParsedDelivery[]): Learned['heads'] {
  const heads = new Map<number, Learned['heads'][number]>();
  for (const { row, event } of items) {
    const block = event.transfer.blockNumber;
    if (block !== null && block > (heads.get(row.scope)?.block ?? -1)) {
      heads.set(row.scope, { scope: row.scope, block, at: row.receivedAt });
    }
  }
  return [...heads.values()];
}
