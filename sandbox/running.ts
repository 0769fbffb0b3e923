/** The sandbox as the page sees it: one world that changes, and the actions that change it. */
import type { Services } from '../services/start.ts';
import { perform } from './acts.ts';
import type { Bot } from './bot.ts';
import { type Chain, startTraffic } from './chain/index.ts';
import type { Discord } from './discord/index.ts';
import { createJourneys } from './journeys.ts';
import type { Act, Journey, WorldState } from './page/protocol.ts';
import { routedIn } from './routed.ts';
import type { Webhook } from './webhook.ts';

const TRAFFIC_MS = 3_000;
const WATCHED_POLL_MS = 2_000;

/** What changed outside Discord. */
export type News = { world: WorldState } | { journeys: Journey[] };

/** A running sandbox. */
export interface Sandbox {
  readonly discord: Discord;
  readonly world: WorldState;
  readonly journeys: Journey[];
  /** Performs an action of the page and returns a sentence about the result. @throws {@link CannotDo} */
  act(act: Act): Promise<string>;
  /** Calls the listener with what changed outside Discord. Returns a function that stops that. */
  on(listener: (news: News) => void): () => void;
}

/** A sandbox whose bot is set once it can be started. */
export interface RunningSandbox extends Sandbox {
  bot: Bot | undefined;
  /** Reports the world to all listeners. */
  changed(): void;
  /** Takes a line of the bot's log. */
  logged(line: string): void;
  close(): Promise<void>;
}

/** Connects the parts. */
export function runSandbox(parts: {
  chain: Chain;
  discord: Discord;
  services: Services;
  webhook: Webhook;
}): RunningSandbox {
  const { chain, discord, services, webhook } = parts;
  const notification = services.notification!;
  const listeners = new Set<(news: News) => void>();
  const report = (news: News): void => {
    for (const listener of listeners) listener(news);
  };
  const journeys = createJourneys((changed) => report({ journeys: changed }));
  let watched: string[] = [];
  let stopTraffic: (() => Promise<void>) | undefined;

  const setTraffic = async (on: boolean): Promise<void> => {
    const stop = stopTraffic;
    if (on === (stop !== undefined)) return;
    stopTraffic = on ? startTraffic(chain, { everyMs: TRAFFIC_MS }) : undefined;
    await stop?.();
  };
  /** The bot changes the webhook's addresses, too, so they are read again and again. */
  const readWatched = async (): Promise<void> => {
    const addresses = await webhook.addresses().catch(() => watched);
    if (addresses.join() === watched.join()) return;
    watched = addresses;
    sandbox.changed();
  };
  const poll = setInterval(() => void readWatched(), WATCHED_POLL_MS);
  const stack = new DisposableStack();
  stack.defer(() => listeners.clear());
  stack.defer(() => journeys.close());
  stack.defer(() => clearInterval(poll));
  stack.defer(chain.onMined((mined) => journeys.mined(mined)));
  stack.defer(notification.onProgress((progress) => journeys.progress(progress)));
  stack.defer(discord.on((event) => journeys.discord(event, discord.botId)));

  const sandbox: RunningSandbox = {
    discord,
    bot: undefined,
    get journeys() {
      return journeys.list();
    },
    get world() {
      const { kind, notice, wallets, tokens } = chain;
      return {
        chain: { kind, notice },
        wallets: { ...wallets },
        tokens: { ...tokens },
        watched,
        notification: notification.faults(),
        bot: sandbox.bot?.state ?? { state: 'stopped', pid: null, starts: 0, since: Date.now(), note: null },
        traffic: stopTraffic !== undefined,
        explorerUrl: services.explorerUrl,
      };
    },
    async act(act) {
      try {
        return await perform({ chain, notification, webhook, bot: sandbox.bot!, setTraffic }, act);
      } finally {
        await readWatched();
        sandbox.changed();
      }
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    changed: () => report({ world: sandbox.world }),
    logged(line) {
      const routed = routedIn(line);
      if (routed) journeys.routed(routed);
    },
    async close() {
      stack.dispose();
      await setTraffic(false);
    },
  };
  void readWatched();
  return sandbox;
}
