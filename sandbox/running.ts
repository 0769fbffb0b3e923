/** The sandbox as the page sees it: one world that changes, and the actions that change it. */
import type { Services } from '../services/start.ts';
import { SECOND } from '../src/domain/clock.ts';
import { perform } from './actions.ts';
import { type Bot, superviseBot } from './bot.ts';
import { type Chain, startTraffic } from './chain/index.ts';
import type { Discord } from './discord/index.ts';
import type { PageAction, TrackedTransaction, WorldState } from './page/protocol.ts';
import { routedIn } from './routed.ts';
import { createTransactionTracker } from './transaction-tracker.ts';
import type { Webhook } from './webhook.ts';

const TRAFFIC_MS = 3 * SECOND;
const WATCHED_POLL_MS = 2 * SECOND;

/** A change outside Discord. */
export type SandboxEvent = { world: WorldState } | { transactions: TrackedTransaction[] };

/** A running sandbox. */
export interface Sandbox {
  readonly discord: Discord;
  readonly world: WorldState;
  readonly transactions: TrackedTransaction[];
  /** Performs an action of the page and returns a sentence about the result. @throws {@link CannotDo} */
  act(action: PageAction): Promise<string>;
  /** Calls the listener with each change outside Discord. Returns a function that stops that. */
  on(listener: (event: SandboxEvent) => void): () => void;
}

/** A sandbox whose bot is yet to be started. */
export interface RunningSandbox extends Sandbox {
  readonly bot: Bot;
  /** Stops the bot and everyday transfers. */
  close(): Promise<void>;
}

/**
 * Connects the parts, and prepares the bot.
 *
 * @param parts.environment the bot's environment.
 * @param parts.inspect whether a debugger can attach to the bot.
 * @param parts.onCrash called when the bot exits without being asked to.
 */
export function runSandbox(parts: {
  chain: Chain;
  discord: Discord;
  services: Services;
  webhook: Webhook;
  environment: Record<string, string>;
  inspect: boolean;
  onCrash: (bot: Bot) => void;
}): RunningSandbox {
  const { chain, discord, services, webhook, environment, inspect, onCrash } = parts;
  const notification = services.notification!;
  const listeners = new Set<(event: SandboxEvent) => void>();
  const report = (event: SandboxEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const reportWorld = (): void => report({ world: sandbox.world });
  const tracker = createTransactionTracker((changed) => report({ transactions: changed }));
  const bot = superviseBot({
    environment,
    inspect,
    onChange: reportWorld,
    onLine(line) {
      const routed = routedIn(line);
      if (routed) tracker.recordRouted(routed);
    },
    onCrash,
  });
  let watched: string[] = [];
  let stopTraffic: (() => Promise<void>) | undefined;

  const setTraffic = async (on: boolean): Promise<void> => {
    const stop = stopTraffic;
    if (on === (stop !== undefined)) return;
    stopTraffic = on ? startTraffic(chain, { everyMs: TRAFFIC_MS }) : undefined;
    await stop?.();
  };
  /** The bot changes the webhook's addresses, too, so they are polled. */
  const readWatched = async (): Promise<void> => {
    const addresses = await webhook.addresses().catch(() => watched);
    if (addresses.join() === watched.join()) return;
    watched = addresses;
    reportWorld();
  };
  const poll = setInterval(() => void readWatched(), WATCHED_POLL_MS);
  const stack = new DisposableStack();
  stack.defer(() => listeners.clear());
  stack.defer(() => tracker.close());
  stack.defer(() => clearInterval(poll));
  stack.defer(chain.onMined((mined) => tracker.recordMined(mined)));
  stack.defer(notification.onProgress((progress) => tracker.recordProgress(progress)));
  stack.defer(discord.on((event) => tracker.recordMessage(event, discord.botId)));

  const sandbox: RunningSandbox = {
    discord,
    bot,
    get transactions() {
      return tracker.list();
    },
    get world() {
      const { kind, notice, wallets, tokens } = chain;
      return {
        chain: { kind, notice },
        wallets: { ...wallets },
        tokens: { ...tokens },
        watched,
        notification: notification.faults(),
        bot: bot.state,
        traffic: stopTraffic !== undefined,
        explorerUrl: services.explorerUrl,
      };
    },
    async act(action) {
      try {
        return await perform({ chain, notification, webhook, bot, setTraffic }, action);
      } finally {
        await readWatched();
        reportWorld();
      }
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      await bot.stop();
      stack.dispose();
      await setTraffic(false);
    },
  };
  void readWatched();
  return sandbox;
}
