import type { Logger } from 'pino';
import type { AddressText } from '../domain/address.ts';
import { parseEvent } from '../domain/event.ts';
import { judge, type Receipt, type SeenTransfer } from '../domain/identity.ts';
import { type MatchContext, matchTransfer } from '../domain/match.ts';
import type { Subscription } from '../domain/subscription.ts';
import { deliveryKey, type Transfer, type TransferEvent, transferKey } from '../domain/transfer.ts';
import { isPassing } from '../errors.ts';
import type { InboxRow } from '../store/inbox.ts';
import type { NewAlert, Routed, StoredDelivery, WatchingGuild } from '../store/routing.ts';
import type { Store } from '../store/tables.ts';

const BATCH = 200;
/** Pause after a failure that may pass: a locked file, a full disk. */
const PAUSE_MS = 500;

/** What the router needs. `outcome` tells whether a delivery's 200 got to its end, `undefined` while it is on the way. */
export interface RouterOptions {
  store: Store;
  now(): number;
  log: Logger;
  outcome(id: number): number | null | undefined;
  /** Called after each commit with the channels that have new lines. */
  onRouted(result: { ids: number[]; channels: string[]; quarantined: number; events: number }): void;
}

interface Known {
  transfers: Map<string, SeenTransfer>;
  deliveries: Map<string, StoredDelivery>;
  subscriptions: Map<AddressText, Subscription[]>;
  guilds: Map<string, WatchingGuild>;
  context: MatchContext;
}

interface Item {
  row: InboxRow;
  receipt: Receipt;
  event: TransferEvent;
  keys: { transfer: string; delivery: string };
}

/** Turns stored deliveries into lines for channels, in the order in which they came, a batch a transaction. */
export function startRouter(options: RouterOptions) {
  const { store, log, now, outcome, onRouted } = options;
  let wanted = false;
  let closing = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;

  async function run(): Promise<void> {
    while (wanted && !closing) {
      wanted = false;
      try {
        const rows = await store.inbox.next(BATCH);
        const ready = rows.slice(0, answeredRun(rows));
        if (ready.length > 0) {
          await routeRows(ready);
          wanted = true;
        }
      } catch (error) {
        if (closing) return;
        log.error({ err: error }, 'routing paused');
        timer = setTimeout(nudge, PAUSE_MS);
        return;
      }
    }
  }

  /** How many rows from the front have an answer that is over, one way or the other. */
  function answeredRun(rows: InboxRow[]): number {
    const pending = rows.findIndex((row) => outcome(row.id) === undefined);
    return pending === -1 ? rows.length : pending;
  }

  async function routeRows(rows: InboxRow[]): Promise<void> {
    const routed = await routeBatch(rows, options);
    let edited: string[];
    try {
      edited = await store.routing.commit(routed);
    } catch (error) {
      if (isPassing(error)) throw error;
      if (rows.length > 1) {
        for (const row of rows) await routeRows([row]);
        return;
      }
      // One event that cannot be stored is set aside; it must not hold the others.
      const reason = `Routing failed: ${(error as Error).message}`;
      log.error({ err: error, inbox: rows[0]!.id }, 'event set aside');
      await store.routing.commit({ ...nothing(now()), quarantined: [{ id: rows[0]!.id, reason }] });
      onRouted({ ids: [rows[0]!.id], channels: [], quarantined: 1, events: 1 });
      return;
    }
    onRouted({
      ids: rows.map((row) => row.id),
      channels: [...new Set([...routed.alerts.map((alert) => alert.channelId), ...edited])],
      quarantined: routed.quarantined.length,
      events: rows.length,
    });
  }

  function nudge(): void {
    wanted = true;
    if (running || closing) return;
    running = run().finally(() => {
      running = null;
      if (wanted && !closing) nudge();
    });
  }

  return {
    /** There may be something to route. */
    nudge,
    async close(): Promise<void> {
      closing = true;
      clearTimeout(timer);
      await running;
    },
  };
}

const nothing = (now: number): Routed => ({
  done: [],
  transfers: [],
  deliveries: [],
  alerts: [],
  decisions: [],
  quarantined: [],
  changed: [],
  now,
});

/** Decides about a batch against what the store knows; changes nothing itself. */
async function routeBatch(rows: InboxRow[], { store, now, log, outcome }: RouterOptions): Promise<Routed> {
  const routed = nothing(now());
  const items: Item[] = [];
  for (const row of rows) {
    const parsed = parseEvent(row.body);
    if (!parsed.ok) {
      routed.quarantined.push({ id: row.id, reason: parsed.reason });
      log.warn({ inbox: row.id, reason: parsed.reason }, 'delivery quarantined');
      continue;
    }
    const { event } = parsed;
    items.push({
      row,
      event,
      receipt: { receivedAt: row.receivedAt, answeredAt: outcome(row.id) ?? null },
      keys: { transfer: transferKey(row.scope, event.transfer), delivery: deliveryKey(row.scope, event) },
    });
  }
  const known = await lookUp(items, store, routed.now);
  const changed = { transfers: new Set<string>(), deliveries: new Set<string>(), lines: new Set<string>() };
  for (const item of items) {
    try {
      routeEvent(item, known, routed, changed);
      routed.done.push(item.row.id);
    } catch (error) {
      log.error({ err: error, inbox: item.row.id }, 'event set aside');
      routed.quarantined.push({ id: item.row.id, reason: `Routing failed: ${(error as Error).message}` });
    }
  }
  routed.transfers = [...changed.transfers].map((key) => known.transfers.get(key)!);
  routed.deliveries = [...changed.deliveries].map((key) => known.deliveries.get(key)!);
  routed.changed = [...changed.lines];
  return routed;
}

