import type { Logger } from 'pino';
import type { IpRanges } from '../config/values.ts';
import type { Config } from '../config.ts';
import { type Clock, repeat, SECOND } from '../domain/clock.ts';
import type { Inbox, QuotaLimits } from '../domain/inbox.ts';
import { MIB } from '../domain/units.ts';
import type { Store } from '../store/store.ts';
import { createAdmission } from './admission.ts';
import { createStorageFault, watchDisk } from './disk.ts';
import { createIntake } from './intake.ts';
import type { ScopeOf } from './path-tokens.ts';
import { createQuotas } from './quotas.ts';
import { createRefusals, type RefusalReason } from './refusals.ts';
import { startRun } from './run.ts';
import { createServer, type HEADERS, listen } from './server.ts';
import type { CheckSignature } from './signature.ts';

/** Open requests are aborted this long after the receiver stops. */
const SHUTDOWN_GRACE_MS = 2 * SECOND;
/** How often it is read from the database what each scope uses. */
const USAGE_MS = 10 * SECOND;

export interface ReceiverOptions {
  config: Pick<
    Config,
    'HOST' | 'PORT' | 'ROLES' | 'networks' | 'RECEIVER_SOURCE_CHECK' | 'TRUSTED_PROXIES' | 'DISK_RESERVE_MB'
  >;
  store: Pick<Store, 'inbox' | 'retention'>;
  /** The database's file; null: a server has it. */
  file: string | null;
  inbox: Inbox;
  scopeOf: ScopeOf;
  sourcesOf(scope: number): IpRanges;
  checkSignature: CheckSignature;
  limits: QuotaLimits;
  maxConnections: number;
  /** Tests shorten these. */
  headers?: typeof HEADERS;
  /** How long the last commit took, or the current one has taken. */
  syncMs(): number;
  count: { received(): void; refused(reason: RefusalReason): void };
  clock: Clock;
  log: Logger;
}

/**
 * Receives deliveries: admits the request, stores its bytes, responds. Rejects when it cannot listen. A process without
 * the role `receive` does not listen.
 */
export async function startReceiver(options: ReceiverOptions) {
  const { config, store, inbox, count, clock, log } = options;
  const { now, elapsed, after } = clock;
  const reserveBytes = config.DISK_RESERVE_MB * MIB;
  await using stack = new AsyncDisposableStack();
  const closing = <Part extends { close(): void }>(part: Part): Part => stack.adopt(part, ({ close }) => close());
  const { reusableBytes } = store.retention;
  const disk = closing(watchDisk({ file: options.file, reserveBytes, after, elapsed, log, reusableBytes }));
  const run = closing(startRun(clock));
  const quotas = createQuotas({ limits: options.limits, now, elapsed });
  const refusals = createRefusals({ count: count.refused, now, elapsed, log });
  const storage = createStorageFault({ elapsed, syncMs: options.syncMs, log });
  const admission = createAdmission({
    config,
    scopeOf: options.scopeOf,
    sourcesOf: options.sourcesOf,
    run,
    disk,
    quotas,
    refusals,
    storage,
    now,
    elapsed,
  });
  const intake = createIntake({ store, inbox, admission, disk, quotas, storage, elapsed, log });

  const readUsage = async () => quotas.load(await store.inbox.usage());
  await readUsage();
  stack.defer(
    repeat(clock, USAGE_MS, () => readUsage().catch((error) => log.debug({ err: error }, 'cannot read usage'))),
  );

  const app = createServer({
    ...options,
    admission,
    intake,
    refusals,
    storage,
    after,
    countReceived: count.received,
  });
  stack.defer(async () => {
    admission.stop();
    const cancelGrace = after(SHUTDOWN_GRACE_MS, () => app.server.closeAllConnections());
    app.server.closeIdleConnections();
    await app.close();
    cancelGrace();
  });
  const { HOST, PORT, ROLES } = config;
  const url = ROLES.includes('receive') ? await listen(app, HOST, PORT, 'PORT') : `http://${HOST}:${PORT}`;
  const started = stack.move();
  return {
    /** URL of this process, or of another receiver of the same database; without the path. */
    url,
    admission,
    intake,
    refusals,
    quotas,
    /** Why deliveries cannot be stored; null: they can. */
    fault: storage.reason,
    isBusy: admission.isBusy,
    isDiskLow: disk.isLow,
    stopAdmitting: admission.stop,
    /** Closes idle connections now and the others after their response, at the latest after 2 s. */
    close: (): Promise<void> => started.disposeAsync(),
  };
}
