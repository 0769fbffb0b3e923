import type Database from 'better-sqlite3';
import type { DeliveryStore, KeptDelivery, NewDelivery } from './deliveries.ts';

export interface Replay {
  id: number;
  webhookId: string;
  next: number;
  last: number;
  /** In lower case; null: all that the webhook watches. */
  addresses: string[] | null;
  /** true: what was sent before is sent again. */
  isForced: boolean;
  /** null after the last success. */
  error: string | null;
}

type Row = Omit<Replay, 'addresses' | 'isForced'> & { addresses: string | null; isForced: number };

const SELECT = 'SELECT id, webhook_id AS webhookId, next, last, addresses, is_forced AS isForced, error FROM replays';

export function createReplayStore(db: Database.Database, deliveries: DeliveryStore) {
  const insert = db.prepare(
    `INSERT INTO replays (webhook_id, next, last, addresses, is_forced)
     VALUES (:webhookId, :next, :last, :addresses, :isForced)`,
  );
  const byId = db.prepare<[number], Row>(`${SELECT} WHERE id = ?`);
  const ofWebhook = db.prepare<[string], Row>(`${SELECT} WHERE webhook_id = ? ORDER BY id`);
  const ids = db.prepare<[], number>('SELECT id FROM replays ORDER BY id').pluck();
  const noteError = db.prepare<[string, number]>('UPDATE replays SET error = ? WHERE id = ?');
  const remove = db.prepare<[number]>('DELETE FROM replays WHERE id = ?');
  const move = db.prepare<[number, number]>('UPDATE replays SET next = ?, error = NULL WHERE id = ?');
  const fromRow = ({ addresses, isForced, ...row }: Row): Replay => ({
    ...row,
    addresses: addresses === null ? null : (JSON.parse(addresses) as string[]),
    isForced: isForced === 1,
  });

  return {
    create(replay: Omit<Replay, 'id' | 'error'>): Replay {
      const addresses = replay.addresses === null ? null : JSON.stringify(replay.addresses);
      const { lastInsertRowid } = insert.run({ ...replay, addresses, isForced: replay.isForced ? 1 : 0 });
      return { ...replay, id: Number(lastInsertRowid), error: null };
    },
    find: (id: number): Replay | undefined => byId.all(id).map(fromRow)[0],
    ids: (): number[] => ids.all(),
    noteError: (id: number, error: string): void => void noteError.run(error, id),
    list: (webhookId: string): Replay[] => ofWebhook.all(webhookId).map(fromRow),
    /** Returns the new deliveries; none if the replay is gone. */
    keep: ({ id, next, last }: Replay, found: readonly NewDelivery[]): KeptDelivery[] =>
      db.transaction(() => {
        const { changes } = next >= last ? remove.run(id) : move.run(next + 1, id);
        return changes === 0 ? [] : deliveries.keep(found);
      })(),
  };
}
