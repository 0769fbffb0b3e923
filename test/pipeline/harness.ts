import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createManualClock,
  type Discord,
  type DiscordOptions,
  type ManualClock,
  seed,
  startDiscord,
} from '../../sandbox/discord/index.ts';
import { type App, type AppOverrides, startApp } from '../../src/app.ts';
import { createSender } from '../../src/discord/sender.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { Story } from '../../src/domain/history.ts';
import type { DeliveryIdentity } from '../../src/domain/inbox.ts';
import type { Backlog } from '../../src/domain/overview.ts';
import type { RetentionCursor } from '../../src/domain/retention.ts';
import type { Sender } from '../../src/domain/send-outcome.ts';
import type { NewSubscription } from '../../src/domain/subscription.ts';
import { openStore } from '../../src/store/sqlite/client.ts';
import type { Store } from '../../src/store/store.ts';
import { configOf, noGateway, testLog } from '../app.ts';
import { shownIn } from '../discord/shown.ts';
import { until } from '../until.ts';

export const TREASURY: AddressText = '0x1111111111111111111111111111111111111111';
export const ALICE: AddressText = '0x2222222222222222222222222222222222222222';
export const USDC: AddressText = '0x3333333333333333333333333333333333333333';
export const { alerts: ALERTS, whales: WHALES, general: GENERAL, id: HARBOR } = seed.harbor;

/** The bot over a Discord stand-in, on one manual clock; what is delivered reaches it past HTTP. */
export interface Pipeline {
  readonly app: App;
  clock: ManualClock;
  /** Sets the machine's clock forward or back; its timers and Discord go on as they were. */
  jump(ms: number): void;
  /** From now on answers about these channels are waited for only shortly; about others as long as any machine takes. */
  giveUpSoon(...channelIds: string[]): void;
  discord: Discord;
  readonly store: Store;
  readonly deliverer: App['internals']['deliverer'];
  /** The database's file. */
  file: string;
  watch(address: AddressText, channelId: string, more?: Partial<NewSubscription>): Promise<number>;
  /** Stores a body as if it had been answered `answered` ms after it came (null: never). */
  receive(
    event: object | string,
    answered?: number | null,
    scope?: number,
    identity?: DeliveryIdentity | null,
  ): Promise<void>;
  /** Stores a payment of this many USDC from Alice to the treasury. */
  pay(units: number, change?: object, scope?: number): Promise<void>;
  /** What is recorded of each received transaction's transfers in every guild, as `/why` reads it; oldest first. */
  stories(): Promise<Story[]>;
  /** The outcome of each decision about what was received: `matched`, or what hid it. */
  outcomes(): Promise<string[]>;
  /** The backlog, once whoever wrote it knows of it too. */
  backlog(): Promise<Backlog>;
  /** Whether every alert was posted or given up. */
  settled(): Promise<boolean>;
  /** Resolves once everything stored has been routed. */
  routed(): Promise<void>;
  /** Resolves once everything stored has been routed and no request is under way. */
  idle(): Promise<void>;
  /** Turns the clock from timer to timer until the condition holds; at most `seconds`. */
  turnUntil(condition: () => boolean | Promise<boolean>, seconds?: number): Promise<void>;
  /** Turns the clock from timer to timer, by `step` at least; what is due is done after each. */
  pass(ms: number, step?: number): Promise<void>;
  /** Forgets what is older than this many milliseconds, 30 days by default. */
  forget(ms?: number): Promise<void>;
  /** Every alert that a channel shows. */
  alerts(channelId: string): { title: string; text: string }[];
  /** The number in each title that has one: how much moved, or how many transfers a digest counts. */
  numbers(channelId: string): string[];
  restart(): Promise<void>;
  close(): Promise<void>;
}

export interface PipelineOptions
  extends DiscordOptions,
    Pick<AppOverrides, 'renderers' | 'services' | 'connect' | 'log'> {
  /** Stands between the deliverer and Discord. */
  sender?: (real: Sender) => Sender;
  /** Stands between the bot and its data. */
  store?: (real: Store) => Store;
  /** What differs from the usual environment. */
  environment?: Record<string, string>;
}

