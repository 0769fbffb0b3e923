import type { AddressText } from '../domain/address.ts';
import type { SeenTransfer } from '../domain/identity.ts';
import type { InboxRow } from '../domain/inbox.ts';
import type { MatchContext } from '../domain/match.ts';
import type { CatalogEntry, Learned, RoutingQuery, StoredDelivery, WatchedTransfer } from '../domain/routing.ts';
import { OPERATOR_SCOPE } from '../domain/scope.ts';
import type { TransferEvent } from '../domain/transfer.ts';
import type { Store } from '../store/store.ts';
import type { Catalogue } from './catalogue.ts';
import { type ScamSignals, toScamSignals } from './scam-signals.ts';

/** A delivery that could be read. */
export interface Item {
  row: InboxRow;
  event: TransferEvent;
  keys: { transfer: string; delivery: string };
}

/** What the deliveries of one commit are decided by; each that is decided adds to it. */
export interface RoutingState {
  transfers: Map<string, SeenTransfer>;
  deliveries: Map<string, StoredDelivery>;
  /** By the transfer's key. */
  sightings: Map<string, WatchedTransfer>;
  /** By guild; of those in which somebody may have to wait. */
  timezones: Map<string, string | null>;
  context: MatchContext;
  signals: ScamSignals;
}

/** Where knowledge comes from. */
export interface Sources {
  store: Store;
  /** null: nobody is asked which tokens are catalogued. */
  catalogue: Catalogue | null;
  /** How the native coin is written; by default as the operator's events call it. */
  nativeSymbol: string | undefined;
}

/**
 * Looks up everything that deciding about these deliveries needs: with one call to the store, and one to the explorer
 * for tokens that are not known yet. `items`: the first ones of `asked`, about which all is known; the rest comes again.
 */
export async function lookUp(
  asked: Item[],
  { store, catalogue, nativeSymbol }: Sources,
  now: number,
): Promise<{ items: Item[]; known: RoutingState; learned: Learned }> {
  const read = await store.routing.context(asked.map(toQuestion), now);
  const items = asked.slice(0, read.answered);
  const { knowledge, sightings } = read;
  const catalog = new Map(knowledge.catalog.map((entry) => [entry.token, entry]));
  const watched = new Map(sightings.map((sighting) => [sighting.transferKey, sighting]));
  const tokens = new Set<AddressText>();
  for (const { keys, event } of items) {
    if (event.transfer.token && watched.has(keys.transfer)) tokens.add(event.transfer.token);
  }
  const news: CatalogEntry[] = (await catalogue?.learn(tokens, catalog)) ?? [];
  const brand = nativeSymbol === undefined ? brandOf(items) : null;
  const signals = toScamSignals(knowledge, news, nativeSymbol ?? brand ?? knowledge.nativeSymbol);
  const mutes = new Set(read.mutes.map(({ guildId, token }) => `${guildId} ${token}`));
  return {
    items,
    known: {
      transfers: new Map(read.transfers.map((seen) => [seen.key, seen])),
      deliveries: new Map(read.deliveries.map((seen) => [seen.key, seen])),
      sightings: watched,
      timezones: new Map(read.timezones.map(({ guildId, timezone }) => [guildId, timezone])),
      signals,
      context: {
        now,
        cataloged: (token: AddressText) => signals.catalog.get(token)?.cataloged ?? null,
        tokenMuted: (guildId, asset) => mutes.has(`${guildId} ${asset}`),
      },
    },
    learned: {
      catalog: news,
      dealings: [],
      nativeSymbol: brand === knowledge.nativeSymbol ? null : brand,
      heads: headsOf(items),
    },
  };
}

function toQuestion({ row, event, keys }: Item): RoutingQuery {
  const { txHash, from, to, token, tokenSymbol, blockNumber } = event.transfer;
  const transfer = { txHash, from, to, token, tokenSymbol, blockNumber };
  return { transferKey: keys.transfer, deliveryKey: keys.delivery, scope: row.scope, at: row.receivedAt, transfer };
}

/** How the operator's events call the native coin; what others' projects send teaches nothing to all guilds. */
function brandOf(items: Item[]): string | null {
  const native = items.findLast(({ row, event: { transfer } }) => {
    const { kind, tokenType } = transfer;
    return row.scope === OPERATOR_SCOPE && kind === 'native' && tokenType !== null && !/^native$/i.test(tokenType);
  });
  return native?.event.transfer.tokenType ?? null;
}

/** How far each scope's events have come. */
function headsOf(items: Item[]): Learned['heads'] {
  const heads = new Map<number, Learned['heads'][number]>();
  for (const { row, event } of items) {
    const block = event.transfer.blockNumber;
    if (block !== null && block > (heads.get(row.scope)?.block ?? -1)) {
      heads.set(row.scope, { scope: row.scope, block, at: row.receivedAt });
    }
  }
  return [...heads.values()];
}
