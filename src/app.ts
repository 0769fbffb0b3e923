import packageJson from '../package.json' with { type: 'json' };
import type { AppContext, AppOverrides } from './app/context.ts';
import { type Data, openData } from './app/data.ts';
import { type Interfaces, networkLabels, openInterfaces } from './app/interfaces.ts';
import { startOperations } from './app/operations.ts';
import { type Receiving, startReceiving } from './app/receiving.ts';
import { createWork, type Work } from './app/work.ts';
import { namesOfFile } from './config/networks.ts';
import type { Config } from './config.ts';
import { repeat, SECOND, systemClock } from './domain/clock.ts';
import { ROOTS } from './domain/upstream.ts';
import { openLog } from './log.ts';
import { createMetrics } from './metrics/metrics.ts';
import { REFUSAL_REASONS } from './receiver/refusals.ts';
import type { Store } from './store/store.ts';

export interface App {
  /** A URL without a path, like `ops`. */
  receiver: string;
  ops: string;
  /** For tests. */
  internals: {
    store: Store;
    receiver: Receiving['receiver'];
    working: Work['expected'];
  };
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
  const context: AppContext = {
    config,
    log,
    clock,
    random,
    metrics,
    stack,
  };

  // Most of what the bot imports is for the work: it is loaded while the database opens in threads of its own.
  const [data, { startWorking }] = await Promise.all([
    openData(context, overrides.database),
    import('./app/working.ts'),
  ]);
  const interfaces = await openInterfaces(context, data, overrides);
  // Created before the receiver so that it is closed after it; what it begins needs the receiver.
  const work = createWork(context);
  const receiving = await startReceiving(context, data, interfaces, work, overrides);
  const { lock } = data.database;
  const begin = () => work.begin((one) => startWorking(one, data, interfaces, receiving, overrides));
  const failed = Promise.withResolvers<Error>();
  void data.database.failed.then(failed.resolve);
  if (lock === null) await begin();
  else {
    followOthers(context, data, interfaces, work);
    if (config.ROLES.includes('work')) {
      const working = lock.acquire().then(begin);
      working.catch(failed.resolve);
      await lock.tried;
      if (lock.isHeld()) await working;
    }
  }
  const ops = await startOperations(context, data, interfaces, receiving, work);

  const off = config.networks.flatMap((network) =>
    Object.values(ROOTS).flatMap((name) =>
      name === 'PRICES_URL' || network[name]
        ? []
        : network.name === ''
          ? name
          : `${namesOfFile(name)} of ${network.name}`,
    ),
  );
  const { receiver, publicUrl } = receiving;
  const { version } = packageJson;
  log.info(
    {
      receiver: receiver.url,
      ops,
      publicUrl,
      database: data.name,
      off,
      version,
      schema: data.schema,
      node: process.version,
    },
    'started',
  );
  const started = stack.move();
  return {
    receiver: receiver.url,
    ops,
    internals: { store: data.store, receiver, working: work.expected },
    failed: failed.promise,
    close() {
      receiver.stopAdmitting();
      return started.disposeAsync();
    },
  };
}

/** How often the inbox is read although this process stored nothing. */
const POLL_MS = SECOND / 4;
const REREAD_MS = 10 * SECOND;

/** Follows what the other processes of a database store and change. */
function followOthers({ clock, log, stack }: AppContext, { tokens }: Data, { all }: Interfaces, work: Work): void {
  const reread = () =>
    Promise.all([tokens.refresh(), ...all.map(({ projects }) => projects.readSigning())]).catch((error: unknown) =>
      log.debug({ err: error }, 'cannot read what other processes changed'),
    );
  stack.defer(repeat(clock, REREAD_MS, reread));
  stack.defer(repeat(clock, POLL_MS, work.wake));
}