async function lookUp(items: Item[], store: Store, now: number): Promise<Known> {
  const addresses = new Set<AddressText>();
  for (const { event } of items) {
    const { from, to, token } = event.transfer;
    for (const address of [from, to, token]) if (address) addresses.add(address);
  }
  const unique = (keys: string[]) => [...new Set(keys)];
  const read = await store.routing.read(
    unique(items.map(({ keys }) => keys.transfer)),
    unique(items.map(({ keys }) => keys.delivery)),
    [...addresses],
    now,
  );
  const guilds = new Map(read.guilds.map((guild) => [guild.guildId, guild]));
  return {
    transfers: new Map(read.transfers.map((seen) => [seen.key, seen])),
    deliveries: new Map(read.deliveries.map((seen) => [seen.key, seen])),
    subscriptions: Map.groupBy(read.subscriptions, (subscription) => subscription.address),
    guilds,
    context: {
      now,
      cataloged: () => null,
      tokenMuted: (guildId, asset) => guilds.get(guildId)!.mutes.some((m) => m.token === asset && m.until > now),
    },
  };
}

function routeEvent(
  { row, event, receipt, keys }: Item,
  known: Known,
  routed: Routed,
  changed: { transfers: Set<string>; deliveries: Set<string>; lines: Set<string> },
): void {
  const seen = known.transfers.get(keys.transfer);
  const { delivery } = judge(known.deliveries.get(keys.delivery), seen !== undefined, keys, receipt);
  const { projectId, addressType, direction } = event;
  known.deliveries.set(keys.delivery, { ...delivery, projectId, addressType, direction, lastAt: row.receivedAt });
  changed.deliveries.add(keys.delivery);
  changed.transfers.add(keys.transfer);

  const { transfer } = event;
  if (!seen) {
    known.transfers.set(keys.transfer, {
      key: keys.transfer,
      scope: row.scope,
      seenAt: row.receivedAt,
      count: 1,
      bodies: 1,
      reorganised: false,
      transfer,
    });
    tell({ key: keys.transfer, scope: row.scope, at: row.receivedAt, transfer }, known, routed);
    return;
  }
  const moved = transfer.blockHash !== null && transfer.blockHash !== seen.transfer.blockHash;
  const count = Math.max(seen.count, delivery.count);
  if (moved || count > seen.count) changed.lines.add(keys.transfer);
  known.transfers.set(keys.transfer, {
    ...seen,
    bodies: seen.bodies + 1,
    count,
    reorganised: seen.reorganised || moved,
    transfer: moved
      ? { ...seen.transfer, blockHash: transfer.blockHash, blockNumber: transfer.blockNumber }
      : seen.transfer,
  });
}

/** A transfer that nobody was told of yet. */
interface Fresh {
  key: string;
  scope: number;
  /** When it came. */
  at: number;
  transfer: Transfer;
}

/** One line for each channel in which a subscription matches, and a recorded reason for every one that does not. */
function tell({ key, scope, at, transfer }: Fresh, known: Known, routed: Routed): void {
  const alerts = new Map<string, NewAlert>();
  for (const subscription of watchers(transfer, scope, known)) {
    const match = matchTransfer(subscription, transfer, known.context);
    if (match.outcome === 'unrelated') continue;
    const { guildId, channelId, id, address } = subscription;
    const outcome = match.outcome === 'matched' ? 'matched' : match.reason;
    routed.decisions.push({ transferKey: key, guildId, channelId, subscription: id, address, outcome, at });
    if (match.outcome === 'hidden') continue;
    const alert = alerts.get(channelId) ?? { transferKey: key, guildId, channelId, matches: [] };
    alert.matches.push({ subscription: id, perspective: match.perspective });
    alerts.set(channelId, alert);
  }
  routed.alerts.push(...alerts.values());
}

/** Every subscription to one of the transfer's addresses in a guild that this scope's events reach. */
function watchers({ from, to, token }: Transfer, scope: number, known: Known): Subscription[] {
  const watched = new Set([from, to, token].filter((address) => address !== null));
  return [...watched].flatMap((address) =>
    (known.subscriptions.get(address) ?? []).filter(({ guildId }) => known.guilds.get(guildId)!.scope === scope),
  );
}
