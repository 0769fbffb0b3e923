import type Database from 'better-sqlite3';
import type { DeliveryStore } from './deliveries.ts';
import type { KeptDelivery, NewDelivery } from './new-deliveries.ts';

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
  /** Why its next block could not be read; null after the last success. */
  error: string | null;
}

type Row = Omit<Replay, 'addresses' | 'isForced'> & { addresses: string | null; isForced: number };

/** Block ranges that webhooks asked to be read again. */
export interface ReplayStore {
  create(replay: Omit<Replay, 'id' | 'error'>): Replay;
  find(id: number): Replay | undefined;
  /** The ids of all replays, oldest first. */
  ids(): number[];
  noteError(id: number, error: string): void;
  list(webhookId: string): Replay[];
  /** Stores the deliveries of a replay's next block and continues; returns those that are new. Nothing if the replay is gone. */
  keep(replay: Replay, deliveries: readonly NewDelivery[]): KeptDelivery[];
}

const COLUMNS = 'id, webhook_id AS webhookId, next, last, addresses, is_forced AS isForced, error';

/** Creates the part of the store that keeps replays. */
export function createReplayStore(db: Database.Database, deliveries: DeliveryStore): ReplayStore {
  const fromRow = ({ addresses, isForced, ...row }: Row): Replay => ({
    ...row,
    addresses: addresses === null ? null : (JSON.parse(addresses) as string[]),
    isForced: isForced === 1,
  });
  const byId = db.prepare<[number], Row>(`SELECT ${COLUMNS} FROM replays WHERE id = ?`);
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
      return { ...replay, id: Number(lastInsertRowid), error: null };
    },
    find(id) {
      const row = byId.get(id);
      return row === undefined ? undefined : fromRow(row);
    },
    ids: () =>
      db
        .prepare<[], { id: number }>('SELECT id FROM replays ORDER BY id')
        .all()
        .map(({ id }) => id),
    noteError(id, error) {
      db.prepare('UPDATE replays SET error = ? WHERE id = ?').run(error, id);
    },
    list: (webhookId) =>
      db
        .prepare<[string], Row>(`SELECT ${COLUMNS} FROM replays WHERE webhook_id = ? ORDER BY id`)
        .all(webhookId)
        .map(fromRow),
    keep: ({ id, next, last }, found) =>
      db.transaction(() => {
        const { changes } =
          next >= last
            ? db.prepare('DELETE FROM replays WHERE id = ?').run(id)
            : db.prepare('UPDATE replays SET next = ?, error = NULL WHERE id = ?').run(next + 1, id);
        return changes === 0 ? [] : deliveries.keep(found);
      })(),
  };
}
