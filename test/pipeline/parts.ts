import { type Discord, type ManualClock, seed } from '../../sandbox/discord/index.ts';
import type { App } from '../../src/app.ts';
import { createSender } from '../../src/discord/sender.ts';
import type { Clock } from '../../src/domain/clock.ts';
import type { Story } from '../../src/domain/history.ts';
import type { Backlog } from '../../src/domain/overview.ts';
import type { RetentionCursor } from '../../src/domain/retention.ts';
import type { Sender } from '../../src/domain/send-outcome.ts';
import type { Store } from '../../src/store/store.ts';
import { neverHappened, until } from '../until.ts';
import type { Pipeline } from './harness.ts';

/** The parts of a pipeline, each with its own state. */

const HOUR = 3_600_000;

/** The machine's clock, which may be set wrong. */
export interface Machine extends Clock {
  jump(ms: number): void;
}

export function createMachine(clock: ManualClock): Machine {
  let wrong = 0;
  return {
    now: () => clock.now() + wrong,
    after: clock.after.bind(clock),
    jump(ms) {
      wrong += ms;
    },
  };
}

/** The way to Discord: patient, because any machine may be slow, but for channels about which it gives up soon. */
export function createConnection(discord: Discord) {
  const hurried = new Set<string>();
  const senderOf = (timeoutMs: number) => createSender({ token: discord.token, apiUrl: discord.apiUrl, timeoutMs });
  return {
    giveUpSoon(...channelIds: string[]): void {
      for (const id of channelIds) hurried.add(id);
    },
    sender(): Sender {
      const [patient, hasty] = [senderOf(120_000), senderOf(300)];
      const of = (channelId: string) => (hurried.has(channelId) ? hasty : patient);
      return {
        create: (channelId, ...rest) => of(channelId).create(channelId, ...rest),
        edit: (channelId, ...rest) => of(channelId).edit(channelId, ...rest),
        find: (channelId, ...rest) => of(channelId).find(channelId, ...rest),
        isMember: (guildId) => patient.isMember(guildId),
      };
    },
  };
}

/** The bot in this process, which can be started again over the same file. */
export interface Bot {
  readonly app: App;
  readonly store: Store;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export async function startBot(start: () => Promise<App>, clock: ManualClock): Promise<Bot> {
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

/** What is delivered to the bot, past HTTP, and what it has recorded about that. */
export function createTraffic(bot: Bot, machine: Machine): Pick<Pipeline, 'receive' | 'stories' | 'outcomes'> {
  /** The hashes of the transactions of all bodies. */
  const received = new Set<string>();

  async function stories(): Promise<Story[]> {
    const { history, projects } = bot.store;
    const scopes = await projects.scopes();
    const read = [...received].flatMap((txHash) =>
      [seed.harbor.id, seed.orchid.id].map((guildId) =>
        history.transfers(guildId, txHash, scopes.get(guildId) ?? null, machine.now(), 100),
      ),
    );
    return (await Promise.all(read)).flatMap(({ first }) => first);
  }

  return {
    async receive(event, answered = 0, scope = 0, identity = null) {
      const { intake } = bot.app.internals;
      const ticket = intake.admit(scope);
      if (typeof ticket === 'string') throw new Error(`The delivery was refused: ${ticket}.`);
      ticket.identity = identity;
      const text = typeof event === 'string' ? event : JSON.stringify(event);
      const [, txHash] = /"txHash":"(0x[0-9a-f]{64})"/.exec(text) ?? [];
      if (txHash) received.add(txHash);
      const result = await new Promise<string>((resolve) => {
        intake.store(ticket, Buffer.from(text), (stored) => {
          // The response is over before the router hears of the delivery, so the router never has to wait for it.
          intake.end(ticket, answered === null ? null : ticket.arrivedAt + answered);
          resolve(stored);
        });
      });
      if (result !== 'stored') throw new Error(`The delivery was refused: ${result}.`);
    },
    stories,
    outcomes: async () => (await stories()).flatMap(({ decisions }) => decisions.map(({ outcome }) => outcome)),
  };
}

type Turning = Pick<
  Pipeline,
  'backlog' | 'settled' | 'routed' | 'idle' | 'turnUntil' | 'turnUntilSettled' | 'pass' | 'forget'
>;

/** Waits for the bot's work, and turns the clock between. */
export function createTime(bot: Bot, clock: ManualClock, machine: Machine): Turning {
  async function backlog(): Promise<Backlog> {
    const read = await bot.store.metrics.backlog(machine.now());
    // Another thread read that: the one that writes answers in order, so its earlier answers come before this one.
    await bot.store.inbox.next(0);
    return read;
  }
  const routed = () => until('each delivery in the inbox is routed', async () => (await backlog()).inbox.waiting === 0);
  async function idle(): Promise<void> {
    await routed();
    await bot.app.internals.deliverer.idle();
  }

  async function settled(): Promise<boolean> {
    const { inbox, alerts, frozen } = await backlog();
    return inbox.waiting + alerts.due + alerts.held + alerts.closed + frozen === 0;
  }

  async function turnUntil(what: string, condition: () => boolean | Promise<boolean>, seconds = 3_600): Promise<void> {
    for (let left = seconds * 1_000; ; ) {
      if (await condition()) return;
      // Requests are real: they are answered before the clock goes on.
      await idle();
      if (await condition()) return;
      if (left <= 0) throw new Error(neverHappened(what, condition));
      left -= advance(left);
    }
  }

  /** Turns the clock to its next timer, but by `step` at least and `most` at most; returns by how much. */
  function advance(most: number, step = 1_000): number {
    const ms = Math.min(most, Math.max(step, clock.untilNext()));
    // Steps of hours are about spans of days: what happens every minute in them is left out.
    if (step >= HOUR) clock.leap(ms);
    else clock.advance(ms);
    return ms;
  }

  return {
    backlog,
    settled,
    routed,
    idle,
    turnUntil,
    turnUntilSettled: (seconds) => turnUntil('every alert is posted or given up', settled, seconds),
    async pass(ms, step = 1_000) {
      for (let left = ms; left > 0; ) {
        await idle();
        left -= advance(left, step);
      }
      await idle();
    },
    async forget(ms = 30 * 24 * HOUR) {
      let at: RetentionCursor | null = null;
      do at = await bot.store.retention.forget(machine.now() - ms, at);
      while (at);
    },
  };
}
