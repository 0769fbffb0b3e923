import type { Services } from '../services/start.ts';
import { SECOND } from '../src/domain/clock.ts';
import { CannotDo, perform } from './actions.ts';
import { type Bot, superviseBot } from './bot.ts';
import { type Chain, startTraffic } from './chain/index.ts';
import type { Discord } from './discord/index.ts';
import type { NetworkState, PageAction, PageEvent, TrackedTransaction, WorldState } from './page/protocol.ts';
import type { PriceSource } from './prices.ts';
import { comparedIn, routedIn } from './routed.ts';
import { createTransactionTracker } from './transaction-tracker.ts';
import type { Webhook } from './webhook.ts';

const TRAFFIC_MS = 3 * SECOND;
const WATCHED_POLL_MS = 2 * SECOND;

type SandboxEvent = Exclude<PageEvent, { type: 'hello' | 'discord' }>;

export interface Sandbox {
  readonly discord: Discord;
  readonly world: WorldState;
  readonly transactions: TrackedTransaction[];
  /** Returns a sentence about the result. @throws {@link CannotDo} */
  act(action: PageAction, network?: number): Promise<string>;
  on(listener: (event: SandboxEvent) => void): () => void;
}

export interface SandboxNetwork {
  title: string;
  chain: Chain;
  services: Services;
  webhook: Webhook;
}

/** Its bot is yet to be started. */
export interface RunningSandbox extends Sandbox {
  readonly bot: Bot;
  close(): Promise<void>;
}

/**
 * Connects the parts, and prepares the bot.
 *
 * @param options.environment read at each start of the bot.
 * @param options.startSecond from then on `environment` describes both networks.
 */
export function runSandbox(options: {
  discord: Discord;
  first: SandboxNetwork;
  prices: PriceSource;
  startSecond: () => Promise<SandboxNetwork>;
  environment: () => Record<string, string>;
  inspect: boolean;
  onCrash: (bot: Bot) => void;
}): RunningSandbox {
  const { discord, first, prices, startSecond, environment, inspect, onCrash } = options;
  const { chain } = first;
  const listeners = new Set<(event: SandboxEvent) => void>();
  const networks: ReturnType<typeof follow>[] = [];
  let isStarting = false;
  const compared = { found: 0, marked: 0 };
  const bot = superviseBot({
    environment,
    inspect,
    onChange: reportWorld,
    onLine(line) {
      const routed = routedIn(line);
      const { found, marked } = comparedIn(line);
      compared.found += found;
      compared.marked += marked;
      if (found + marked > 0) reportWorld();
      if (routed) for (const { tracker } of networks) tracker.recordRouted(routed);
    },
    onCrash,
  });
  const stack = new DisposableStack();
  stack.defer(() => listeners.clear());
  networks.push(follow(first, 0));

  function follow(network: SandboxNetwork, index: number) {
    const { title, chain: own, services, webhook } = network;
    const notification = services.notification!;
    const traffic = createTraffic(own);
    const watched = createWatchedAddresses(webhook, reportWorld);
    const tracker = createTransactionTracker(index, (changed) =>
      report({ type: 'transactions', transactions: changed }),
    );
    stack.defer(() => tracker.close());
    stack.defer(() => watched.close());
    stack.defer(own.onMined((mined) => tracker.recordMined(mined)));
    stack.defer(notification.onProgress((progress) => tracker.recordProgress(progress)));
    stack.defer(discord.on((event) => tracker.recordMessage(event, discord.botId)));
    const state = (): NetworkState => ({
      title,
      watched: watched.list(),
      notification: notification.faults(),
      traffic: traffic.isOn(),
      explorerUrl: services.explorerUrl,
    });
    return { ...network, notification, traffic, watched, tracker, state };
  }

  async function second(): Promise<string> {
    if (isStarting || networks.length > 1) throw new CannotDo('The second network was started already.');
    isStarting = true;
    reportWorld();
    try {
      const started = await startSecond();
      await bot.stop();
      networks.push(follow(started, 1));
      bot.start();
      await discord.until('the bot is connected again', ({ state }) =>
        state.sessions.some((session) => session.connected),
      );
      return `${started.title} is running, with the same addresses. The bot runs with both networks.`;
    } finally {
      isStarting = false;
    }
  }

  function report(event: SandboxEvent): void {
    for (const listener of listeners) listener(event);
  }

  function reportWorld(): void {
    report({ type: 'world', world: world() });
  }

  function world(): WorldState {
    return {
      ...networks[0]!.state(),
      wallets: { ...chain.wallets },
      tokens: { ...chain.tokens },
      bot: bot.state,
      prices: prices.fault(),
      ...compared,
      second: networks[1]?.state() ?? (isStarting ? 'starting' : null),
    };
  }

  return {
    discord,
    bot,
    get transactions() {
      return networks.flatMap(({ tracker }) => tracker.list());
    },
    get world() {
      return world();
    },
    async act(action, index = 0) {
      const network = networks[index];
      if (!network) throw new CannotDo('There is no second network yet.');
      try {
        return await perform({ ...network, bot, prices, startSecond: second, setTraffic: network.traffic.set }, action);
      } finally {
        await network.watched.read();
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
      await Promise.all(networks.map(({ traffic }) => traffic.set(false)));
    },
  };
}

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
