import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { databaseFile, isPostgres } from '../config.ts';
import { UserError } from '../errors.ts';
import { type CopiedTable, type CopySide, TABLE_NAMES, type Value } from '../store/copying.ts';
import { openPostgresCopy } from '../store/postgres/copy.ts';
import { openFileCopy } from '../store/sqlite/copy.ts';

/** Receives how many of all rows are done, and the table. */
type Report = (done: number, total: number, table: string) => void;

const open = (url: string, role: { isSource: boolean }): CopySide | Promise<CopySide> =>
  isPostgres(url) ? openPostgresCopy(url, role) : openFileCopy(databaseFile({ DATABASE_URL: url }), role);

/**
 * Copies a stopped installation's data into an empty database, in one transaction; returns what to print. Every row is
 * read back and compared before anything becomes visible there.
 */
export async function move(from: string, to: string, report: Report = () => undefined): Promise<string> {
  if (from === to) throw new UserError('--from and --to name the same database.');
  await using source = await open(from, { isSource: true });
  await using target = await open(to, { isSource: false });
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
  return summary(source, target, total / 2, from);
}

async function assertEmpty(target: CopySide): Promise<void> {
  for (const table of TABLE_NAMES) {
    const count = await target.count(table);
    if (count === 0) continue;
    throw new UserError(
      `${target.name} is not empty: ${table} has ${count} ${count === 1 ? 'row' : 'rows'}. Nothing was changed. ` +
        'Choose an empty database.',
    );
  }
}

async function copyTable(source: CopySide, target: CopySide, table: CopiedTable, step: (rows: number) => void) {
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

function summary(source: CopySide, target: CopySide, rows: number, from: string): string {
  const lines = [
    `Moved ${rows} ${rows === 1 ? 'row' : 'rows'} in ${TABLE_NAMES.length} tables from ${source.name} to ${target.name}.`,
    'Counts and checksums of every table are the same on both sides.',
    `Now set DATABASE_URL to the new database for every process, and start them. ${source.name} was not changed: do`,
    'not start a bot with it again, because it would post again what the new one posts.',
  ];
  const key = isPostgres(from) ? null : join(dirname(databaseFile({ DATABASE_URL: from })), 'secrets.key');
  if (key !== null && existsSync(key))
    lines.push(`Servers' keys are sealed with ${key}: set SECRETS_KEY to its content for every process.`);
  return lines.join('\n');
}
