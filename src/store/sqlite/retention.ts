import type { Database } from 'better-sqlite3';
import { OPERATOR_SCOPE } from '../../domain/scope.ts';
import {
  positionOf,
  RETENTION_START,
  type RetentionPosition,
  toCursor,
  type UnmatchedPosition,
} from '../sql/cursors.ts';
import type { Cursor } from '../store.ts';
import { runDeletionStep } from './database.ts';
import { guardTables } from './guard.ts';

/** A step blocks other writes only slightly longer than this. */
const STEP_MS = 4;
/** How many rows one step handles, at most. */
const MAX_ROWS = 200;
/** How many it handles if it does not check the time. */
const MAX_UNTIMED_ROWS = 20;

/** Deletes old data in steps, between which others can write; `elapsed` returns milliseconds. */
export function retentionTable(db: Database, elapsed: () => number) {
  const guard = guardTables(db);
  const transfers = db.prepare<{ scope: number; seenAt: number; id: number; before: number }, Aged>(
    `SELECT id, seen_at AS time FROM transfers
     WHERE scope = @scope AND (seen_at, id) > (@seenAt, @id) AND seen_at < @before ORDER BY seen_at, id LIMIT ${MAX_ROWS}`,
  );
  const nextScope = db.prepare<[number], number | null>('SELECT min(scope) FROM transfers WHERE scope > ?').pluck();
  // What a dead letter refers to stays: it can still be replayed.
  const dropAlerts = db.prepare<[number]>(
    `DELETE FROM alerts WHERE transfer_id = ? AND state IN ('sent', 'dead')
       AND NOT EXISTS (SELECT 1 FROM dead_letters WHERE alert_id = alerts.id)`,
  );
  const dropTransfer = db.prepare<{ id: number }>(
    'DELETE FROM transfers WHERE id = @id AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = @id)',
  );
  const batches = db.prepare<{ frozenAt: number; id: number; before: number }, Aged>(
    `SELECT id, frozen_at AS time FROM batches
     WHERE (frozen_at, id) > (@frozenAt, @id) AND frozen_at < @before ORDER BY frozen_at, id LIMIT ${MAX_ROWS}`,
  );
  const dropBatch = db.prepare<{ id: number }>(
    `DELETE FROM batches WHERE id = @id AND state <> 'frozen'
       AND NOT EXISTS (SELECT 1 FROM alerts WHERE batch_id = @id)`,
  );

  /** Processes rows until the time is up; returns the last of them, or null when none are left. */
  function each(rows: Aged[], drop: (id: number) => void): Aged | null {
    const end = elapsed() + STEP_MS;
    for (const row of rows) {
      drop(row.id);
      if (elapsed() >= end) return row;
    }
    return rows.length < MAX_ROWS ? null : rows.at(-1)!;
  }

  const dropUnmatched = db.prepare<{ id: number }>(
    `DELETE FROM transfers WHERE id = @id AND NOT EXISTS (SELECT 1 FROM decisions WHERE transfer_id = @id)
       AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = @id)`,
  );
  const unmatchedStep = db.transaction((since: number, before: number, from: UnmatchedPosition | null) => {
    const first = (after: number): UnmatchedPosition | null => {
      const scope = nextScope.get(after) ?? null;
      return scope === null ? null : { scope, seenAt: since, id: 0 };
    };
    const at = from ?? first(OPERATOR_SCOPE);
    if (!at) return null;
    const last = each(transfers.all({ ...at, before }), (id) => dropUnmatched.run({ id }));
    return last ? { scope: at.scope, seenAt: last.time, id: last.id } : first(at.scope);
  });
  const step = db.transaction((before: number, from: RetentionPosition): RetentionPosition | null => {
    switch (from.at) {
      case 'transfers': {
        const last = each(transfers.all({ ...from, before }), (id) => {
          dropAlerts.run(id);
          dropTransfer.run({ id });
        });
        if (last) return { ...from, seenAt: last.time, id: last.id };
        const scope = nextScope.get(from.scope) ?? null;
        return scope === null ? { at: 'batches', frozenAt: 0, id: 0 } : { ...RETENTION_START, scope };
      }
      case 'batches': {
        const last = each(batches.all({ ...from, before }), (id) => dropBatch.run({ id }));
        return last ? { ...from, frozenAt: last.time, id: last.id } : { at: 'knowledge' };
      }
      case 'knowledge':
        return guard.prune(before, MAX_UNTIMED_ROWS) > 0 ? from : null;
    }
  });

  return {
    /** `from` null: from the beginning. A step that a power failure undoes is repeated. */
    prune(before: number, from: Cursor<'retention'> | null): Cursor<'retention'> | null {
      const position = from ? positionOf(from) : RETENTION_START;
      return toCursor(runDeletionStep(db, () => step.immediate(before, position)));
    },
    pruneUnmatched(since: number, before: number, from: Cursor<'unmatched'> | null): Cursor<'unmatched'> | null {
      const position = from && positionOf(from);
      return toCursor(runDeletionStep(db, () => unmatchedStep.immediate(since, before, position)));
    },
  };
}

interface Aged {
  id: number;
  time: number;
}
