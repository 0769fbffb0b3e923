import pino from 'pino';
import { startApp } from './app.ts';
import { ConfigError, readConfig } from './config.ts';

/** The process edge: environment → configuration → start; signals → stop. */

/** The conventional exit code for a configuration that cannot work (sysexits' EX_CONFIG). */
const EX_CONFIG = 78;
/** However stuck a part is, the process ends by then; whatever is not finished is on disk. */
const STOP_MS = 7_500;

async function main(): Promise<void> {
  const config = readConfig(process.env);
  const log = pino({ level: config.LOG_LEVEL });
  const starting = startApp(config, {
    log,
    onLost(error) {
      log.fatal({ err: error }, 'the database’s thread has ended; start again');
      process.exit(1);
    },
  });

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
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  await starting;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof ConfigError ? EX_CONFIG : 1);
});