export async function startPipeline({
  sender = (real) => real,
  store: wrap = (real) => real,
  environment = {},
  connect = noGateway,
  log = testLog(),
  renderers,
  services,
  ...options
}: PipelineOptions = {}): Promise<Pipeline> {
  const directory = mkdtempSync(join(tmpdir(), 'pipeline-'));
  const file = join(directory, 'test.sqlite');
  const clock = createManualClock();
  let wrong = 0;
  const machine = { now: () => clock.now() + wrong, after: clock.after.bind(clock) };
  const discord = await startDiscord({ clock, limits: 'none', ...options });
  const hurried = new Set<string>();
  /** The hashes of the transactions of all bodies. */
  const received = new Set<string>();
  const connection = (): Sender => {
    const senderOf = (timeoutMs: number) => createSender({ token: discord.token, apiUrl: discord.apiUrl, timeoutMs });
    const [patient, hasty] = [senderOf(120_000), senderOf(300)];
    const of = (channelId: string) => (hurried.has(channelId) ? hasty : patient);
    return {
      create: (channelId, ...rest) => of(channelId).create(channelId, ...rest),
      edit: (channelId, ...rest) => of(channelId).edit(channelId, ...rest),
      find: (channelId, ...rest) => of(channelId).find(channelId, ...rest),
      isMember: (guildId) => patient.isMember(guildId),
    };
  };

  const start = async () => {
    const opened = await openStore(file);
    const app = await startApp(configOf(discord, file, environment), {
      database: { ...opened, store: wrap(opened.store) },
      clock: machine,
      elapsed: clock.now.bind(clock),
      random: () => 1,
      sender: sender(connection()),
      log,
      connect,
      ...(renderers && { renderers }),
      ...(services && { services }),
    });
    await app.internals.deliverer.loaded;
    return app;
  };
  let running = await start();
  const stop = async () => {
    const sent = running.internals.deliverer.close();
    clock.advance(6_000);
    await sent;
    await running.close();
  };

  const backlog = async () => {
    const read = await running.internals.store.metrics.backlog(machine.now());
    // Another thread read that: the one that writes answers in order, so its earlier answers come before this one.
    await running.internals.store.inbox.next(0);
    return read;
  };
  const routed = () => until(async () => (await backlog()).inbox.waiting === 0);
  const idle = async () => {
    await routed();
    await running.internals.deliverer.idle();
  };

  /** Turns the clock to its next timer, but by `step` at least and `most` at most; returns by how much. */
  const advance = (most: number, step = 1_000): number => {
    const ms = Math.min(most, Math.max(step, clock.untilNext()));
    // Steps of hours are about spans of days: what happens every minute in them is left out.
    if (step >= 3_600_000) clock.leap(ms);
    else clock.advance(ms);
    return ms;
  };

  const receive: Pipeline['receive'] = async (event, answered = 0, scope = 0, identity = null) => {
    const { intake } = running.internals;
    const ticket = intake.admit(scope);
    if (typeof ticket === 'string') throw new Error(`The delivery was refused: ${ticket}.`);
    ticket.identity = identity;
    const text = typeof event === 'string' ? event : JSON.stringify(event);
    const body = Buffer.from(text);
    const [txHash] = /0x[0-9a-f]{64}(?=")/.exec(/"txHash":"[^"]*"/.exec(text)?.[0] ?? '') ?? [];
    if (txHash) received.add(txHash);
    const result = await new Promise<string>((resolve) => {
      intake.store(ticket, body, (stored) => {
        // The response is over before the router hears of the delivery, so the router never has to wait for it.
        intake.end(ticket, answered === null ? null : ticket.arrivedAt + answered);
        resolve(stored);
      });
    });
    if (result !== 'stored') throw new Error(`The delivery was refused: ${result}.`);
  };
  const stories = async (): Promise<Story[]> => {
    const { history, projects } = running.internals.store;
    const scopes = await projects.scopes();
    const read = [...received].flatMap((txHash) =>
      [seed.harbor.id, seed.orchid.id].map((guildId) =>
        history.transfers(guildId, txHash, scopes.get(guildId) ?? null, machine.now(), 100),
      ),
    );
    return (await Promise.all(read)).flatMap(({ first }) => first);
  };
  const alerts: Pipeline['alerts'] = (channelId) =>
    discord.messages(channelId).flatMap(({ message }) => shownIn(message));

  return {
    clock,
    jump(ms) {
      wrong += ms;
    },
    giveUpSoon(...channelIds) {
      for (const id of channelIds) hurried.add(id);
    },
    discord,
    get app() {
      return running;
    },
    get store() {
      return running.internals.store;
    },
    get deliverer() {
      return running.internals.deliverer;
    },
    file,
    async watch(address, channelId, more = {}) {
      const added = await running.internals.store.subscriptions.add(
        {
          guildId: HARBOR,
          channelId,
          address,
          createdBy: seed.ada,
          createdAt: clock.now(),
          ...more,
        },
        1_000,
      );
      if (added.status !== 'added') throw new Error(added.status);
      return added.subscription.id;
    },
    receive,
    pay: (units, change = {}, scope = 0) => receive(payment({ value: String(units * 1_000_000), ...change }), 0, scope),
    stories,
    outcomes: async () => (await stories()).flatMap(({ decisions }) => decisions.map(({ outcome }) => outcome)),
    backlog,
    async settled() {
      const { inbox, alerts, frozen } = await backlog();
      return inbox.waiting + alerts.due + alerts.held + alerts.closed + frozen === 0;
    },
    routed,
    idle,
    async turnUntil(condition, seconds = 3_600) {
      for (let left = seconds * 1_000; ; ) {
        if (await condition()) return;
        // Requests are real: they are answered before the clock goes on.
        await idle();
        if (await condition()) return;
        if (left <= 0) throw new Error(`This never came to hold: ${condition.toString()}`);
        left -= advance(left);
      }
    },
    async pass(ms, step = 1_000) {
      for (let left = ms; left > 0; ) {
        await idle();
        left -= advance(left, step);
      }
      await idle();
    },
    async forget(ms = 30 * 86_400_000) {
      let at: RetentionCursor | null = null;
      do at = await running.internals.store.retention.forget(machine.now() - ms, at);
      while (at);
    },
    alerts,
    numbers: (channelId) =>
      alerts(channelId).flatMap(({ title }) => /(?:· |[+−]|→ \S+ )([\d,]+)/.exec(title)?.[1] ?? []),
    async restart() {
      await stop();
      running = await start();
    },
    async close() {
      await stop();
      await discord.close();
      rmSync(directory, { recursive: true });
    },
  };
}

let serial = 0;

/** A payment of 5 USDC from Alice to the treasury, in a transaction of its own. */
export function payment(change: object = {}): Record<string, unknown> {
  serial++;
  return {
    from: ALICE,
    to: TREASURY,
    txHash: `0x${serial.toString(16).padStart(64, '0')}`,
    blockNumber: 100 + serial,
    blockHash: `0x${'b'.repeat(64)}`,
    tokenType: 'ERC-20',
    tokenAddress: USDC,
    tokenName: 'USD Coin',
    tokenSymbol: 'USDC',
    tokenDecimals: '6',
    value: '5000000',
    direction: 'incoming',
    addressType: 'Wallet',
    projectId: 'p',
    gasFee: '21000000000000',
    ...change,
  };
}
