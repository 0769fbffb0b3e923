import { expect, onTestFinished } from 'vitest';
import {
  createManualClock,
  type Discord,
  type DiscordOptions,
  type Fault,
  type ManualClock,
  seed,
  startDiscord,
} from '../../sandbox/discord/index.ts';
import type { AppOverrides } from '../../src/app/context.ts';
import { type App, startApp } from '../../src/app.ts';
import { createSender } from '../../src/discord/sender.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { Sender } from '../../src/domain/sender.ts';
import type { NewSubscription } from '../../src/domain/subscription.ts';
import type { OpenStore } from '../../src/store/open.ts';
import { configOf, noGateway, testLog } from '../app.ts';
import { shownIn } from '../discord/shown.ts';
import { type Replaced, replaceMethods } from '../store/replaced.ts';
import { takeStore } from '../store/sqlite/reused.ts';
import { createMachine, createTime } from './time.ts';
import { createTraffic } from './traffic.ts';

export const TREASURY: AddressText = '0x1111111111111111111111111111111111111111';
export const ALICE: AddressText = '0x2222222222222222222222222222222222222222';
export const USDC: AddressText = '0x3333333333333333333333333333333333333333';
export const { alerts: ALERTS, whales: WHALES, general: GENERAL, id: HARBOR, watchers: ROLE } = seed.harbor;

/** The route of messages: they are posted there, and searched for. */
export const MESSAGES = '/channels/:channel/messages';
/** Discord's response to a message that it does not accept. */
export const REFUSED: Fault = { kind: 'error', status: 400, code: 50035, message: 'Invalid Form Body' };
export const OTHER_BLOCK = { blockHash: `0x${'c'.repeat(64)}`, blockNumber: 777_777 };

export interface PipelineOptions
  extends DiscordOptions,
    Pick<AppOverrides, 'renderers' | 'services' | 'connect' | 'log' | 'upstreamTimeoutMs'> {
  startAt?: number;
  /** Stands between the deliverer and Discord. */
  sender?: (real: Sender) => Sender;
  /** Opens the data, again after each restart; by default an SQLite file. */
  openStore?: () => Promise<OpenStore>;
  /** Methods that stand between the bot and its data. */
  store?: Replaced;
  environment?: Record<string, string>;
}

export type Restart = Pick<PipelineOptions, 'environment' | 'upstreamTimeoutMs'>;

export async function startPipeline(options: PipelineOptions = {}): Promise<Pipeline> {
  const pipeline = await openPipeline(options);
  onTestFinished(pipeline.close);
  return pipeline;
}

/**
 * The bot over a Discord stand-in, on one manual clock, for several tests; what is delivered reaches it past HTTP. `close`
 * ends it. What was started ends in the opposite order, also when a start fails.
 */
