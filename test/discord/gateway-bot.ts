import type { CommandServices } from '../../commands/shared/services.ts';
import type { Discord } from '../../sandbox/discord/index.ts';
import type { AppOverrides } from '../../src/app/context.ts';
import { type App, startApp } from '../../src/app.ts';
import type { Membership } from '../../src/discord/client.ts';
import { type GatewayOptions, startGateway } from '../../src/discord/gateway.ts';
import { configOf, testLog } from '../app.ts';
import { takeStore } from '../store/sqlite/reused.ts';

export interface GatewayBot {
  app: App;
  gateway: ReturnType<typeof startGateway>;
  close(): Promise<void>;
}

export type ChangedOptions = Partial<Omit<GatewayOptions<CommandServices>, 'membership'>> & {
  membership?: Partial<Membership>;
};

/** Starts the bot in real time over a stand-in for Discord or a relay. */
export async function startGatewayBot(
  discord: Pick<Discord, 'token' | 'apiUrl'>,
  changed: ChangedOptions = {},
  overrides: Pick<AppOverrides, 'log' | 'services'> = {},
): Promise<GatewayBot> {
  await using stack = new AsyncDisposableStack();
  const { file, open } = stack.adopt(await takeStore(), (it) => it.giveBack());
  const { promise, resolve } = Promise.withResolvers<GatewayBot['gateway']>();
  const app = await startApp(configOf(discord, file), {
    log: testLog(),
    database: await open(),
    // The shortest waits before retries.
    random: () => 0,
    connect(options) {
      const gateway = startGateway({
        ...options,
        ...changed,
        membership: { ...options.membership, ...changed.membership },
      });
      resolve(gateway);
      return gateway;
    },
    ...overrides,
  });
  stack.defer(() => app.close());
  const gateway = await promise;
  const ends = stack.move();
  return { app, gateway, close: () => ends.disposeAsync() };
}
