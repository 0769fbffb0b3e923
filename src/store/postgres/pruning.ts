import type { RetentionCursor, UnmatchedCursor } from '../../domain/retention.ts';
import { OPERATOR_SCOPE } from '../../domain/scope.ts';
import type { Connection, Statements } from './connection.ts';
import { pruneKnowledge } from './guard.ts';

const FIRST = { at: 'transfers', scope: 0, seenAt: 0, id: 0 } as const;

/** Most rows in one step. */
const MOST = 1_000;

interface Aged {
  id: number;
  time: number;
}

/** Deletes old data in steps, between which others can write. */
export function pruningTable(db: Connection) {
  return {
    /** `from` null: from the beginning. A step that a power failure undoes is repeated. */
    forget: (before: number, from: RetentionCursor | null) =>
      db.writeUnsynced((sql) => forgetSome(sql, before, from ?? FIRST)),

    forgetUnmatched: (since: number, before: number, from: UnmatchedCursor | null) =>
      db.writeUnsynced(async (sql) => {
        const first = async (after: number): Promise<UnmatchedCursor | null> => {
          const scope = await nextScope(sql, after);
          return scope === null ? null : { scope, seenAt: since, id: 0 };
        };
        const at = from ?? (await first(OPERATOR_SCOPE));
        if (!at) return null;
        const rows = await agedTransfers(sql, at, before);
        await sql.run(
          `DELETE FROM transfers t WHERE id = ANY($1::bigint[])
             AND NOT EXISTS (SELECT 1 FROM decisions WHERE transfer_id = t.id)
             AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.id)`,
          rows.map(({ id }) => id),
        );
        const last = rows.at(-1);
        return rows.length === MOST && last ? { scope: at.scope, seenAt: last.time, id: last.id } : first(at.scope);
      }),
  };
}

async function forgetSome(sql: Statements, before: number, from: RetentionCursor): Promise<RetentionCursor | null> {
  switch (from.at) {
    case 'transfers': {
      const rows = await agedTransfers(sql, from, before);
      await dropTransfers(
        sql,
        rows.map(({ id }) => id),
      );
      const last = rows.at(-1);
      if (rows.length === MOST && last) return { ...from, seenAt: last.time, id: last.id };
      const scope = await nextScope(sql, from.scope);
      return scope === null ? { at: 'batches', frozenAt: 0, id: 0 } : { ...FIRST, scope };
    }
    case 'batches': {
      const rows = await sql.all<Aged>(
        `SELECT id, frozen_at AS time FROM batches
         WHERE (frozen_at, id) > ($1, $2) AND frozen_at < $3 ORDER BY frozen_at, id LIMIT ${MOST}`,
        from.frozenAt,
        from.id,
        before,
      );
      await sql.run(
        `DELETE FROM batches b WHERE id = ANY($1::bigint[]) AND state <> 'frozen'
           AND NOT EXISTS (SELECT 1 FROM alerts WHERE batch_id = b.id)`,
        rows.map(({ id }) => id),
      );
      const last = rows.at(-1);
      return rows.length === MOST && last ? { ...from, frozenAt: last.time, id: last.id } : { at: 'knowledge' };
    }
    case 'knowledge':
      return (await pruneKnowledge(sql, before, MOST)) > 0 ? from : null;
  }
}

/** What a dead letter refers to stays: it can still be replayed. */
async function dropTransfers(sql: Statements, ids: readonly number[]): Promise<void> {
  await sql.run(
    `DELETE FROM alerts a WHERE transfer_id = ANY($1::bigint[]) AND state IN ('sent', 'dead')
       AND NOT EXISTS (SELECT 1 FROM dead_letters WHERE alert_id = a.id)`,
    ids,
  );
  await sql.run(
    `DELETE FROM transfers t WHERE id = ANY($1::bigint[])
       AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.id)`,
    ids,
  );
}

const agedTransfers = (sql: Statements, { scope, seenAt, id }: UnmatchedCursor, before: number): Promise<Aged[]> =>
  sql.all<Aged>(
    `SELECT id, seen_at AS time FROM transfers
     WHERE scope = $1 AND (seen_at, id) > ($2, $3) AND seen_at < $4 ORDER BY seen_at, id LIMIT ${MOST}`,
    scope,
    seenAt,
    id,
    before,
  );

async function nextScope(sql: Statements, after: number): Promise<number | null> {
  const row = await sql.get<{ scope: number | null }>(
    'SELECT min(scope) AS scope FROM transfers WHERE scope > $1',
    after,
  );
  return row!.scope;
}
