import { onTestFinished } from 'vitest';
import {
  createManualClock,
  type Discord,
  type DiscordOptions,
  type Fault,
  type ManualClock,
  seed,
  startDiscord,
} from '../../sandbox/discord/index.ts';
import type { AppOverrides } from '../../src/app/overrides.ts';
import { type App, startApp } from '../../src/app.ts';
import type { AddressText } from '../../src/domain/address.ts';
import type { TransferHistory } from '../../src/domain/history.ts';
import type { DeliveryIdentity } from '../../src/domain/inbox.ts';
import type { Backlog } from '../../src/domain/overview.ts';
import type { Sender } from '../../src/domain/send-outcome.ts';
import type { NewSubscription } from '../../src/domain/subscription.ts';
import type { OpenStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { configOf, noGateway, testLog } from '../app.ts';
import { shownIn } from '../discord/shown.ts';
import { takeStore } from '../store/sqlite/reused.ts';
import { createConnection } from './connection.ts';
import { createMachine } from './machine.ts';
import { startRestartable } from './restartable.ts';
import { createTime } from './time.ts';
import { createTraffic } from './traffic.ts';

export const TREASURY: AddressText = '0x1111111111111111111111111111111111111111';
export const ALICE: AddressText = '0x2222222222222222222222222222222222222222';
export const USDC: AddressText = '0x3333333333333333333333333333333333333333';
export const { alerts: ALERTS, whales: WHALES, general: GENERAL, id: HARBOR, watchers: ROLE } = seed.harbor;

/** The route of messages: they are posted there, and searched for. */
export const MESSAGES = '/channels/:channel/messages';
/** Discord's response to a message that it does not accept. */
export const REFUSED: Fault = { kind: 'error', status: 400, code: 50035, message: 'Invalid Form Body' };
/** Changes an event to one of another block. */
export const OTHER_BLOCK = { blockHash: `0x${'c'.repeat(64)}`, blockNumber: 777_777 };

/** The bot over a Discord stand-in, on one manual clock; what is delivered reaches it past HTTP. */
export interface Pipeline {
  readonly app: App;
  clock: ManualClock;
  /** Sets the machine's clock forward or back; its timers and Discord go on as they were. */
  jump(ms: number): void;
  /** From now on requests about these channels time out soon; those about others wait for as long as any machine takes. */
  giveUpSoon(...channelIds: string[]): void;
  discord: Discord;
  readonly store: Store;
  readonly deliverer: App['internals']['deliverer'];
  /** The database's file. */
  file: string;
  watch(address: AddressText, channelId: string, more?: Partial<NewSubscription>): Promise<number>;
  /** Stores a body whose 200 was written `answered` ms after it came (null: never). */
  receive(
    event: object | string,
    answered?: number | null,
    scope?: number,
    identity?: DeliveryIdentity | null,
  ): Promise<void>;
  /** Stores events in one commit, past the receiver: the router reads them together when it is woken next. */
  storeTogether(events: readonly object[]): Promise<void>;
  /** Stores a payment of this many USDC from Alice to the treasury. */
  pay(units: number, change?: object, scope?: number): Promise<void>;
  /** What is recorded about the transfers of each received transaction in every guild, as `/why` reads it; oldest first. */
  histories(): Promise<TransferHistory[]>;
  /** The outcome of each decision: `matched`, or the reason why the transfer is hidden. */
  outcomes(): Promise<string[]>;
  /** The backlog, once every earlier write was confirmed to the part that made it. */
  backlog(): Promise<Backlog>;
  /** Whether every alert was posted or became a dead letter. */
  settled(): Promise<boolean>;
  /** Resolves once everything stored has been routed. */
  routed(): Promise<void>;
  /** Resolves once everything stored has been routed and no request is under way. */
  idle(): Promise<void>;
  /** Turns the clock from timer to timer until the condition holds, at most `seconds`. An error names `what` was waited for. */
  turnUntil(what: string, condition: () => boolean | Promise<boolean>, seconds?: number): Promise<void>;
  /** Turns the clock until every alert was posted or became a dead letter. */
  turnUntilSettled(seconds?: number): Promise<void>;
  /** Turns the clock from timer to timer, by `step` at least; what is due is done after each. */
  pass(ms: number, step?: number): Promise<void>;
  /** Deletes what is older than this many milliseconds, 30 days by default. */
  prune(ms?: number): Promise<void>;
  /** Every alert that a channel shows. */
  alerts(channelId: string): { title: string; text: string }[];
  /** The number in each title that has one: how much moved, or how many transfers a digest counts. */
  numbers(channelId: string): string[];
  /** Starts the bot again over the same file, with what differs from the last start. */
  restart(changed?: Restart): Promise<void>;
  close(): Promise<void>;
}

export interface PipelineOptions
  extends DiscordOptions,
    Pick<AppOverrides, 'renderers' | 'services' | 'connect' | 'log' | 'elapsed' | 'upstreamTimeoutMs'> {
  /** Stands between the deliverer and Discord. */
  sender?: (real: Sender) => Sender;
  /** Opens the data, again after each restart; by default an SQLite file. */
  openStore?: () => Promise<OpenStore>;
  /** Stands between the bot and its data. */
  store?: (real: Store) => Store;
  /** What differs from the usual environment. */
  environment?: Record<string, string>;
}

/** What a restart may change. */
export type Restart = Pick<PipelineOptions, 'environment' | 'upstreamTimeoutMs'>;

/** The bot over a stand-in for Discord, until the test has finished. */
export async function startPipeline(options: PipelineOptions = {}): Promise<Pipeline> {
  const pipeline = await openPipeline(options);
  onTestFinished(pipeline.close);
  return pipeline;
}

/** The bot for several tests: `close` ends it. What was started ends in the opposite order, also when a start fails. */
export async function openPipeline({
  sender = (real) => real,
  store: wrap = (real) => real,
  environment,
  upstreamTimeoutMs,
  openStore: open,
  connect = noGateway,
  log = testLog(),
  renderers,
  services,
  elapsed,
  ...options
}: PipelineOptions = {}): Promise<Pipeline> {
  await using stack = new AsyncDisposableStack();
  const { file, open: openFile } = stack.adopt(await takeStore(), (it) => it.giveBack());
  const clock = createManualClock();
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
      database: { ...opened, store: wrap(opened.store) },
      clock: machine,
      elapsed: elapsed ?? clock.now.bind(clock),
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
  const alerts: Pipeline['alerts'] = (channelId) =>
    discord.messages(channelId).flatMap(({ message }) => shownIn(message));
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
      return bot.app.internals.deliverer;
    },
    file,
    async watch(address, channelId, more = {}) {
      const place = { guildId: HARBOR, channelId, address };
      const wanted = { ...place, createdBy: seed.ada, createdAt: clock.now(), ...more };
      const added = await bot.store.subscriptions.add(wanted, 1_000);
      if (added.status !== 'added') throw new Error(added.status);
      return added.subscription.id;
    },
    pay: (units, change = {}, scope = 0) =>
      traffic.receive(payment({ value: String(units * 1_000_000), ...change }), 0, scope),
    alerts,
    numbers: (channelId) =>
      alerts(channelId).flatMap(({ title }) => /(?:· |[+−]|→ \S+ )([\d,]+)/.exec(title)?.[1] ?? []),
    restart(changed = {}) {
      const { environment: variables, ...rest } = changed;
      Object.assign(next.environment, variables);
      Object.assign(next, rest);
      return bot.restart();
    },
    close: () => ends.disposeAsync(),
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