export async function openPipeline({
  sender = (real) => real,
  store: replaced = () => ({}),
  environment,
  upstreamTimeoutMs,
  openStore: open,
  connect = noGateway,
  log = testLog(),
  renderers,
  services,
  startAt,
  ...options
}: PipelineOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const { file, open: openFile } = stack.adopt(await takeStore(), (it) => it.giveBack());
  const clock = createManualClock(startAt);
  const machine = createMachine(clock);
  const discord = stack.adopt(await startDiscord({ clock, limits: 'none', ...options }), (it) => it.close());
  const connection = createConnection(discord);
  const next: Required<Pick<Restart, 'environment'>> & Restart = {
    environment: { ...environment },
    ...(upstreamTimeoutMs !== undefined && { upstreamTimeoutMs }),
  };
  const start = async () => {
    const opened = await (open ?? openFile)();
    return startApp(configOf(discord, file, next.environment), {
      database: { ...opened, store: replaceMethods(opened.store, replaced) },
      clock: machine,
      random: () => 1,
      sender: sender(connection.sender()),
      log,
      connect,
      ...(renderers && { renderers }),
      ...(services && { services }),
      ...(next.upstreamTimeoutMs !== undefined && { upstreamTimeoutMs: next.upstreamTimeoutMs }),
    });
  };
  const bot = stack.adopt(await startRestartable(start, clock), (it) => it.stop());
  const traffic = createTraffic(bot, machine);
  const time = createTime(bot, clock, machine);
  /** Stores a payment of this many USDC from Alice to the treasury. */
  const pay = (units: number, change: object = {}, scope = 0) =>
    traffic.receive(payment({ value: String(units * 1_000_000), ...change }), scope);
  const alerts = (channelId: string) => discord.messages(channelId).flatMap(({ message }) => shownIn(message));
  const ends = stack.move();

  return {
    ...traffic,
    ...time,
    clock,
    jump: machine.jump,
    giveUpSoon: connection.giveUpSoon,
    discord,
    get app() {
      return bot.app;
    },
    get store() {
      return bot.store;
    },
    get deliverer() {
      return bot.app.internals.working().deliverer;
    },
    file,
    async watch(address: AddressText, channelId: string, more: Partial<NewSubscription> = {}): Promise<number> {
      const place = { guildId: HARBOR, channelId, address };
      const wanted = { ...place, createdBy: seed.ada, createdAt: clock.now(), ...more };
      const added = await bot.store.subscriptions.add(wanted, 1_000);
      if (added.status !== 'added') throw new Error(added.status);
      return added.subscription.id;
    },
    pay,
    /** Lets the bot post what a payment leads to. */
    async payAndWait(units: number, change: object = {}): Promise<void> {
      await pay(units, change);
      await time.idle();
    },
    alerts,
    /** The number in each title that has one: how much moved, or how many transfers a digest counts. */
    numbers: (channelId: string) =>
      alerts(channelId).flatMap(({ title }) => /(?:· |[+−]|→ \S+ )([\d,]+)/.exec(title)?.[1] ?? []),
    /** Turns the clock until a channel shows this many alerts. */
    untilShown: (channelId: string, count: number, seconds?: number): Promise<void> =>
      time.turnUntil(`a channel shows ${count} alerts`, () => alerts(channelId).length === count, seconds),
    /** Gives the bot its permissions in a channel back, and reports that as the gateway does. */
    reopen(channelId: string): Promise<void> {
      discord.act({ do: 'channel.allow', channelId });
      bot.app.internals.working().deliverer.guildChanged(HARBOR);
      return time.idle();
    },
    /** Replays the first dead letter. */
    async replay(): Promise<void> {
      const [letter] = await bot.store.deadLetters.list(1);
      expect(await bot.store.deadLetters.replay(letter!.id, machine.now()), 'the dead letter was there').toBe(true);
    },
    /** Starts the bot again over the same file, with what differs from the last start. */
    restart(changed: Restart = {}): Promise<void> {
      const { environment: variables, ...rest } = changed;
      Object.assign(next.environment, variables);
      Object.assign(next, rest);
      return bot.restart();
    },
    close: () => ends.disposeAsync(),
  };
}

export type Pipeline = Awaited<ReturnType<typeof openPipeline>>;

/** Stopping the bot turns the clock by the time that requests have to finish. */
async function startRestartable(start: () => Promise<App>, clock: ManualClock) {
  const begin = async (): Promise<App> => {
    const begun = await start();
    await begun.internals.working().deliverer.loaded;
    return begun;
  };
  const stop = async (): Promise<void> => {
    const sent = app.internals.working().deliverer.close();
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

export type RestartableApp = Awaited<ReturnType<typeof startRestartable>>;

/** Sends to Discord with a long timeout, because any machine may be slow, and with a short one for chosen channels. */
function createConnection(discord: Discord) {
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

let serial = 0;

/** Changes an event to one of the native coin. */
export const COIN = {
  tokenType: 'ETH',
  tokenAddress: null,
  tokenSymbol: null,
  tokenName: null,
  tokenDecimals: null,
};

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
