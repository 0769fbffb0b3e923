import { type Client, DiscordjsErrorCodes, Events, type Interaction } from 'discord.js';
import { type Clock, MINUTE } from '../domain/clock.ts';
import { installedHere } from './authority.ts';
import { type ConnectionOptions, makeClient, reasonOf } from './client.ts';
import type { Reply } from './command.ts';
import { createIdentifyQueue, type IdentifyLog } from './identify.ts';
import { createDispatcher, type DispatcherOptions } from './interactions.ts';
import { createMentions } from './mentions.ts';
import { registerCommands } from './register.ts';

/** `unauthorized`: Discord refuses the token. `away`: Discord cannot be reached; in both cases the bot tries again. */
export type GatewayState = 'connecting' | 'ready' | 'away' | 'unauthorized' | 'closed';

/** What the gateway needs, and its callbacks. */
export interface GatewayOptions<Services extends object>
  extends ConnectionOptions,
    Omit<DispatcherOptions<Services>, 'commands'> {
  token: string;
  /** Loads the commands; called when Discord is connected. */
  commands(): Promise<DispatcherOptions<Services>['commands']>;
  /** Somebody uses the bot in a guild that has its commands but not the bot as a member. */
  onGuildUsed(guildId: string): void;
  /** Discord accepted or refused the token. */
  onToken(accepted: boolean): void;
  /** When shards identified; several processes may share it. */
  identified: IdentifyLog;
  after: Clock['after'];
  /** From 0 to 1. */
  random(): number;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = MINUTE;
/** Retries with a refused token are rare: Discord bans IP addresses that send many invalid requests. */
const UNAUTHORIZED_WAIT_MS = 5 * MINUTE;

/** Connects to Discord and reconnects for as long as it runs. Faults are logged and never end the process. */
export function startGateway<Services extends object>(options: GatewayOptions<Services>) {
  const { log, random } = options;
  const closing = new AbortController();
  const identify = createIdentifyQueue(options.identified, options);
  /** The state of all shards together; while it is `ready`, each shard has its own state. */
  let overall: GatewayState = 'connecting';
  /** Whether each shard is connected. */
  const shards = new Map<number, boolean>();
  let client: Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  /** Nothing is linked until Discord has sent the commands' IDs. */
  let link = (reply: Reply): Reply => reply;

  let loading: ReturnType<typeof load> | undefined;
  const load = async () => {
    const commands = await options.commands();
    return { commands, dispatch: createDispatcher({ ...options, commands, link: (reply) => link(reply) }) };
  };
  /** The commands, loaded when they are first needed: nobody can use them before the bot is connected. */
  const served = () => (loading ??= load());
  const answer = async (interaction: Interaction) => {
    if (interaction.inRawGuild() && installedHere(interaction)) options.onGuildUsed(interaction.guildId);
    // If they cannot be loaded, `keepRegistering` logs it at each attempt.
    const loaded = await served().catch(() => null);
    await loaded?.dispatch(interaction);
  };

  function connect(): void {
    const current = makeClient(options, identify);
    current.on(Events.InteractionCreate, (interaction) => void answer(interaction));
    client = current;
    let over = false;
    const retry = (error: unknown) => {
      if (over || closing.signal.aborted) return;
      over = true;
      current.removeAllListeners();
      // A discarded client may still emit errors, and an error without a listener would end the process.
      current.on(Events.Error, () => {});
      current.destroy().catch(() => {});
      const state = isRefusal(error) ? 'unauthorized' : 'away';
      overall = state;
      for (const shard of shards.keys()) shards.set(shard, false);
      if (state === 'unauthorized') options.onToken(false);
      const wait = state === 'unauthorized' ? UNAUTHORIZED_WAIT_MS : backOff(failures++, random());
      const refused = 'Discord refuses the token; set the right DISCORD_TOKEN and restart';
      log.error(
        { reason: reasonOf(error), state, waitMs: wait },
        state === 'unauthorized' ? refused : 'no connection to Discord',
      );
      timer = setTimeout(connect, wait);
    };
    const online = (shard: number) => {
      failures = 0;
      log.debug({ shard }, 'shard connected');
      shards.set(shard, true);
      options.onToken(true);
    };
    current.on(Events.ClientReady, (ready) => {
      const { shards: connected } = ready.ws;
      // The previous client may have used more shards.
      for (const shard of shards.keys()) if (!connected.has(shard)) shards.delete(shard);
      overall = 'ready';
      log.info({ guilds: ready.guilds.cache.size, shards: connected.size }, 'connected to Discord');
      void keepRegistering(ready);
    });
    current.on(Events.ShardResume, online);
    // For a new session after the first one, the library emits only this event.
    current.on(Events.ShardReady, online);
    current.on(Events.ShardReconnecting, (shard) => {
      if (closing.signal.aborted) return;
      if (shards.get(shard)) log.warn({ shard }, 'connection to Discord lost');
      shards.set(shard, false);
    });
    current.on(Events.ShardDisconnect, ({ code }) => retry(new GatewayClosed(code)));
    current.login(options.token).catch(retry);
  }

  /** Discord may be busy just after a start: registration is tried again for as long as this client is in use. */
  async function keepRegistering(ready: Client<true>, attempt = 0): Promise<void> {
    if (client !== ready || closing.signal.aborted) return;
    try {
      const { commands } = await served();
      const outcome = await registerCommands(ready.rest, ready.application.id, commands, (registered) => {
        link = createMentions(registered);
      });
      log.info({ outcome, commands: commands.length }, 'commands registered');
    } catch (error) {
      if (client !== ready || closing.signal.aborted) return;
      log.error({ reason: reasonOf(error) }, 'cannot register commands');
      setTimeout(() => void keepRegistering(ready, attempt + 1), backOff(attempt + 2, random())).unref();
    }
  }

  connect();

  return {
    /** `ready` only while every shard is connected. */
    state: (): GatewayState => (overall === 'ready' && [...shards.values()].includes(false) ? 'away' : overall),
    /** Whether each shard is connected, by its number; empty before the first connection. */
    shards: (): ReadonlyMap<number, boolean> => shards,
    async close(): Promise<void> {
      closing.abort();
      clearTimeout(timer);
      overall = 'closed';
      await client?.destroy().catch(() => {});
    },
  };
}

/** The gateway closed with a code after which the library does not reconnect. */
class GatewayClosed extends Error {
  readonly code: number;
  constructor(code: number) {
    super(`The gateway closed with code ${code}.`);
    this.code = code;
  }
}

const AUTHENTICATION_FAILED = 4004;

function isRefusal(error: unknown): boolean {
  const { code, status, message } = (error ?? {}) as { code?: unknown; status?: unknown; message?: unknown };
  return (
    code === DiscordjsErrorCodes.TokenInvalid ||
    code === AUTHENTICATION_FAILED ||
    status === 401 ||
    message === 'Authentication failed'
  );
}

/** Doubling with jitter between half and whole. */
function backOff(failures: number, random: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10)) * (0.5 + random / 2);
}
