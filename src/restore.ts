import { resolve } from 'node:path';
import { readDatabaseFile } from './config.ts';
import { toolWords, UserError } from './errors.ts';
import { restore } from './store/sqlite/backup.ts';

/** `npm run restore -- <file>`: puts a backup in the database's place while the bot is stopped. */

// As with the bot's own files: a backup holds receiver tokens, so it is for this user alone.
process.umask(0o077);
let file = '';
try {
  const [backup, ...more] = process.argv.slice(2);
  if (!backup || more.length > 0)
    throw new UserError('Specify one backup file: npm run restore -- data/backups/2026-01-31T12-00-00-000Z.sqlite');
  file = readDatabaseFile(process.env);
  const { kept } = await restore(file, resolve(backup), Date.now());
  process.stdout.write(`Restored ${resolve(backup)} to ${file}.\n`);
  if (kept !== null)
    process.stdout.write(`The previous database was kept as ${kept}. Delete it when you no longer need it.\n`);
} catch (error) {
  process.stderr.write(`${toolWords(error as Error, file)}\n`);
  process.exitCode = 1;
}
