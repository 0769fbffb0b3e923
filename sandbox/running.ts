/** The sandbox as the page sees it: one world that changes, and wishes that change it. */
import type { Services } from '../services/start.ts';
import { perform, type Stage } from './acts.ts';
import type { Bot } from './bot.ts';
import { type Chain, startTraffic } from './chain/index.ts';
import type { Discord } from './discord/index.ts';
import { Journeys } from './journeys.ts';
import type { Act, Journey, WorldState } from './page/protocol.ts';
import { watchRouting } from './routed.ts';
import type { Webhook } from './webhook.ts';

const TRAFFIC_MS = 3_000;
const WATCHED_POLL_MS = 2_000;

/** A running sandbox. */
export interface Sandbox {
  readonly discord: Discord;
  readonly chain: Chain;
  readonly world: WorldState;
  readonly journeys: Journey[];
  /** Does what the page asks for, and says what was done. Throws {@link CannotDo}. */
  act(act: Act): Promise<string>;
  /** Calls the listener with what changed outside Discord; gives back how to stop that. */
  on(listener: (news: { world: WorldState } | { journeys: Journey[] }) => void): () => void;
}

/** The parts together; `bot` is handed in once it can be made. */
export class RunningSandbox implements Sandbox {
  readonly discord: Discord;
  readonly chain: Chain;
  bot: Bot | undefined;
  readonly #services: Services;
  readonly #webhook: Webhook;
  readonly #listeners = new Set<Parameters<Sandbox['on']>[0]>();
  readonly #journeys = new Journeys((journeys) => this.#tell({ journeys }));
  readonly #stops: (() => void)[] = [];
  #watched: string[] = [];
  #stopTraffic: (() => Promise<void>) | undefined;

  /** `database`: the bot's file. */
  constructor(parts: { chain: Chain; discord: Discord; services: Services; webhook: Webhook; database: string }) {
    this.chain = parts.chain;
    this.discord = parts.discord;
    this.#services = parts.services;
    this.#webhook = parts.webhook;
    const poll = setInterval(() => void this.#readWatched(), WATCHED_POLL_MS);
    this.#stops.push(
      parts.chain.onMined((mined) => this.#journeys.mined(mined)),
      this.#notification.onProgress((progress) => this.#journeys.progress(progress)),
      parts.discord.on((event) => this.#journeys.discord(event, parts.discord.botId)),
      watchRouting(parts.database, (transfers) => this.#journeys.routed(transfers)),
      () => clearInterval(poll),
    );
    void this.#readWatched();
  }

  get journeys(): Journey[] {
    return this.#journeys.list();
  }

  get world(): WorldState {
    const { kind, notice, wallets, tokens } = this.chain;
    return {
      chain: { kind, notice },
      wallets: { ...wallets },
      tokens: { ...tokens },
      watched: this.#watched,
      notification: this.#notification.faults(),
      bot: this.bot?.state ?? { state: 'stopped', pid: null, starts: 0, since: Date.now(), note: null },
      traffic: this.#stopTraffic !== undefined,
      explorerUrl: this.#services.explorerUrl,
    };
  }

  async act(act: Act): Promise<string> {
    const stage: Stage = {
      chain: this.chain,
      notification: this.#notification,
      webhook: this.#webhook,
      bot: this.bot!,
      setTraffic: (on) => this.setTraffic(on),
    };
    try {
      return await perform(stage, act);
    } finally {
      await this.#readWatched();
      this.changed();
    }
  }

  on(listener: Parameters<Sandbox['on']>[0]): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  changed(): void {
    this.#tell({ world: this.world });
  }

  async setTraffic(on: boolean): Promise<void> {
    const stop = this.#stopTraffic;
    if (on === (stop !== undefined)) return;
    this.#stopTraffic = on ? startTraffic(this.chain, { everyMs: TRAFFIC_MS }) : undefined;
    await stop?.();
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#journeys.close();
    this.#listeners.clear();
    await this.setTraffic(false);
  }

  get #notification() {
    return this.#services.notification!;
  }

  /** The bot and the page both change the webhook's addresses, so they are asked for now and then. */
  async #readWatched(): Promise<void> {
    const watched = await this.#webhook.addresses().catch(() => this.#watched);
    if (watched.join() === this.#watched.join()) return;
    this.#watched = watched;
    this.changed();
  }

  #tell(news: { world: WorldState } | { journeys: Journey[] }): void {
    for (const listener of this.#listeners) listener(news);
  }
}
