import { startApp } from './app.ts';
import { readConfig } from './config.ts';
import { ConfigError } from './errors.ts';
import { openLog } from './log.ts';

/** The process edge: environment → configuration → start; signals → stop. */

/** The conventional exit code for a configuration that cannot work (sysexits' EX_CONFIG). */
const EX_CONFIG = 78;
/** The process ends by then, whatever hangs: what is not finished is on disk. */
const STOP_MS = 7_500;

async function main(): Promise<void> {
  // The database holds receiver tokens: every file that is made from here on is for this user alone.
  process.umask(0o077);
  const config = readConfig(process.env);
  const log = openLog(config.LOG_LEVEL);
  const onDatabaseLost = (error: Error) => {
    // Not as `fatal`: the library would write that at once, and wait until somebody reads it.
    log.error({ err: error }, 'the database thread exited; restart the bot');
    process.exit(1);
  };
  const starting = startApp(config, { log, onDatabaseLost });

  let isStopping = false;
  const stop = (signal: string) => {
    if (isStopping) return;
    isStopping = true;
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
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof ConfigError ? EX_CONFIG : 1);
});
