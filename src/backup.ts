import { resolve } from 'node:path';
import { readDatabaseFile } from './config.ts';
import { toolWords, UserError } from './errors.ts';
import { backUp } from './store/sqlite/backup.ts';
import { backupFolder, stamp } from './store/sqlite/folder.ts';

/** `npm run backup -- [file]`: a verified copy of the database, also while the bot runs. */

// As with the bot's own files: a backup holds receiver tokens, so it is for this user alone.
process.umask(0o077);
let file = '';
try {
  const [name, ...more] = process.argv.slice(2);
  // More words are the rest of a path with blanks in it, and something like `--help` is no file either.
  if (name?.startsWith('-') || more.length > 0)
    throw new UserError('Specify one file or none: npm run backup -- "/a path/name.sqlite"');
  file = readDatabaseFile(process.env);
  const target = resolve(name ?? `${backupFolder(file)}/${stamp(Date.now())}.sqlite`);
  const { bytes } = await backUp(file, target);
  process.stdout.write(`Backed up ${file} to ${target} (${bytes} bytes), verified.\n`);
} catch (error) {
  process.stderr.write(`${toolWords(error as Error, file)}\n`);
  process.exitCode = 1;
}
