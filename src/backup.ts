import { resolve } from 'node:path';
import { readDatabaseFile } from './config.ts';
import { backUp } from './store/backup.ts';
import { backupFolder, stamp } from './store/folder.ts';

/** `npm run backup -- [file]`: a verified copy of the database, also while the bot runs. */

// As the bot's own: receiver tokens are in it.
process.umask(0o077);
try {
  const file = readDatabaseFile(process.env);
  const target = resolve(process.argv[2] ?? `${backupFolder(file)}/${stamp(Date.now())}.sqlite`);
  const { bytes } = await backUp(file, target);
  process.stdout.write(`Backed up ${file} to ${target} (${bytes} bytes), verified.\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
