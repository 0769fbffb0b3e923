import { createHash } from 'node:crypto';
import { UserError } from '../../errors.ts';
import { type CopiedTable, type CopyableDatabase, TABLE_NAMES, type Value } from './copyable.ts';

/** Receives how many of all rows are done, and the table. */
export type CopyReport = (done: number, total: number, table: string) => void;

/**
 * Copies every table into an empty database and commits there; returns how much that was. Every row is read back and
 * compared first. Throws an Error with a message for the operator when the target is not empty or a table differs.
 */
export async function copyDatabase(
  source: CopyableDatabase,
  target: CopyableDatabase,
  report: CopyReport,
): Promise<{ rows: number; tables: number }> {
  await assertEmpty(target);
  const counts = new Map<CopiedTable, number>();
  for (const table of TABLE_NAMES) counts.set(table, await source.count(table));
  // Each row is written, then read back.
  const total = 2 * counts.values().reduce((sum, count) => sum + count, 0);
  let done = 0;
  const step = (table: string) => (rows: number) => {
    done += rows;
    report(done, total, table);
  };
  for (const table of TABLE_NAMES) await copyTable(source, target, table, step(table));
  await target.setLastIds(await source.lastIds());
  await target.commit();
  return { rows: total / 2, tables: TABLE_NAMES.length };
}

async function assertEmpty(target: CopyableDatabase): Promise<void> {
  for (const table of TABLE_NAMES) {
    const count = await target.count(table);
    if (count === 0) continue;
    throw new UserError(
      `${target.name} is not empty: ${table} has ${count} ${count === 1 ? 'row' : 'rows'}. Nothing was changed. ` +
        'Choose an empty database.',
    );
  }
}

async function copyTable(
  source: CopyableDatabase,
  target: CopyableDatabase,
  table: CopiedTable,
  step: (rows: number) => void,
) {
  const columns = await source.columns(table);
  const [ours, theirs] = [columns.join(', '), (await target.columns(table)).join(', ')];
  if (ours !== theirs) throw new Error(`The columns of ${table} differ: ${ours}; ${theirs}.`);
  const sent = createTally();
  for await (const rows of source.rows(table, columns)) {
    sent.add(rows);
    await target.insert(table, columns, rows);
    step(rows.length);
  }
  const kept = createTally();
  for await (const rows of target.rows(table, columns)) {
    kept.add(rows);
    step(rows.length);
  }
  if (sent.sum() === kept.sum()) return;
  throw new Error(
    `${table} is not the same in ${target.name}: ${sent.sum()} became ${kept.sum()}. Nothing was changed there.`,
  );
}

/** Counts rows, and sums them up in a hash of every value. */
function createTally() {
  const hash = createHash('sha256');
  let count = 0;
  return {
    add(rows: readonly Value[][]): void {
      count += rows.length;
      for (const row of rows) hash.update(JSON.stringify(row.map(printed)));
    },
    sum: (): string => `${count} rows, sha256 ${hash.copy().digest('hex').slice(0, 16)}`,
  };
}

const printed = (value: Value): string | number | null | { bytes: string } =>
  value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value;
