import { existsSync } from 'node:fs';
import type { Logger } from 'pino';
import type { App } from './app.ts';
import { type Config, databaseFile, readConfig } from './config.ts';
import { ConfigError } from './errors.ts';
import { openLog } from './log.ts';
import { openStore } from './store/sqlite/client.ts';
import { takePlace } from './store/sqlite/folder.ts';

/** The process edge: environment → configuration → start; signals → stop. */

/** The conventional exit code for a configuration that cannot work (sysexits' EX_CONFIG). */
const EX_CONFIG = 78;
/** So long after the start Discord has told of all guilds, and what only the start needed can be freed. */
const SETTLED_MS = 5_000;
/** The process ends by then, whatever hangs: what is not finished is on disk. */
const STOP_MS = 7_500;

/** Starts the bot. The database's thread opens the file while this thread loads everything else. */
async function start(config: Config, log: Logger): Promise<App> {
  const onLost = (error: Error) => {
    // Not as `fatal`: the library would write that at once, and wait until somebody reads it.
    log.error({ err: error }, 'the database thread exited; restart the bot');
    process.exit(1);
  };
  const file = databaseFile(config);
  const isNew = !existsSync(file);
  takePlace(file);
  const [database, { startApp }] = await Promise.all([openStore(file, onLost), import('./app.ts')]);
  // If the path is wrong, the bot runs without any subscription: it takes every delivery and tells nobody.
  if (isNew)
    log.warn({ database: file }, 'no database found, creating an empty one; if you expected one, check DATABASE_URL');
  return startApp(config, { database, log });
}

async function main(): Promise<void> {
  // The database holds receiver tokens: every file that is made from here on is for this user alone.
  process.umask(0o077);
  const config = readConfig(process.env);
  const log = openLog(config.LOG_LEVEL);
  const starting = start(config, log);

  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(0), STOP_MS).unref();
    starting
      .then((app) => app.close())
      .then(
        () => process.exit(0),
        (error) => {
          log.error({ err: error }, 'stopped with an error');
          process.exit(1);
        },
      );
  };
  // discord.js reads the gateway in code of its own; a malformed packet must not end the process that receives alerts.
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unexpected error'));
  // SIGHUP comes when the terminal is closed.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  // By default SIGUSR1 opens a debugger, with which everybody on this machine could read the bot's token.
  process.on('SIGUSR1', () => log.warn('ignoring SIGUSR1'));
  await starting;
  // After the start half of the memory is garbage, and an idle bot would never collect it. Once, this takes some 30 ms.
  setTimeout(() => globalThis.gc?.({ type: 'major', flavor: 'last-resort' }), SETTLED_MS).unref();
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof ConfigError ? EX_CONFIG : 1);
});
