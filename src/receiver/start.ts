import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import { createIntake, type IntakeOptions } from './intake.ts';
import { listen } from './listen.ts';
import { createServer, type ServerOptions } from './server.ts';

/** Open requests are aborted this long after the receiver stops. */
const SHUTDOWN_GRACE_MS = 2_000;

/** Dependencies and callbacks of the receiver. */
export interface ReceiverOptions extends Omit<ServerOptions, 'intake' | 'config'>, Omit<IntakeOptions, 'onFault'> {
  config: ServerOptions['config'] & Pick<Config, 'HOST' | 'PORT' | 'ROLES'>;
  after: Clock['after'];
  log: Logger;
}

/**
 * Receives deliveries: checks the request, stores its bytes, responds. Rejects when it cannot listen. A process without
 * the role `receive` does not listen.
 */
export async function startReceiver(options: ReceiverOptions) {
  const { config, log, after, now, syncMs, onStored, onRefused } = options;
  const onFault = (reason: string | null) =>
    reason === null
      ? log.info('deliveries can be stored again')
      : log.error({ reason }, 'cannot store deliveries: returning 503, the sender will retry');
  const intake = createIntake({
    ...options,
    onFault,
    onStored(rows) {
      if (log.isLevelEnabled('debug')) {
        const inbox = rows.map(({ id }) => id);
        log.debug({ inbox, ms: now() - rows[0]!.receivedAt, syncMs: Math.round(syncMs?.() ?? 0) }, 'deliveries stored');
      }
      onStored(rows);
    },
  });
  const app = createServer({
    ...options,
    intake,
    onRefused(reason, source, scope) {
      log.debug({ reason, source, scope }, 'request rejected');
      onRefused(reason, source, scope);
    },
  });
  const { HOST, PORT } = config;
  const url = config.ROLES.includes('receive') ? await listen(app, HOST, PORT, 'PORT') : `http://${HOST}:${PORT}`;
  return {
    /** Where it listens, or its fellow receivers do, without the path. */
    url,
    intake,
    stopAdmitting: intake.stopAdmitting,
    /** Closes idle connections now and the others after their response, at the latest after 2 s. */
    async close(): Promise<void> {
      intake.stopAdmitting();
      const cancelGrace = after(SHUTDOWN_GRACE_MS, () => app.server.closeAllConnections());
      app.server.closeIdleConnections();
      await app.close();
      cancelGrace();
    },
  };
}
