import type { Database } from 'better-sqlite3';
import {
  type DeliveryIdentity,
  type EndedResponse,
  type InboxRow,
  type InboxUsage,
  type NewDelivery,
  storedBytes,
  takenInTurn,
} from '../../domain/inbox.ts';
import { OPERATOR_SCOPE } from '../../domain/scope.ts';

/** Deliveries that wait for the router. */
export function inboxTable(db: Database) {
  const insert = db.prepare<[number, number, Uint8Array, string | null]>(
    'INSERT INTO inbox (scope, received_at, body, identity) VALUES (?, ?, ?, ?)',
  );
  const columns = `id, scope, received_at AS receivedAt, answered_at AS ackedAt, identity, CAST(body AS TEXT) AS body`;
  const ofScope = db.prepare<[number, number], StoredRow & { size: number }>(
    `SELECT ${columns}, length(body) AS size FROM inbox WHERE scope = ? ORDER BY id LIMIT ?`,
  );
  const sizes = db.prepare<[number, number], { id: number; size: number }>(
    'SELECT id, length(body) AS size FROM inbox WHERE scope = ? ORDER BY id LIMIT ?',
  );
  const one = db.prepare<[number], StoredRow>(`SELECT ${columns} FROM inbox WHERE id = ?`);
  // Skips from one scope to the next by the index instead of reading all rows of a flood.
  const scopes = db
    .prepare<[], number>(
      `WITH RECURSIVE each (scope) AS (
         SELECT min(scope) FROM inbox
         UNION ALL SELECT (SELECT min(scope) FROM inbox WHERE scope > each.scope) FROM each WHERE scope IS NOT NULL)
       SELECT scope FROM each WHERE scope IS NOT NULL`,
    )
    .pluck();
  const count = db.prepare<[number, number, number]>(
    `INSERT INTO scope_usage (scope, day, bytes) VALUES (?, ?, ?)
     ON CONFLICT (scope) DO UPDATE SET bytes = iif(day = excluded.day, bytes, 0) + excluded.bytes, day = excluded.day`,
  );
  const usage = db.prepare<[], InboxUsage>(
    `WITH lengths AS MATERIALIZED (SELECT scope, length(body) AS bytes FROM inbox WHERE scope <> ${OPERATOR_SCOPE}),
       waits AS (SELECT scope, count(*) AS waiting, sum(bytes) AS bytes FROM lengths GROUP BY scope)
     SELECT scope, coalesce(waiting, 0) AS waiting, coalesce(w.bytes, 0) AS waitingBytes,
       coalesce(day, 0) AS day, coalesce(u.bytes, 0) AS dayBytes
     FROM waits w FULL JOIN scope_usage u USING (scope)`,
  );

  const append = db.transaction((rows: NewDelivery[]) => {
    for (const { scope, day, bytes } of storedBytes(rows)) count.run(scope, day, bytes);
    return rows.map(({ scope, receivedAt, body, identity }) =>
      Number(insert.run(scope, receivedAt, body, identity ? JSON.stringify(identity) : null).lastInsertRowid),
    );
  });

  const recordResponse = db.prepare<[number | null, number]>('UPDATE inbox SET answered_at = ? WHERE id = ?');
  const recordResponses = db.transaction((responses: EndedResponse[]) => {
    for (const { id, ackedAt } of responses) recordResponse.run(ackedAt, id);
  });

  /** A scope's oldest rows: at most `limit`, and no more once `bytes` are reached. */
  function oldest(scope: number, limit: number, bytes: number): InboxRow[] {
    const rows: InboxRow[] = [];
    let read = 0;
    for (const { size, ...row } of ofScope.iterate(scope, limit)) {
      rows.push(toRow(row));
      read += size;
      if (read >= bytes) break;
    }
    return rows;
  }

  return {
    append: (rows: NewDelivery[]): number[] => append.immediate(rows),
    recordResponses: (responses: EndedResponse[]): void => recordResponses.immediate(responses),
    next(limit: number, bytes = Number.POSITIVE_INFINITY, scope?: number): InboxRow[] {
      const [first, ...others] = scope === undefined ? scopes.all() : [scope];
      if (first === undefined) return [];
      // One scope alone is read at once, without the sizes before.
      if (others.length === 0) return oldest(first, limit, bytes);
      const waiting = [first, ...others].map((each) => sizes.all(each, limit));
      return takenInTurn(waiting, limit, bytes).map(({ id }) => toRow(one.get(id)!));
    },
    usage: (): InboxUsage[] => usage.all(),
  };
}

type StoredRow = Omit<InboxRow, 'identity' | 'isOpen'> & { identity: string | null };

const toRow = (row: StoredRow): InboxRow => ({
  ...row,
  isOpen: false,
  identity: row.identity === null ? null : (JSON.parse(row.identity) as DeliveryIdentity),
});
