import { OPERATOR_SCOPE } from '../../domain/scope.ts';
import {
  positionOf,
  RETENTION_START,
  type RetentionPosition,
  toCursor,
  type UnmatchedPosition,
} from '../sql/cursors.ts';
import type { Cursor } from '../store.ts';
import type { Connection, Statements } from './connection.ts';
import { pruneKnowledge } from './guard.ts';
import { IDS_PER_DAY, nextDay, PARTITIONED } from './partitions.ts';

/** How many rows one step handles, at most. */
const MAX_ROWS = 1_000;
/** How many one step handles of a day that is deleted as a whole, at most. */
const MAX_DAY_ROWS = 10_000;

interface Aged {
  id: number;
  time: number;
}

/** Deletes old data in steps, between which others can write. */
export function retentionTable(db: Connection) {
  return {
    /** `from` null: from the beginning. A step that a power failure undoes is repeated. */
    async prune(before: number, from: Cursor<'retention'> | null): Promise<Cursor<'retention'> | null> {
      const position = from ? positionOf(from) : RETENTION_START;
      return toCursor(await db.writeUnsynced((sql) => pruneSome(sql, before, position)));
    },

    async pruneUnmatched(
      since: number,
      before: number,
      from: Cursor<'unmatched'> | null,
    ): Promise<Cursor<'unmatched'> | null> {
      const position = from && positionOf(from);
      return toCursor(await db.writeUnsynced((sql) => pruneSomeUnmatched(sql, since, before, position)));
    },
  };
}

