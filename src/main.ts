import './v8-options.ts';
import { resolve } from 'node:path';
import { startApp } from './app.ts';
import { configWarnings, readConfig } from './config.ts';
import { systemClock } from './domain/clock.ts';
import { ConfigError, forLog } from './errors.ts';
import { EX_CONFIG, exitNow } from './exit.ts';
import { assertLimits, readLimits } from './limits.ts';
import { openLog } from './log.ts';
import { warnIfOpen } from './secrets.ts';

/** The process edge: environment → configuration → start; signals → stop. */

/** How long the bot still responds, with 503 and the reason at `/readyz`, after the database became unusable. */
const FAULT_SHOWN_MS = 10_000;
/** The process ends by then, whatever hangs: unfinished work is on disk. */
const STOP_TIMEOUT_MS = 7_500;

async function main(): Promise<void> {
  // The database contains receiver tokens, so only this user may read the files that the bot creates.
  process.umask(0o077);
  const config = readConfig(process.env);
  assertLimits(readLimits());
  const log = openLog(config.LOG_LEVEL);
  for (const warning of configWarnings(process.env)) log.warn(warning);
  warnIfOpen(resolve('.env'), log);
  const onDatabaseLost = (error: Error) => {
    // Not as `fatal`: the library would write that synchronously and wait until it is read.
    log.error({ err: error }, 'the database thread exited; restart the bot');
    exitNow(1);
  };
  const onUnusable = ({ message }: Error) => {
    log.error({ reason: message }, 'the database cannot be used: returning 503, exiting in 10 s');
    systemClock.after(FAULT_SHOWN_MS, () => {
      process.stderr.write(`Ledgerbell stopped: ${message}\n`);
      exitNow(EX_CONFIG);
    });
  };
  const starting = startApp(config, { log, onDatabase: { onLost: onDatabaseLost, onUnusable } });

  let isStopping = false;
  const stop = (signal: string) => {
    if (isStopping) return;
    isStopping = true;
    log.info({ signal }, 'stopping');
    systemClock.after(STOP_TIMEOUT_MS, () => exitNow(0));
    starting
      .then((app) => app.close())
      .then(
        () => exitNow(0),
        (error) => {
          log.error({ err: error }, 'stopped with an error');
          exitNow(1);
        },
      );
  };
  // discord.js parses gateway packets itself. A malformed packet must not end the process that receives alerts.
  process.on('unhandledRejection', (error) => log.error({ err: forLog(error) }, 'unexpected error'));
  // By default Node prints an error with all its fields, tokens among them.
  process.on('uncaughtException', (error) => {
    log.error({ err: forLog(error) }, 'unexpected error: exiting');
    exitNow(1);
  });
  // SIGHUP is sent when the terminal is closed.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  // By default SIGUSR1 opens a debugger, with which any user of this machine could read the bot's token.
  process.on('SIGUSR1', () => log.warn('ignoring SIGUSR1'));
  await starting;
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(error instanceof ConfigError ? EX_CONFIG : 1);
});
