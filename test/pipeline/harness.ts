import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pino from 'pino';
import { type Discord, type DiscordOptions, ManualClock, seed, startDiscord } from '../../sandbox/discord/index.ts';
import { type DelivererOptions, startDeliverer } from '../../src/delivery/deliver.ts';
import { renderDigest } from '../../src/discord/digest.ts';
import { renderParked } from '../../src/discord/notice.ts';
import { renderAlerts, renderPlain } from '../../src/discord/render.ts';
import { createSender } from '../../src/discord/sender.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { steadyTime } from '../../src/domain/clock.ts';
import type { Backlog } from '../../src/domain/overview.ts';
import type { RetentionCursor } from '../../src/domain/retention.ts';
import type { Sender } from '../../src/domain/send-outcome.ts';
import type { NewSubscription } from '../../src/domain/subscription.ts';
import { startRouter } from '../../src/routing/route.ts';
import { createTokenCatalog } from '../../src/routing/token-catalog.ts';
import { openStore } from '../../src/store/sqlite/client.ts';
import type { Store } from '../../src/store/store.ts';
import type { Explorer } from '../../src/upstream/explorer.ts';
import { until } from '../until.ts';

export const TREASURY: AddressText = '0x1111111111111111111111111111111111111111';
export const ALICE: AddressText = '0x2222222222222222222222222222222222222222';
export const USDC: AddressText = '0x3333333333333333333333333333333333333333';
export const { alerts: ALERTS, whales: WHALES, general: GENERAL, id: HARBOR } = seed.harbor;

type Deliverer = ReturnType<typeof startDeliverer>;

/** The store, the router and the deliverer over a Discord stand-in, on one manual clock. */
export interface Pipeline {
  clock: ManualClock;
  /** Sets the machine's clock forward or back; its timers and Discord go on as they were. */
  jump(ms: number): void;
  /** From now on answers about these channels are waited for only shortly; about others as long as any machine takes. */
  giveUpSoon(...channelIds: string[]): void;
  discord: Discord;
  readonly store: Store;
  readonly deliverer: Deliverer;
  /** The database's file. */
  file: string;
  watch(address: AddressText, channelId: string, more?: Partial<NewSubscription>): Promise<number>;
  /** Stores a body as if it had been answered `answered` ms after it came (null: never). */
  receive(event: object | string, answered?: number | null, scope?: number): Promise<void>;
  /** Stores a payment of this many USDC from Alice to the treasury. */
  pay(units: number, change?: object, scope?: number): Promise<void>;
  /** The rows that a query gives, in a connection of its own. */
  rows<Row = Record<string, unknown>>(sql: string): Row[];
  /** The backlog, once whoever wrote it knows of it too. */
  backlog(): Promise<Backlog>;
  /** Whether every alert was posted or given up. */
  settled(): Promise<boolean>;
  /** Resolves once everything stored has been routed. */
  routed(): Promise<void>;
  /** Resolves once everything stored has been routed and no request is under way. */
  idle(): Promise<void>;
  /** Turns the clock second by second until the condition holds; at most `seconds`. */
  turnUntil(condition: () => boolean | Promise<boolean>, seconds?: number): Promise<void>;
  /** Turns the clock in steps; what is due is done after each. */
  pass(ms: number, step?: number): Promise<void>;
  /** Forgets what is older than this many milliseconds, 30 days by default. */
  forget(ms?: number): Promise<void>;
  /** Every alert that a channel shows. */
  lines(channelId: string): { title: string; text: string }[];
  /** The number in each title that has one: how much moved, or how many transfers a digest counts. */
  numbers(channelId: string): string[];
  restart(): Promise<void>;
  close(): Promise<void>;
}

const settings = { explorerUrl: 'https://explorer.example', nativeSymbol: undefined };

export interface PipelineOptions extends DiscordOptions {
  /** Stands between the deliverer and Discord. */
  sender?: (real: Sender) => Sender;
  /** Stands between the bot and its data. */
  store?: (real: Store) => Store;
  /** How the router looks tokens up. */
  lookUp?: Explorer['token'] | null;
  render?: DelivererOptions['render'];
  plain?: DelivererOptions['renderPlain'];
  digest?: DelivererOptions['renderDigest'];
}

