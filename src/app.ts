import packageJson from '../package.json' with { type: 'json' };
import { type AppContext, type AppOverrides, type Base, openData, type Receiving } from './app/context.ts';
import type { Working } from './app/working.ts';
import { type Config, quotaLimits, rootsNotSet } from './config.ts';
import { repeat, SECOND, systemClock } from './domain/clock.ts';
import type { Inbox } from './domain/inbox.ts';
import { maxConnections, readLimits } from './limits.ts';
import { openLog } from './log.ts';
import { createMetrics, networkLabels } from './metrics/metrics.ts';
import { type Role, startOps } from './operator/ops.ts';
import { makePathToken } from './receiver/path-tokens.ts';
import { probeReceiver, watchReachability } from './receiver/reachability.ts';
import { REFUSAL_REASONS } from './receiver/refusals.ts';
import { startReceiver } from './receiver/server.ts';
import { SCHEMA_VERSION } from './store/schema.ts';
import type { Store } from './store/store.ts';
import { openInterfaces } from './upstream/interfaces.ts';

export interface App {
  /** A URL without a path, like `ops`. */
  receiver: string;
  ops: string;
  /** For tests. */
  internals: { store: Store; receiver: Receiving['receiver']; working(): Working };
  /** Resolves when the process cannot go on: database unusable, lock lost, or its work could not begin. */
  failed: Promise<Error>;
  /** Stops receiving first; requests to Discord have 5 s to finish. */
  close(): Promise<void>;
}

/** Starts the bot. Its parts stop in the opposite order, also when a later part cannot start. */
export async function startApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const { clock = systemClock, log = openLog(config.LOG_LEVEL), random = Math.random } = overrides;
  await using stack = new AsyncDisposableStack();
  const metrics = createMetrics(REFUSAL_REASONS, networkLabels(config.networks));
  const context: AppContext = { config, log, clock, random, metrics, stack };

  // Most of what the bot imports is for the work: it is loaded while the database opens in threads of its own.
  const [data, { startWorking }] = await Promise.all([
    openData(context, overrides.database),
    import('./app/working.ts'),
  ]);
  const { database, store, tokens } = data;
  const [timeoutMs, onTokens] = [overrides.upstreamTimeoutMs, tokens.refresh];
  const interfaces = await openInterfaces({ ...context, ...data, newToken: makePathToken, onTokens, timeoutMs });
  const base: Base = { ...context, ...data, interfaces };

  // Created before the receiver so that it ends after it; what it begins needs the receiver.
  const work = createWork(base);
  const receiving = await startReceiving(base, work.inbox, overrides);
  const { receiver, publicUrl, reachability } = receiving;
  const begin = () => work.begin((own) => startWorking({ ...base, stack: own }, receiving, overrides));
  const failed = Promise.withResolvers<Error>();
  void database.failed.then(failed.resolve);
  if (database.lock === null) await begin();
  else {
    followOthers(base, work.inbox);
    if (config.ROLES.includes('work')) {
      const working = database.lock.acquire().then(begin);
      working.catch(failed.resolve);
      await database.lock.tried;
      if (database.lock.isHeld()) await working;
    }
  }
  const ops = await startOps({
    ...base,
    fault: receiver.fault,
    working: work.current,
    role: work.role,
    unreachable: reachability.unreachable,
    completeness: () => work.current()?.services.completeness() ?? [],
  });

  const { version } = packageJson;
  const off = config.networks.flatMap(rootsNotSet);
  const [schema, node] = [SCHEMA_VERSION, process.version];
  log.info({ receiver: receiver.url, ops, publicUrl, database: data.name, off, version, schema, node }, 'started');
  const started = stack.move();
  return {
    receiver: receiver.url,
    ops,
    internals: { store, receiver, working: work.expected },
    failed: failed.promise,
    close() {
      receiver.stopAdmitting();
      return started.disposeAsync();
    },
  };
}

/** The work begins at most once, and ends with the app. */
function createWork({ config, stack }: Base) {
  const own = new AsyncDisposableStack();
  let current: Working | null = null;
  let beginning: Promise<void> | null = null;
  let isClosed = false;

  stack.defer(async () => {
    isClosed = true;
    await beginning?.catch(() => undefined);
    current = null;
    await own.disposeAsync();
  });
  const work = {
    /** The router's, once the work has begun; before, what is stored waits. */
    inbox: { wake: () => undefined } as Inbox,
    current: (): Working | null => current,
    expected(): Working {
      if (current === null) throw new Error('This process does not work now: another one on its database does.');
      return current;
    },
    role: (): Role => (current ? 'working' : config.ROLES.includes('work') ? 'standby' : 'receiving'),
    begin(start: (own: AsyncDisposableStack) => Promise<Working>): Promise<void> {
      beginning = (async () => {
        if (isClosed) return;
        current = await start(own);
        work.inbox.wake = current.router.wake;
      })();
      return beginning;
    },
  };
  return work;
}

async function startReceiving(base: Base, inbox: Inbox, overrides: AppOverrides): Promise<Receiving> {
  const { config, interfaces, database, clock, log, stack } = base;
  const { limits = readLimits(), headers } = overrides;
  const receiver = await startReceiver({
    ...base,
    ...(headers && { headers }),
    inbox,
    signing: interfaces.signing.secrets,
    limits: quotaLimits(config),
    maxConnections: maxConnections(limits),
    syncMs: database.syncMs,
  });
  stack.defer(receiver.close);
  const publicUrl = config.PUBLIC_URL ?? receiver.url;
  const isRepeated = config.PUBLIC_URL !== undefined;
  const reachability = watchReachability({ probe: () => probeReceiver(publicUrl), isRepeated, clock, log });
  stack.defer(reachability.close);
  return { receiver, publicUrl, reachability };
}

/** How often the inbox is read although this process stored nothing. */
const POLL_MS = SECOND / 4;
const REREAD_MS = 10 * SECOND;

/** Follows what the other processes of a database store and change. */
function followOthers({ tokens, interfaces, clock, log, stack }: Base, inbox: Inbox): void {
  const reread = () =>
    Promise.all([tokens.refresh(), interfaces.signing.read()]).catch((error: unknown) =>
      log.debug({ err: error }, 'cannot read what other processes changed'),
    );
  stack.defer(repeat(clock, REREAD_MS, reread));
  stack.defer(repeat(clock, POLL_MS, () => inbox.wake()));
}
