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
import type { Connection, Statements } from './connection.ts';

interface StoredRow extends Omit<InboxRow, 'identity' | 'body'> {
  identity: string | null;
  body: Buffer;
}

const COLUMNS = `id, scope, received_at AS "receivedAt", answered_at AS "ackedAt", is_open AS "isOpen", identity, body`;

/** Deliveries that wait for the router. */
export function inboxTable(db: Connection) {
  return {
    /** Returns the ids in the order of the deliveries: rows are numbered in the order in which they are inserted. */
    append: (deliveries: NewDelivery[]): Promise<number[]> =>
      db.receive(async (sql) => {
        const rows = await sql.all<{ id: number }>(
          `INSERT INTO inbox (scope, received_at, body, identity, is_open)
           SELECT scope, received_at, body, identity, TRUE
           FROM unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::text[]) WITH ORDINALITY
             AS d (scope, received_at, body, identity, place) ORDER BY place
           RETURNING id`,
          deliveries.map(({ scope }) => scope),
          deliveries.map(({ receivedAt }) => receivedAt),
          deliveries.map(({ body }) => Buffer.from(body.buffer, body.byteOffset, body.byteLength)),
          deliveries.map(({ identity }) => (identity ? JSON.stringify(identity) : null)),
        );
        await countUsage(sql, deliveries);
        return rows.map(({ id }) => id).toSorted((one, other) => one - other);
      }),

    async recordResponses(responses: EndedResponse[]): Promise<void> {
      await db.receive((sql) =>
        sql.run(
          `UPDATE inbox SET answered_at = r.answered_at, is_open = FALSE
           FROM unnest($1::bigint[], $2::bigint[]) AS r (id, answered_at) WHERE inbox.id = r.id`,
          responses.map(({ id }) => id),
          responses.map(({ ackedAt }) => ackedAt),
        ),
      );
    },

    next: (limit: number, bytes = Number.MAX_SAFE_INTEGER, scope?: number): Promise<InboxRow[]> =>
      db.read(async (sql) => {
        const scopes = scope === undefined ? await waitingScopes(sql) : [scope];
        const ids = await idsInTurn(sql, scopes, limit, bytes);
        if (ids.length === 0) return [];
        const rows = await sql.all<StoredRow>(
          `SELECT ${COLUMNS} FROM inbox WHERE id = ANY($1::bigint[]) ORDER BY array_position($1::bigint[], id)`,
          ids,
        );
        return rows.map(toRow);
      }),

    usage: (): Promise<InboxUsage[]> =>
      db.reads.all<InboxUsage>(
        `WITH waits AS (
           SELECT scope, count(*) AS waiting, sum(length(body)) AS bytes FROM inbox WHERE scope <> ${OPERATOR_SCOPE}
           GROUP BY scope)
         SELECT scope, coalesce(waiting, 0) AS waiting, coalesce(w.bytes, 0) AS "waitingBytes",
           coalesce(day, 0) AS day, coalesce(u.bytes, 0) AS "dayBytes"
         FROM waits w FULL JOIN scope_usage u USING (scope)`,
      ),
  };
}

const toRow = ({ identity, body, ...row }: StoredRow): InboxRow => ({
  ...row,
  identity: identity === null ? null : (JSON.parse(identity) as DeliveryIdentity),
  body: body.toString('utf8'),
});

/** Counts what servers' own projects stored today. All processes lock the rows in the same order. */
async function countUsage(sql: Statements, deliveries: readonly NewDelivery[]): Promise<void> {
  for (const { scope, day, bytes } of storedBytes(deliveries)) {
    await sql.run(
      `INSERT INTO scope_usage (scope, day, bytes) VALUES ($1, $2, $3)
       ON CONFLICT (scope) DO UPDATE SET day = excluded.day,
         bytes = CASE WHEN scope_usage.day = excluded.day THEN scope_usage.bytes ELSE 0 END + excluded.bytes`,
      scope,
      day,
      bytes,
    );
  }
}

/** Skips from one scope to the next by the index instead of reading all rows of a flood. */
async function waitingScopes(sql: Statements): Promise<number[]> {
  const rows = await sql.all<{ scope: number }>(
    `WITH RECURSIVE each (scope) AS (
       SELECT min(scope) FROM inbox
       UNION ALL SELECT (SELECT min(scope) FROM inbox WHERE scope > each.scope) FROM each WHERE scope IS NOT NULL)
     SELECT scope FROM each WHERE scope IS NOT NULL`,
  );
  return rows.map(({ scope }) => scope);
}

/** The deliveries that are taken next; see `takenInTurn`. */
async function idsInTurn(sql: Statements, scopes: number[], limit: number, bytes: number): Promise<number[]> {
  // The last LIMIT only spares reading what cannot be taken: in a flood there are thousands of rows in many scopes.
  const rows = await sql.all<{ id: number; scope: number; size: number }>(
    `SELECT id, oldest.scope, size FROM unnest($1::bigint[]) AS s (scope) CROSS JOIN LATERAL (
       SELECT id, scope, length(body) AS size, row_number() OVER (ORDER BY id) AS turn FROM inbox
       WHERE inbox.scope = s.scope ORDER BY id LIMIT $2) AS oldest
     ORDER BY turn, oldest.scope LIMIT $2`,
    scopes,
    limit,
  );
  const waiting = [...Map.groupBy(rows, ({ scope }) => scope).values()];
  return takenInTurn(waiting, limit, bytes).map(({ id }) => id);
}
