import type { CommandServices } from '../commands/shared/services.ts';
import packageJson from '../package.json' with { type: 'json' };
import type { AppContext } from './app/context.ts';
import { openData } from './app/data.ts';
import { openInterfaces } from './app/interfaces.ts';
import { startOperations } from './app/operations.ts';
import type { AppOverrides } from './app/overrides.ts';
import { type Receiving, startReceiving } from './app/receiving.ts';
import type { Sending } from './app/sending.ts';
import { shareWork } from './app/sharing.ts';
import { createWork } from './app/work.ts';
import type { Config } from './config.ts';
import { systemClock } from './domain/clock.ts';
import { ROOTS } from './domain/upstream.ts';
import { openLog } from './log.ts';
import { createCounts } from './metrics/counts.ts';
import type { Metrics } from './metrics/render.ts';
import { REFUSAL_REASONS } from './receiver/refusals.ts';
import type { Store } from './store/store.ts';

/** A running bot. */
export interface App {
  /** Where the receiver listens, without the path. */
  receiver: string;
  /** Where the operator's server listens. */
  ops: string;
  /** For tests that replace the network. */
  internals: {
    store: Store;
    intake: Receiving['receiver']['intake'];
    deliverer: Sending['deliverer'];
    services: CommandServices;
  };
  /** Stops receiving first; requests to Discord have 5 s to finish. */
  close(): Promise<void>;
}

/**
 * Starts the bot; the only function that knows every part: what is remembered, what receives, and the work on what was
 * received. They stop in the opposite order, also when a later part cannot start.
 */
export async function startApp(config: Config, overrides: AppOverrides = {}): Promise<App> {
  const { clock = systemClock, log = openLog(config.LOG_LEVEL), random = Math.random } = overrides;
  const { elapsed = () => performance.now() } = overrides;
  await using stack = new AsyncDisposableStack();
  // Loaded with the first message or scrape: it would hold up the start.
  let loading: Promise<Metrics> | undefined;
  const metrics = () => (loading ??= import('./metrics/render.ts').then(({ createMetrics }) => createMetrics()));
  const onDelay = (seconds: number) => void metrics().then((it) => it.observe('message_delay_seconds', seconds));
  const counts = createCounts(REFUSAL_REASONS, onDelay);
  const context: AppContext = { config, log, clock, now: () => clock.now(), elapsed, random, counts, stack };

  // Most of what the bot imports is for the work: it is loaded while the database opens in threads of its own.
  const [data, { startWorking }] = await Promise.all([
    openData(context, overrides.database, overrides.onDatabase),
    import('./app/working.ts'),
  ]);
  const interfaces = await openInterfaces(context, data, overrides);
  // Made first, so that it ends after the receiver; it begins later, because it reports what the receiver knows.
  const work = createWork(context);
  const receiving = await startReceiving(context, data, interfaces, work, overrides);
  const begin = (one: AppContext, store: Store) => startWorking(one, store, data, interfaces, receiving, overrides);
  if (data.shared) await shareWork(context, data.shared, data, interfaces, receiving, work, begin);
  else await work.begin((one) => begin(one, data.store));
  const ops = await startOperations(context, metrics, data, interfaces, receiving, work);

  const off = Object.values(ROOTS).filter((name) => !config[name]);
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
    internals: {
      store: data.store,
      intake: receiver.intake,
      get deliverer() {
        return work.expected().deliverer;
      },
      get services() {
        return work.expected().services;
      },
    },
    close() {
      receiver.stopAdmitting();
      data.shared?.leadership.standDown();
      return started.disposeAsync();
    },
  };
}
