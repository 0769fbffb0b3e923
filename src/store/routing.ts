import type { Database } from 'better-sqlite3';
import type { AddressText } from '../domain/address.ts';
import type { SeenDelivery, SeenTransfer } from '../domain/identity.ts';
import type { Mark } from '../domain/mark.ts';
import type { HiddenReason } from '../domain/match.ts';
import type { Hold } from '../domain/rhythm.ts';
import type { Asset, Perspective } from '../domain/subscription.ts';
import type { TransferEvent } from '../domain/transfer.ts';
import { dueTimes } from './alerts.ts';
import { unsynced } from './database.ts';
import { editTables } from './edits.ts';
import { guardTables, type Knowledge, type Learned, type Sighting } from './guard.ts';
import { subscriptionsTable } from './subscriptions.ts';

/** One line to be told in one channel. */
export interface NewAlert {
  transferKey: string;
  guildId: string;
  channelId: string;
  matches: { subscription: number; perspective: Perspective }[];
  /** What the line warns of. */
  marks: Mark[];
}

/** Why a subscription was told, or was not. */
export interface Decision {
  transferKey: string;
  guildId: string;
  channelId: string;
  subscription: number;
  /** The watched address. */
  address: AddressText;
  /** `matched`, or what hid it. */
  outcome: 'matched' | HiddenReason;
  /** When the transfer came. */
  at: number;
}

/** What is stored of a delivery: which watcher it was sent for, as its body said, and when it last came. */
export interface StoredDelivery extends SeenDelivery, Pick<TransferEvent, 'projectId' | 'addressType' | 'direction'> {
  lastAt: number;
}

/** Everything that routing a batch of deliveries changes; committed as one. */
export interface Routed {
  /** Inbox ids that are done. */
  done: number[];
  transfers: SeenTransfer[];
  deliveries: StoredDelivery[];
  alerts: NewAlert[];
  decisions: Decision[];
  /** Inbox ids to set aside, with the reason. */
  quarantined: { id: number; reason: string }[];
  /** Transfers whose sent lines must change. */
  changed: string[];
  learned: Learned;
  now: number;
}

/** A delivery to be routed, as far as it decides what must be known. */
export interface Question extends Omit<Sighting, 'watchers' | 'lateMs'> {
  deliveryKey: string;
}

/** What is known about some deliveries. */
export interface Answer {
  transfers: SeenTransfer[];
  deliveries: StoredDelivery[];
  /** What was not seen before and somebody watches. */
  sightings: Sighting[];
  /** The tokens that guilds do not want to hear of now. */
  mutes: { guildId: string; token: Asset }[];
  knowledge: Knowledge;
}

/** Whose events reach the guilds that have no project of their own. */
const OPERATOR_SCOPE = 0;
/** Events closer together than this count as one movement where the average time between events is reckoned. */
const MOMENT_MS = 10_000;

interface TransferRow {
  id: number;
  key: string;
  scope: number;
  seenAt: number;
  count: number;
  bodies: number;
  reorganised: 0 | 1;
  data: string;
}

interface DeliveryRow extends Omit<StoredDelivery, 'owed'> {
  owed: 0 | 1;
}

