/** A stand-in for Discord that an unmodified bot logs in to. Start it with {@link startDiscord}. */
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { MIB } from '../../src/domain/units.ts';
import { act } from './act.ts';
import type { Base } from './base.ts';
import { snowflakes, stoppable } from './clock.ts';
import { createCommands } from './commands.ts';
import type {
  ControlEvent,
  FaultRule,
  InteractionRequest,
  MessageState,
  RequestRecord,
  State,
  WorldAction,
  WorldResult,
} from './control.ts';
import { addControl } from './control-routes.ts';
import type { Core } from './core.ts';
import { createEvents } from './events.ts';
import { type ActiveFault, createFaults } from './faults.ts';
import { createFiles } from './files.ts';
import { createGateway } from './gateway.ts';
import type { SessionStarts } from './gateway-sessions.ts';
import { createInteractions, type Interaction } from './interactions.ts';
import { createLimits, type LimitTable } from './limits.ts';
import { createMessages } from './messages.ts';
import { prepare } from './person.ts';
import { createReplies } from './replies.ts';
import { createRequestLog } from './request-log.ts';
import { addRest } from './rest.ts';
import { seed, seedWorld } from './seed.ts';
import { wholeState } from './state.ts';
import { createWorld } from './world.ts';

export type { Clock } from '../../src/domain/clock.ts';
export { createManualClock, type ManualClock } from './clock.ts';
export type * from './control.ts';
export { NotPossible } from './errors.ts';
export { seed };

const MAX_BODY = 26 * MIB;

/** Everything has a default. */
export interface DiscordOptions {
  /** Default `127.0.0.1`. */
  host?: string;
  /** Default 0: any free port. */
  port?: number;
  /** The only bot token that is accepted. */
  token?: string;
  /** Default `discord`. A table overrides single limits of Discord's. */
  limits?: 'discord' | 'none' | Partial<LimitTable>;
  clock?: Clock;
  /** `empty` has only the bot. The default is the world of {@link seed}. */
  seed?: 'default' | 'empty';
  /** false accepts unchecked bodies, for measurements. Default true. */
  strict?: boolean;
  /** Whether the application has the privileged intents. Default false: they are refused with close code 4014. */
  privilegedIntents?: boolean;
  /** How many shards Discord recommends, and how they may identify. What is left out is not limited. */
  sessionStarts?: Partial<SessionStarts>;
  /** Returns the data that the bot gets instead of a gateway event's own, to test it with damaged events. */
  tamper?: (name: string, data: unknown) => unknown;
}

export interface Discord {
  readonly url: string;
  /** The bot's REST root: discord.js's `rest.api`. */
  readonly apiUrl: string;
  readonly token: string;
  readonly botId: string;
  readonly state: State;
  /** Oldest first, including ephemeral messages, without deleted ones. */
  messages(channelId: string): MessageState[];
  /** Every message with its versions, including deleted ones. */
  history(channelId?: string): MessageState[];
  requests(after?: number): RequestRecord[];
  /** Returns a function that stops the listener. */
  on(listener: (event: ControlEvent) => void): () => void;
  /**
   * Resolves with the next event that satisfies the condition. @throws after two minutes of real time, whatever the
   * clock.
   */
  next<E extends ControlEvent>(condition: (event: ControlEvent) => event is E): Promise<E>;
  next(condition: (event: ControlEvent) => boolean): Promise<ControlEvent>;
  /**
   * Checks the condition now and after each event. @throws an error that names `what`, after two minutes of real time.
   */
  until(what: string, condition: (discord: Discord) => boolean): Promise<void>;
  /** Resolves once the bot has acknowledged the action or failed to. @throws {@link NotPossible} */
  use(request: InteractionRequest): Promise<Interaction>;
  /** Does not wait for the bot. @throws {@link NotPossible} */
  begin(request: InteractionRequest): Interaction;
  /** @throws {@link NotPossible} */
  act(action: WorldAction): WorldResult;
  fault(rule: FaultRule): ActiveFault;
  clearFaults(): void;
  close(): Promise<void>;
}

/** In the format of Discord's, but valid only here. */
function standInToken(botId: string): string {
  return [Buffer.from(botId).toString('base64url'), 'sandbx', 'stand-in'.padEnd(27, '-')].join('.');
}

function build(options: DiscordOptions, clock: Clock): Core {
  const world = createWorld({ id: seed.bot, username: 'Ledgerbell' });
  const events = createEvents(clock);
  const base: Base = {
    url: '',
    token: options.token ?? standInToken(world.botId),
    strict: options.strict ?? true,
    privilegedIntents: options.privilegedIntents ?? false,
    clock,
    nextId: snowflakes(clock),
    world,
    events,
  };
  const { tamper, sessionStarts: starts = {} } = options;
  const gateway = createGateway(base, { starts, tamper, down: (shard) => faults.isGatewayDown(shard) });
  const faults = createFaults(base, (shard) => gateway.drop(shard));
  const files = createFiles(base);
  const messages = createMessages(base, files, gateway);
  const interactions = createInteractions(base, gateway);
  if (options.seed !== 'empty') seedWorld(world, clock.now());
  return Object.assign(base, {
    messages,
    files,
    commands: createCommands(base),
    interactions,
    replies: createReplies(base, interactions, messages),
    gateway,
    faults,
    limits: createLimits(clock, options.limits ?? 'discord'),
    log: createRequestLog(base),
  });
}

/** @throws `EADDRINUSE` when the port is in use. */
export async function startDiscord(options: DiscordOptions = {}): Promise<Discord> {
  const clock = stoppable(options.clock ?? systemClock);
  const core = build(options, clock);
  const app = Fastify({ bodyLimit: MAX_BODY, forceCloseConnections: true, routerOptions: { maxParamLength: 1_000 } });
  addRest(app, core);
  addControl(app, core);
  app.server.on('upgrade', (request, socket, head) => core.gateway.upgrade(request, socket, head));
  await app.listen({ host: options.host ?? '127.0.0.1', port: options.port ?? 0 });
  const { address, family, port } = app.server.address() as AddressInfo;
  core.url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  return handle(core, async () => {
    clock.stop();
    core.events.close();
    core.gateway.close();
    await app.close();
  });
}

function handle(core: Core, close: () => Promise<void>): Discord {
  const begin = (request: InteractionRequest): Interaction => core.interactions.begin(request, prepare(core, request));
  const discord: Discord = {
    url: core.url,
    apiUrl: `${core.url}/api`,
    token: core.token,
    botId: core.world.botId,
    get state() {
      return wholeState(core);
    },
    messages: (channelId) => core.messages.in(channelId),
    history: (channelId) => core.messages.all(channelId),
    requests: (after) => core.log.list(after),
    on: (listener) => core.events.on(listener),
    next: (condition: (event: ControlEvent) => boolean) =>
      core.events.until<never>(
        (event) => (event && condition(event) ? (event as never) : undefined),
        () => `an event. The condition: ${condition.toString()}`,
      ),
    async until(what, condition) {
      const isSo = (): true | undefined => condition(discord) || undefined;
      await core.events.until(isSo, () => `${what}. The condition: ${condition.toString()}`);
    },
    use: async (request) => {
      const interaction = begin(request);
      await interaction.acknowledged();
      return interaction;
    },
    begin,
    act: (action) => act(core, action),
    fault: (rule) => core.faults.add(rule),
    clearFaults: () => core.faults.clear(),
    close,
  };
  return discord;
}
