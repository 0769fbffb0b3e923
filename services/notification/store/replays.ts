import type Database from 'better-sqlite3';
import type { DeliveryStore, KeptDelivery, NewDelivery } from './deliveries.ts';

/** Blocks to be read again for one webhook. */
export interface Replay {
  id: number;
  webhookId: string;
  next: number;
  last: number;
  /** Only events of these addresses, in lower case; null: of all that the webhook watches. */
  addresses: string[] | null;
  /** true: also what was sent before is sent again. */
  isForced: boolean;
}

type Row = Omit<Replay, 'addresses' | 'isForced'> & { addresses: string | null; isForced: number };

/** Block ranges that webhooks asked to be read again. */
export interface ReplayStore {
  create(replay: Omit<Replay, 'id'>): Replay;
  /** The one that waits longest. */
  first(): Replay | undefined;
  list(webhookId: string): Replay[];
  /** Stores the deliveries of a replay's next block and goes on; returns those that are new. */
  keep(replay: Replay, deliveries: readonly NewDelivery[]): KeptDelivery[];
}

const COLUMNS = 'id, webhook_id AS webhookId, next, last, addresses, is_forced AS isForced';

/** Creates the part of the store that keeps replays. */
export function createReplayStore(db: Database.Database, deliveries: DeliveryStore): ReplayStore {
  const fromRow = ({ addresses, isForced, ...row }: Row): Replay => ({
    ...row,
    addresses: addresses === null ? null : (JSON.parse(addresses) as string[]),
    isForced: isForced === 1,
  });
  const first = db.prepare<[], Row>(`SELECT ${COLUMNS} FROM replays ORDER BY id LIMIT 1`);
  return {
    create(replay) {
      const { lastInsertRowid } = db
        .prepare(
          `INSERT INTO replays (webhook_id, next, last, addresses, is_forced)
           VALUES (:webhookId, :next, :last, :addresses, :isForced)`,
        )
        .run({
          ...replay,
          addresses: replay.addresses === null ? null : JSON.stringify(replay.addresses),
          isForced: replay.isForced ? 1 : 0,
        });
      return { ...replay, id: Number(lastInsertRowid) };
    },
    first() {
      const row = first.get();
      return row === undefined ? undefined : fromRow(row);
    },
    list: (webhookId) =>
      db
        .prepare<[string], Row>(`SELECT ${COLUMNS} FROM replays WHERE webhook_id = ? ORDER BY id`)
        .all(webhookId)
        .map(fromRow),
    keep: ({ id, next, last }, found) =>
      db.transaction(() => {
        if (next >= last) db.prepare('DELETE FROM replays WHERE id = ?').run(id);
        else db.prepare('UPDATE replays SET next = ? WHERE id = ?').run(next + 1, id);
        return deliveries.keep(found);
      })(),
  };
}