/** The ledger of what was seen, and the step from the inbox to the outbox. */
export function routingTable(db: Database) {
  const { watching } = subscriptionsTable(db);
  const { requestChange } = editTables(db);
  const dueOf = dueTimes(db);
  const guard = guardTables(db);
  const transfer = db.prepare<{ key: string; txHash: string }, TransferRow>(
    `SELECT id, @key AS key, scope, seen_at AS seenAt, count, bodies, reorganised, data FROM transfers
     WHERE substr(tx_hash, 3, 8) = substr(@txHash, 3, 8) AND key = unhex(@key)`,
  );
  const delivery = db.prepare<{ transferId: number; transferKey: string; key: string }, DeliveryRow>(
    `SELECT @key AS key, @transferKey AS transferKey, count, owed, answered_at AS answeredAt, received, seen_at AS seenAt,
       project_id AS projectId, address_type AS addressType, direction, last_at AS lastAt
     FROM deliveries WHERE transfer_id = @transferId AND key = unhex(@key)`,
  );
  const putTransfer = db
    .prepare<Omit<TransferRow, 'id'> & { txHash: string }, number>(
      `INSERT INTO transfers (key, scope, tx_hash, seen_at, count, bodies, reorganised, data)
       VALUES (unhex(@key), @scope, @txHash, @seenAt, @count, @bodies, @reorganised, @data)
       ON CONFLICT (substr(tx_hash, 3, 8), key) DO UPDATE SET count = @count, bodies = @bodies,
         reorganised = @reorganised, data = @data
       RETURNING id`,
    )
    .pluck();
  const putDelivery = db.prepare<DeliveryRow & { transferId: number }>(
    `INSERT INTO deliveries (transfer_id, key, count, owed, answered_at, received, seen_at,
       project_id, address_type, direction, last_at)
     VALUES (@transferId, unhex(@key), @count, @owed, @answeredAt, @received, @seenAt,
       @projectId, @addressType, @direction, @lastAt)
     ON CONFLICT DO UPDATE SET count = @count, owed = @owed, answered_at = @answeredAt, received = @received,
       last_at = @lastAt`,
  );
  const addAlert = db.prepare<{
    transferId: number;
    guildId: string;
    channelId: string;
    matches: string;
    marks: string;
    hold: Hold | null;
    dueAt: number;
    now: number;
  }>(
    `INSERT INTO alerts (transfer_id, guild_id, channel_id, matches, marks, hold, due_at, created_at)
     VALUES (@transferId, @guildId, @channelId, @matches, @marks, @hold, @dueAt, @now)`,
  );
  const addChannel = db.prepare<[string, string]>(
    'INSERT INTO channels (channel_id, guild_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
  );
  const addDecision = db.prepare<Decision & { transferId: number }>(
    `INSERT INTO decisions (transfer_id, guild_id, channel_id, subscription_id, outcome, address, at)
     VALUES (@transferId, @guildId, @channelId, @subscription, @outcome, @address, @at)`,
  );
  // What comes within a moment is one movement: the transfers of a transaction are no rhythm of hours.
  const touch = db.prepare<{ at: number; subscription: number }>(
    `UPDATE subscriptions SET events = events + 1, silence_told_at = NULL,
       gap_ms = CASE WHEN last_event_at IS NULL OR @at - last_event_at < ${MOMENT_MS} THEN gap_ms
         WHEN gap_ms IS NULL THEN @at - last_event_at
         ELSE CAST(gap_ms * 0.8 + (@at - last_event_at) * 0.2 AS INTEGER) END,
       last_event_at = max(coalesce(last_event_at, 0), @at)
     WHERE id = @subscription`,
  );
  const projectOf = db.prepare<[string], { id: number }>('SELECT id FROM projects WHERE guild_id = ?');
  const mutesOf = db.prepare<[string, number], Answer['mutes'][number]>(
    'SELECT guild_id AS guildId, token FROM token_mutes WHERE guild_id = ? AND until > ?',
  );
  const setAside = db.prepare<[string, number]>(
    'INSERT INTO quarantine (scope, received_at, reason, body) SELECT scope, received_at, ?, body FROM inbox WHERE id = ?',
  );
  const drop = db.prepare<[number]>('DELETE FROM inbox WHERE id = ?');

  const commit = db.transaction((routed: Routed) => {
    const ids = new Map<string, number>();
    for (const { transfer: data, reorganised, ...seen } of routed.transfers) {
      const id = putTransfer.get({
        ...seen,
        txHash: data.txHash,
        reorganised: reorganised ? 1 : 0,
        data: JSON.stringify(data),
      });
      ids.set(seen.key, id!);
    }
    for (const seen of routed.deliveries) {
      putDelivery.run({ ...seen, transferId: ids.get(seen.transferKey)!, owed: seen.owed ? 1 : 0 });
    }
    for (const alert of routed.alerts) {
      addChannel.run(alert.channelId, alert.guildId);
      const [matches, marks] = [JSON.stringify(alert.matches), JSON.stringify(alert.marks)];
      const transferId = ids.get(alert.transferKey)!;
      addAlert.run({ ...alert, ...dueOf(alert, routed.now), transferId, matches, marks, now: routed.now });
    }
    for (const decision of routed.decisions) {
      addDecision.run({ ...decision, transferId: ids.get(decision.transferKey)! });
      touch.run({ at: decision.at, subscription: decision.subscription });
    }
    for (const { id, reason } of routed.quarantined) {
      setAside.run(reason, id);
      drop.run(id);
    }
    for (const id of routed.done) drop.run(id);
    guard.keep(routed.learned);
    return routed.changed.flatMap((key) => requestChange(ids.get(key)!, routed.now));
  });

  const unique = (keys: string[]) => [...new Set(keys)];
  const seenTransfer = ({ id, data, reorganised, ...row }: TransferRow): SeenTransfer => ({
    ...row,
    reorganised: reorganised === 1,
    transfer: JSON.parse(data) as SeenTransfer['transfer'],
  });

  function sightings(questions: Question[], transfers: SeenTransfer[]): Sighting[] {
    const seen = new Set(transfers.map(({ key }) => key));
    const fresh = questions.filter(({ transferKey: key }) => !seen.has(key) && seen.add(key));
    const subscriptions = watching(unique(fresh.flatMap(addressesOf)));
    const byAddress = Map.groupBy(subscriptions, ({ address }) => address);
    const guildIds = unique(subscriptions.map(({ guildId }) => guildId));
    const scopeOf = new Map(guildIds.map((guildId) => [guildId, projectOf.get(guildId)?.id ?? OPERATOR_SCOPE]));
    return fresh.flatMap((question) => {
      const around = addressesOf(question).flatMap((address) => byAddress.get(address) ?? []);
      const watchers = around.filter(({ guildId }) => scopeOf.get(guildId) === question.scope);
      if (watchers.length === 0) return [];
      const { scope, at, transfer } = question;
      return [{ ...question, watchers, lateMs: guard.lateBy(scope, transfer.blockNumber, at) }];
    });
  }

  return {
    /** Everything that deciding about these deliveries needs; `now` matters for mutes and for what is recent. */
    read(questions: Question[], now: number): Answer {
      const asked = new Map(questions.map((question) => [question.transferKey, question]));
      const rows = [...asked].flatMap(
        ([
          key,
          {
            transfer: { txHash },
          },
        ]) => transfer.get({ key, txHash }) ?? [],
      );
      const ids = new Map(rows.map(({ key, id }) => [key, id]));
      const transfers = rows.map(seenTransfer);
      const fresh = sightings(questions, transfers);
      const guildIds = unique(fresh.flatMap(({ watchers }) => watchers.map(({ guildId }) => guildId)));
      return {
        transfers,
        deliveries: [...new Map(questions.map(({ deliveryKey, transferKey }) => [deliveryKey, transferKey]))]
          .flatMap(([key, transferKey]) => {
            const transferId = ids.get(transferKey);
            return transferId === undefined ? [] : (delivery.get({ transferId, transferKey, key }) ?? []);
          })
          .map((row) => ({ ...row, owed: row.owed === 1 })),
        sightings: fresh,
        mutes: guildIds.flatMap((guildId) => mutesOf.all(guildId, now)),
        knowledge: guard.read(fresh, now),
      };
    },
    /**
     * Commits a routed batch: events done, lines made, reasons recorded, all or nothing. Gives the channels in which
     * sent messages must change. If the power fails before it is on disk, so are the deliveries: they are routed again.
     */
    commit: (routed: Routed): string[] => unsynced(db, () => commit.immediate(routed)),
  };
}

function addressesOf({ transfer: { from, to, token } }: Question): AddressText[] {
  return [...new Set([from, to, token])].filter((address) => address !== null);
}
