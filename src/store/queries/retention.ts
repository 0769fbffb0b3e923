import { isIn, type QueriesOf, read, report, type Sql, unsynced } from '../sql.ts';
import type { Retention } from '../store.ts';
import { comparedUpTo, META_KEYS, putValue, valueAt } from './meta.ts';
import { pruneKnowledge } from './tokens.ts';

/** How many rows one step looks at, at most. */
const MAX_ROWS = 1_000;

/** Deletes old data in short steps. A step that a power failure undoes is repeated. */
export const retention: QueriesOf<Retention> = {
  prunedBefore: report(async (sql) => {
    const known = await valueAt(sql, META_KEYS.pruned);
    if (known !== null) return Number(known);
    return sql.value`
      SELECT min(at) AS at FROM (
        SELECT min(frozen_at) AS at FROM batches
        UNION ALL SELECT min(seen_at) FROM (
          SELECT seen_at FROM transfers ORDER BY id LIMIT ${MAX_ROWS}) AS first) AS oldest`;
  }),

  setPrunedBefore: unsynced((sql, time) => putValue(sql, META_KEYS.pruned, String(time))),

  // By their ids, which grow with time.
  pruneTransfers: unsynced(async (sql, before, afterId) => {
    const rows = await sql.all<{ id: number; seenAt: number }>`
      SELECT id, seen_at FROM transfers WHERE id > ${afterId} ORDER BY id LIMIT ${MAX_ROWS}`;
    const aged = rows.filter(({ seenAt }) => seenAt < before).map(({ id }) => id);
    await dropAlerts(sql, aged, 0);
    await dropWithoutAlerts(sql, aged);
    return aged.length > 0 && rows.length === MAX_ROWS ? rows.at(-1)!.id : null;
  }),

  pruneUnmatched: unsynced(async (sql, scope, since, before) => {
    const rows = await sql.all<{ id: number; seenAt: number; isMatched: boolean }>`
      SELECT id, seen_at, EXISTS (SELECT 1 FROM decisions WHERE transfer_id = t.id) AS is_matched_flag FROM transfers t
      WHERE scope = ${scope} AND seen_at >= ${since} AND seen_at < ${before} ORDER BY seen_at LIMIT ${MAX_ROWS}`;
    const unmatched = rows.flatMap(({ id, isMatched }) => (isMatched ? [] : id));
    await dropWithoutAlerts(sql, unmatched);
    return rows.length === MAX_ROWS ? Math.max(rows.at(-1)!.seenAt, since + 1) : null;
  }),

  pruneWorthless: unsynced(async (sql, before, afterId, isDiskLow) => {
    const rows = await sql.all<{
      id: number;
      seenAt: number;
      network: number;
      block: number | null;
      isCataloged: boolean | null;
    }>`
      SELECT t.id, t.seen_at, t.network, t.block, c.cataloged AS is_cataloged_flag
      FROM transfers t LEFT JOIN catalog c ON c.network = t.network AND c.token = t.token
      WHERE t.worthless = 1 AND t.id > ${afterId} ORDER BY t.id LIMIT ${MAX_ROWS}`;
    const old = rows.filter(({ seenAt }) => seenAt < before);
    // A token that could not be looked up may be genuine.
    const looked = old.filter(({ isCataloged }) => !(isCataloged ?? !isDiskLow));
    const compared = await comparedUpTo(sql, new Set(looked.map(({ network }) => network)));
    // What is forgotten before its block is compared would be found there again, and posted twice.
    const isAwaited = ({ network, block }: (typeof rows)[number]) =>
      (block ?? 0) > (compared.get(network)?.block ?? Infinity);
    const aged = looked.filter((row) => isDiskLow || !isAwaited(row)).map(({ id }) => id);
    const messages = await sql.list<number>`
      SELECT DISTINCT batch_id FROM alerts WHERE transfer_id ${isIn(aged)} AND batch_id IS NOT NULL`;
    await dropAlerts(sql, aged, before);
    const deleted = await dropWithoutAlerts(sql, aged);
    await dropMessages(sql, messages);
    return { deleted, next: old.length === MAX_ROWS ? old.at(-1)!.id : null };
  }),

  reusableBytes: read(async (sql) => {
    if (sql.engine === 'postgres') return 0;
    return (await sql.value`SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size`)!;
  }),

  pruneMessages: unsynced(async (sql, before, from) => {
    const rows = await sql.all<{ id: number; frozenAt: number }>`
      SELECT id, frozen_at FROM batches WHERE frozen_at >= ${from} AND frozen_at < ${before}
      ORDER BY frozen_at LIMIT ${MAX_ROWS}`;
    const ids = rows.map(({ id }) => id);
    await dropMessages(sql, ids);
    return rows.length === MAX_ROWS ? Math.max(rows.at(-1)!.frozenAt, from + 1) : null;
  }),

  pruneRest: unsynced(async (sql, before) => {
    const quarantined = await sql.run`
      DELETE FROM quarantine WHERE id IN (
        SELECT id FROM quarantine WHERE hash IS NOT NULL AND received_at < ${before} LIMIT ${MAX_ROWS})`;
    return quarantined + (await pruneKnowledge(sql, before, MAX_ROWS)) > 0;
  }),
};

/** Deletes alerts that were sent. A dead letter of that time or later keeps its alert: it can still be replayed. */
const dropAlerts = (sql: Sql, transferIds: readonly number[], since: number) => sql.run`
  DELETE FROM alerts WHERE transfer_id ${isIn(transferIds)} AND state IN ('sent', 'dead')
    AND NOT EXISTS (SELECT 1 FROM dead_letters d WHERE d.alert_id = alerts.id AND d.at >= ${since})`;

/** Deletes messages that show no stored alert. */
const dropMessages = (sql: Sql, ids: readonly number[]) => sql.run`
  DELETE FROM batches WHERE id ${isIn(ids)} AND state <> 'frozen'
    AND NOT EXISTS (SELECT 1 FROM alerts WHERE batch_id = batches.id)`;

/** Deletes transfers with their deliveries and decisions, unless an alert refers to them; returns how many. */
const dropWithoutAlerts = (sql: Sql, ids: readonly number[]) => sql.run`
  DELETE FROM transfers WHERE id ${isIn(ids)} AND NOT EXISTS (SELECT 1 FROM alerts WHERE transfer_id = transfers.id)`;
