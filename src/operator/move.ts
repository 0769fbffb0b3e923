import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { databaseFile, isPostgres } from '../config.ts';
import { UserError } from '../errors.ts';
import { type Copyable, type CopyReport, copyDatabase } from '../store/copy.ts';
import { openPostgresForCopy } from '../store/postgres/open.ts';
import { openFileForCopy } from '../store/sqlite/tools.ts';

const open = (url: string, role: { isSource: boolean }): Copyable | Promise<Copyable> =>
  isPostgres(url) ? openPostgresForCopy(url, role) : openFileForCopy(databaseFile({ DATABASE_URL: url }), role);

/** In one transaction: every row is read back and compared before anything becomes visible in the target. */
export async function move(from: string, to: string, report: CopyReport = () => undefined): Promise<string> {
  if (from === to) throw new UserError('--from and --to name the same database.');
  await using source = await open(from, { isSource: true });
  await using target = await open(to, { isSource: false });
  const copied = await copyDatabase(source, target, report);
  return summary(source, target, copied, from);
}

function summary(
  source: Copyable,
  target: Copyable,
  { rows, tables }: { rows: number; tables: number },
  from: string,
): string {
  const lines = [
    `Moved ${rows} ${rows === 1 ? 'row' : 'rows'} in ${tables} tables from ${source.name} to ${target.name}.`,
    'Counts and checksums of every table are the same on both sides.',
    `Now set DATABASE_URL to the new database for every process, and start them. ${source.name} was not changed: do`,
    'not start a bot with it again, because it would post again what the new one posts.',
  ];
  const key = isPostgres(from) ? null : join(dirname(databaseFile({ DATABASE_URL: from })), 'secrets.key');
  if (key !== null && existsSync(key))
    lines.push(`Servers' keys are sealed with ${key}: set SECRETS_KEY to its content for every process.`);
  return lines.join('\n');
}
