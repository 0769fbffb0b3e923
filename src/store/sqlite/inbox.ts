import type { Database } from 'better-sqlite3';
import type { InboxRow, NewDelivery } from '../../domain/inbox.ts';

/** Deliveries that were stored and not yet routed, and those that could not be understood. */
export function inboxTable(db: Database) {
  const insert = db.prepare<[number, number, Uint8Array]>(
    'INSERT INTO inbox (scope, received_at, body) VALUES (?, ?, ?)',
  );
  const next = db.prepare<[number], InboxRow>(
    `SELECT id, scope, received_at AS receivedAt, answered_at AS answeredAt, CAST(body AS TEXT) AS body
     FROM inbox ORDER BY id LIMIT ?`,
  );
  const append = db.transaction((rows: NewDelivery[]) =>
    rows.map((row) => Number(insert.run(row.scope, row.receivedAt, row.body).lastInsertRowid)),
  );

  return {
    /** Stores deliveries in one durable commit and gives their ids in the same order. */
    append: (rows: NewDelivery[]): number[] => append.immediate(rows),
    /** The oldest ones, until there are so many, or so many characters of bodies. */
    next(limit: number, characters = Number.POSITIVE_INFINITY): InboxRow[] {
      const rows: InboxRow[] = [];
      let read = 0;
      for (const row of next.iterate(limit)) {
        rows.push(row);
        read += row.body.length;
        if (read >= characters) break;
      }
      return rows;
    },
  };
}