async function pruneSomeUnmatched(
  sql: Statements,
  since: number,
  before: number,
  from: UnmatchedPosition | null,
): Promise<UnmatchedPosition | null> {
  const first = async (after: number): Promise<UnmatchedPosition | null> => {
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
  return rows.length === MAX_ROWS && last ? { scope: at.scope, seenAt: last.time, id: last.id } : first(at.scope);
}

async function pruneSome(sql: Statements, before: number, from: RetentionPosition): Promise<RetentionPosition | null> {
  switch (from.at) {
    case 'transfers':
      return (await pruneTransfers(sql, before, from)) ?? { at: 'batches', frozenAt: 0, id: 0 };
    case 'batches': {
      const rows = await sql.all<Aged>(
        `SELECT id, frozen_at AS time FROM batches
         WHERE (frozen_at, id) > ($1, $2) AND frozen_at < $3 ORDER BY frozen_at, id LIMIT ${MAX_ROWS}`,
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
      return rows.length === MAX_ROWS && last ? { ...from, frozenAt: last.time, id: last.id } : { at: 'knowledge' };
    }
    case 'knowledge':
      return (await pruneKnowledge(sql, before, MAX_ROWS)) > 0 ? from : null;
  }
}

type TransferCursor = RetentionPosition & { at: 'transfers' };

/**
 * Transfers that were moved here are deleted row by row; after them, each day that is over is dropped as a whole, so
 * a transfer is kept for up to a day longer. The cursor's id is in the partition that is next.
 */
async function pruneTransfers(
  sql: Statements,
  before: number,
  from: TransferCursor,
): Promise<RetentionPosition | null> {
  const day = Math.floor(from.id / IDS_PER_DAY);
  if (day > 0) {
    const after = await pruneSomeOfDay(sql, day, from.id);
    if (after !== null) return { ...from, id: after };
  } else {
    const rows = await agedTransfers(sql, from, before, IDS_PER_DAY);
    await dropTransfers(
      sql,
      rows.map(({ id }) => id),
    );
    const last = rows.at(-1);
    if (rows.length === MAX_ROWS && last) return { ...from, seenAt: last.time, id: last.id };
    const scope = await nextScope(sql, from.scope, IDS_PER_DAY);
    if (scope !== null) return { ...RETENTION_START, scope };
  }
  const next = await nextDay(sql, day, before);
  return next === null ? null : { ...RETENTION_START, id: next * IDS_PER_DAY };
}

/** Deletes some of a day; returns from which id on to continue, null when the day is done. */
async function pruneSomeOfDay(sql: Statements, day: number, from: number): Promise<number | null> {
  const [first, end] = [day * IDS_PER_DAY, (day + 1) * IDS_PER_DAY];
  const alerts = await sql.run(
    `DELETE FROM alerts WHERE id IN (SELECT id FROM alerts a WHERE transfer_id >= $1 AND transfer_id < $2
       AND ${DONE_WITH} LIMIT ${MAX_DAY_ROWS})`,
    first,
    end,
  );
  if (alerts === MAX_DAY_ROWS) return from;
  const keys = await sql.get<{ last: number | null; n: number }>(
    `WITH aged AS (SELECT id, key FROM transfers WHERE id > $1 AND id < $2 ORDER BY id LIMIT ${MAX_DAY_ROWS}),
       gone AS (DELETE FROM transfer_keys k USING aged WHERE k.key = aged.key AND k.transfer_id = aged.id
         AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = aged.id))
     SELECT max(id) AS last, count(*) AS n FROM aged`,
    from,
    end,
  );
  if (keys!.last !== null && keys!.n === MAX_DAY_ROWS) return keys!.last;
  await emptyDay(sql, day);
  return null;
}

/** Drops a day's tables, or replaces their content by what alerts still refer to. */
async function emptyDay(sql: Statements, day: number): Promise<void> {
  // Somebody's report may be reading them. Then the next hour is early enough.
  await sql.run("SAVEPOINT day; SET LOCAL lock_timeout = '500ms'");
  try {
    const left = await sql.get<{ kept: number; all: number }>(
      `SELECT count(*) FILTER (WHERE EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.id)) AS kept, count(*) AS all
       FROM transfers_${day} t`,
    );
    if (left!.kept === 0) {
      for (const table of PARTITIONED) await sql.run(`DROP TABLE ${table}_${day}`);
    } else if (left!.kept < left!.all) {
      for (const table of PARTITIONED.toReversed()) await keepAlerted(sql, `${table}_${day}`);
      // What was written to a transfer since its key was deleted.
      await sql.run(`INSERT INTO transfer_keys SELECT key, id FROM transfers_${day} ON CONFLICT DO NOTHING`);
    }
    await sql.run('RELEASE SAVEPOINT day');
  } catch (error) {
    if ((error as { code?: string }).code !== '55P03') throw error;
    await sql.run('ROLLBACK TO SAVEPOINT day');
  }
}

/** Keeps the rows of transfers that alerts refer to. */
async function keepAlerted(sql: Statements, table: string): Promise<void> {
  const id = table.startsWith('transfers') ? 'id' : 'transfer_id';
  await sql.run(
    `CREATE TEMP TABLE kept ON COMMIT DROP AS
       SELECT * FROM ${table} t WHERE EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.${id});
     TRUNCATE ${table}; INSERT INTO ${table} SELECT * FROM kept; DROP TABLE kept`,
  );
}

/** Alerts that are done with. What a dead letter refers to stays: it can still be replayed. */
const DONE_WITH = `state IN ('sent', 'dead') AND NOT EXISTS (SELECT 1 FROM dead_letters WHERE alert_id = a.id)`;

async function dropTransfers(sql: Statements, ids: readonly number[]): Promise<void> {
  await sql.run(`DELETE FROM alerts a WHERE transfer_id = ANY($1::bigint[]) AND ${DONE_WITH}`, ids);
  await sql.run(
    `DELETE FROM transfers t WHERE id = ANY($1::bigint[])
       AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = t.id)`,
    ids,
  );
}

/** A scope's next transfers from before a time; `end`: only those with smaller ids. */
const agedTransfers = (
  sql: Statements,
  { scope, seenAt, id }: UnmatchedPosition,
  before: number,
  end: number = Number.MAX_SAFE_INTEGER,
): Promise<Aged[]> =>
  sql.all<Aged>(
    `SELECT id, seen_at AS time FROM transfers
     WHERE scope = $1 AND (seen_at, id) > ($2, $3) AND seen_at < $4 AND id < $5
     ORDER BY seen_at, id LIMIT ${MAX_ROWS}`,
    scope,
    seenAt,
    id,
    before,
    end,
  );

async function nextScope(
  sql: Statements,
  after: number,
  end: number = Number.MAX_SAFE_INTEGER,
): Promise<number | null> {
  const row = await sql.get<{ scope: number | null }>(
    'SELECT min(scope) AS scope FROM transfers WHERE scope > $1 AND id < $2',
    after,
    end,
  );
  return row!.scope;
}
