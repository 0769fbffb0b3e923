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
 * @param options.environment the bot's environment.
 * @param options.inspect whether a debugger can attach to the bot.
 * @param options.onCrash called when the bot exits without being asked to.
 */
export function runSandbox(options: {
  chain: Chain;
  discord: Discord;
  services: Services;
  webhook: Webhook;
  environment: Record<string, string>;
  inspect: boolean;
  onCrash: (bot: Bot) => void;
}): RunningSandbox {
  const { chain, discord, services, webhook, environment, inspect, onCrash } = options;
  const notification = services.notification!;
  const listeners = new Set<(event: SandboxEvent) => void>();
  const traffic = createTraffic(chain);
  const watched = createWatchedAddresses(webhook, reportWorld);
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
  const stack = new DisposableStack();
  stack.defer(() => listeners.clear());
  stack.defer(() => tracker.close());
  stack.defer(() => watched.close());
  stack.defer(chain.onMined((mined) => tracker.recordMined(mined)));
  stack.defer(notification.onProgress((progress) => tracker.recordProgress(progress)));
  stack.defer(discord.on((event) => tracker.recordMessage(event, discord.botId)));

  function report(event: SandboxEvent): void {
    for (const listener of listeners) listener(event);
  }

  function reportWorld(): void {
    report({ world: world() });
  }

  function world(): WorldState {
    const { kind, notice, wallets, tokens } = chain;
    return {
      chain: { kind, notice },
      wallets: { ...wallets },
      tokens: { ...tokens },
      watched: watched.list(),
      notification: notification.faults(),
      bot: bot.state,
      traffic: traffic.isOn(),
      explorerUrl: services.explorerUrl,
    };
  }

  return {
    discord,
    bot,
    get transactions() {
      return tracker.list();
    },
    get world() {
      return world();
    },
    async act(action) {
      try {
        return await perform({ chain, notification, webhook, bot, setTraffic: traffic.set }, action);
      } finally {
        await watched.read();
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
      await traffic.set(false);
    },
  };
}

/** Creates the switch for everyday transfers. */
function createTraffic(chain: Chain) {
  let stop: (() => Promise<void>) | undefined;
  return {
    isOn: () => stop !== undefined,
    async set(on: boolean): Promise<void> {
      const stopNow = stop;
      if (on === (stopNow !== undefined)) return;
      stop = on ? startTraffic(chain, { everyMs: TRAFFIC_MS }) : undefined;
      await stopNow?.();
    },
  };
}

/** Polls the webhook's addresses, because the bot changes them, too. */
function createWatchedAddresses(webhook: Webhook, onChange: () => void) {
  let addresses: string[] = [];
  const poll = setInterval(() => void read(), WATCHED_POLL_MS);

  async function read(): Promise<void> {
    const current = await webhook.addresses().catch(() => addresses);
    if (current.join() === addresses.join()) return;
    addresses = current;
    onChange();
  }

  void read();
  return { list: () => addresses, read, close: () => clearInterval(poll) };
}
