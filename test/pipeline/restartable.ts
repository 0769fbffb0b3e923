import type { ManualClock } from '../../sandbox/discord/index.ts';
import type { App } from '../../src/app.ts';
import type { Store } from '../../src/store/store.ts';

/** The bot in this process, which can be started again over the same file. */
export interface RestartableApp {
  readonly app: App;
  readonly store: Store;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the bot. Stopping it turns the clock by the time that requests have to finish. */
export async function startRestartable(start: () => Promise<App>, clock: ManualClock): Promise<RestartableApp> {
  const begin = async (): Promise<App> => {
    const begun = await start();
    await begun.internals.deliverer.loaded;
    return begun;
  };
  const stop = async (): Promise<void> => {
    const sent = app.internals.deliverer.close();
    clock.advance(6_000);
    await sent;
    await app.close();
  };
  let app = await begin();
  return {
    get app() {
      return app;
    },
    get store() {
      return app.internals.store;
    },
    async restart() {
      await stop();
      app = await begin();
    },
    stop,
  };
}
