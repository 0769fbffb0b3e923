import type { ActivityStats } from '../domain/activity-stats.ts';
import type { AddressText } from '../domain/address.ts';
import type { SeenDelivery, SeenTransfer } from '../domain/identity.ts';
import type { InboxRow } from '../domain/inbox.ts';
import type { MatchContext } from '../domain/match.ts';
import type { Learned, RoutingQuery, WatchedTransfer } from '../domain/routing.ts';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { TransferEvent } from '../domain/transfer.ts';
import type { Store } from '../store/store.ts';
import { type ScamSignals, toScamSignals } from './scam-signals.ts';
import type { TokenCatalog } from './token-catalog.ts';

/** A delivery whose body was parsed. */
export interface ParsedDelivery {
  row: InboxRow;
  event: TransferEvent;
  keys: { transfer: string; delivery: string };
}

/** What the decisions about one commit's deliveries depend on; each decision adds to it. */
export interface RoutingState {
  /** By key. */
  transfers: Map<string, SeenTransfer>;
  /** By key. */
  deliveries: Map<string, SeenDelivery>;
  /** New transfers that somebody watches, by key. */
  watched: Map<string, WatchedTransfer>;
  /** By guild, for guilds whose alerts may be held. */
  timezones: Map<string, string | null>;
  context: MatchContext;
  signals: ScamSignals;
  /** The id of each scope's project, where it is known. */
  projects: ReadonlyMap<number, string>;
  /** By subscription, before these deliveries. */
  stats: ReadonlyMap<number, ActivityStats>;
}

/** The source of the context. */
export interface ContextOptions {
  store: Store;
  /** The operator's project id; null when it is not set. */
  operatorProject: string | null;
  /** null: no explorer. */
  catalog: TokenCatalog | null;
  /** The native coin's symbol; by default the one in the operator's events. */
  nativeSymbol: string | undefined;
}

/**
 * Reads everything that deciding about these deliveries needs: one call to the store, and one to the explorer for
 * unknown tokens. `covered`: how many of the deliveries the context is complete for, from the first on.
 */
export async function readContext(
  items: ParsedDelivery[],
  { store, operatorProject, catalog, nativeSymbol }: ContextOptions,
  now: number,
): Promise<{ covered: number; state: RoutingState; learned: Learned }> {
  const read = await store.routing.context(items.map(toQuery), now);
  const covered = items.slice(0, read.covered);
  const { knowledge } = read;
  const watched = new Map(read.watched.map((transfer) => [transfer.transferKey, transfer]));
  const tokens = new Map<AddressText, number>();
  for (const { row, keys, event } of covered)
    if (event.transfer.token && watched.has(keys.transfer)) tokens.set(event.transfer.token, row.scope);
  const known = new Map(knowledge.catalog.map((entry) => [entry.token, entry]));
  const learned = (await catalog?.learn(tokens, known)) ?? [];
  const usedSymbol = nativeSymbol === undefined ? nativeSymbolOf(covered) : null;
  const symbol = nativeSymbol ?? usedSymbol ?? knowledge.nativeSymbol;
  const signals = toScamSignals(knowledge, learned, symbol, catalog !== null);
  const mutes = new Set(read.mutes.map(({ guildId, token }) => `${guildId} ${token}`));
  return {
    covered: covered.length,
    state: {
      transfers: new Map(read.transfers.map((seen) => [seen.key, seen])),
      deliveries: new Map(read.deliveries.map((seen) => [seen.key, seen])),
      watched,
      timezones: new Map(read.timezones.map(({ guildId, timezone }) => [guildId, timezone])),
      signals,
      projects: new Map([
        ...read.projects.map(({ scope, projectId }) => [scope, projectId] as const),
        ...(operatorProject === null ? [] : [[OPERATOR_SCOPE, operatorProject] as const]),
      ]),
      stats: new Map(read.stats.map(({ subscription, ...stats }) => [subscription, stats])),
      context: {
        now,
        cataloged: (token: AddressText) => signals.catalog.get(token)?.cataloged ?? null,
        tokenMuted: (guildId, asset) => mutes.has(`${guildId} ${asset}`),
      },
    },
    learned: {
      catalog: learned,
      counterparties: [],
      nativeSymbol: usedSymbol === knowledge.nativeSymbol ? null : usedSymbol,
      heads: headsOf(covered),
    },
  };
}

function toQuery({ row, event, keys }: ParsedDelivery): RoutingQuery {
  const { txHash, from, to, token, tokenSymbol, blockNumber } = event.transfer;
  const transfer = { txHash, from, to, token, tokenSymbol, blockNumber };
  return { transferKey: keys.transfer, deliveryKey: keys.delivery, scope: row.scope, at: row.receivedAt, transfer };
}

/** The native coin's symbol in the operator's events. Events of a guild's own project must not affect other guilds. */
function nativeSymbolOf(items: ParsedDelivery[]): string | null {
  const native = items.findLast(({ row, event: { transfer } }) => {
    const { kind, tokenType } = transfer;
    return row.scope === OPERATOR_SCOPE && kind === 'native' && tokenType !== null && !/^native$/i.test(tokenType);
  });
  return native?.event.transfer.tokenType ?? null;
}

/** The highest block that each scope's events name. */
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