export async function startPipeline({
  sender = (real) => real,
  store: wrap = (real) => real,
  lookUp = null,
  render = (alerts, reference, now) => renderAlerts(alerts, reference, settings, now),
  plain = renderPlain,
  digest = (alerts, reference, reason, now) => renderDigest(alerts, reference, settings, reason, now),
  ...options
}: PipelineOptions = {}): Promise<Pipeline> {
  const directory = mkdtempSync(join(tmpdir(), 'pipeline-'));
  const file = join(directory, 'test.sqlite');
  const clock = new ManualClock();
  let wrong = 0;
  const machine = { now: () => clock.now() + wrong, after: clock.after.bind(clock) };
  const arrivals = steadyTime(machine.now, clock.now.bind(clock));
  const discord = await startDiscord({ clock, limits: 'none', ...options });
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const outcomes = new Map<number, number | null>();
  const hurried = new Set<string>();
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
    const store = wrap(opened.store);
    const deliverer = startDeliverer({
      store,
      sender: sender(connection()),
      clock: machine,
      log,
      random: () => 1,
      render,
      renderPlain: plain,
      renderParked,
      renderDigest: digest,
    });
    const router = startRouter({
      store,
      now: machine.now,
      log,
      ackedAt: (id) => outcomes.get(id) ?? null,
      catalog: lookUp && createTokenCatalog({ lookUp, clock }),
      nativeSymbol: undefined,
      onAlerts: deliverer.alertsStored,
      onRouted: () => undefined,
    });
    await deliverer.loaded;
    return { ...opened, store, deliverer, router };
  };
  let running = await start();
  const stop = async () => {
    await running.router.close();
    const closed = running.deliverer.close();
    clock.advance(6_000);
    await closed;
    await running.close();
  };

  const backlog = async () => {
    const read = await running.store.metrics.backlog(machine.now());
    // Another thread read that: the one that writes answers in order, so its earlier answers come before this one.
    await running.store.inbox.next(0);
    return read;
  };
  const routed = () => until(async () => (await backlog()).inbox.waiting === 0);
  const idle = async () => {
    await routed();
    await running.deliverer.idle();
  };

  const receive: Pipeline['receive'] = async (event, answered = 0, scope = 0) => {
    const body = Buffer.from(typeof event === 'string' ? event : JSON.stringify(event));
    const receivedAt = arrivals();
    const [id] = await running.store.inbox.append([{ scope, receivedAt, body }]);
    outcomes.set(id!, answered === null ? null : receivedAt + answered);
    running.router.wake([{ id: id!, scope, receivedAt, body: body.toString() }]);
  };
  const lines: Pipeline['lines'] = (channelId) =>
    discord
      .messages(channelId)
      .flatMap(({ message }) =>
        message.embeds.map((embed) => ({ title: embed.title ?? '', text: JSON.stringify(embed) })),
      );

  return {
    clock,
    jump(ms) {
      wrong += ms;
    },
    giveUpSoon(...channelIds) {
      for (const id of channelIds) hurried.add(id);
    },
    discord,
    get store() {
      return running.store;
    },
    get deliverer() {
      return running.deliverer;
    },
    file,
    async watch(address, channelId, more = {}) {
      const added = await running.store.subscriptions.add(
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
    rows<Row>(sql: string) {
      const db = new Database(file);
      try {
        const statement = db.prepare<[], Row>(sql);
        if (statement.reader) return statement.all();
        statement.run();
        return [];
      } finally {
        db.close();
      }
    },
    backlog,
    async settled() {
      const { inbox, alerts, frozen } = await backlog();
      return inbox.waiting + alerts.due + alerts.held + alerts.closed + frozen === 0;
    },
    routed,
    idle,
    async turnUntil(condition, seconds = 3_600) {
      for (let second = 0; second <= seconds; second++) {
        if (await condition()) return;
        // Requests are real: they are answered before the clock goes on.
        await idle();
        if (await condition()) return;
        clock.advance(1_000);
      }
      throw new Error('The condition never held.');
    },
    async pass(ms, step = 1_000) {
      for (let left = ms; left > 0; left -= step) {
        await idle();
        clock.advance(Math.min(step, left));
      }
      await idle();
    },
    async forget(ms = 30 * 86_400_000) {
      let at: RetentionCursor | null = null;
      do at = await running.store.retention.forget(clock.now() - ms, at);
      while (at);
    },
    lines,
    numbers: (channelId) => lines(channelId).flatMap(({ title }) => /· ([\d,]+)/.exec(title)?.[1] ?? []),
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
