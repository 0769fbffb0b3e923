import {
  ChannelType,
  Client,
  DiscordjsErrorCodes,
  Events,
  GatewayDispatchEvents,
  GatewayIntentBits,
  type GatewayReadyDispatchData,
  type Interaction,
  Options,
  SimpleShardingStrategy,
} from 'discord.js';
import type { Logger } from 'pino';
import type { Share } from '../store/channels.ts';
import { installedHere } from './authority.ts';
import type { Command, MessageCommand, Parts } from './command.ts';
import { fillGaps, handleEarly, type RawInteraction } from './gaps.ts';
import { createDispatcher } from './interactions.ts';
import { registerCommands } from './register.ts';
import { makeRequest } from './request.ts';

/** `unauthorized`: Discord refuses the token. `away`: Discord cannot be reached; it is tried again either way. */
export type GatewayState = 'connecting' | 'ready' | 'away' | 'unauthorized' | 'closed';

/** What the gateway needs, and whom it tells. */
export interface GatewayOptions {
  token: string;
  /** REST root without version. */
  apiUrl: string;
  /** Loads the commands; called when Discord is connected. */
  commands(): Promise<readonly (Command | MessageCommand)[]>;
  parts: Parts;
  log: Logger;
  /** Permissions may have changed: in one channel, or (null) anywhere in the guild. */
  onChannelChange(guildId: string, channelId: string | null): void;
  onChannelRemoved(guildId: string, channelId: string): void;
  /** The bot is no member any more; an outage of the guild does not count. */
  onGuildRemoved(guildId: string): void;
  /** With a new session: of its share of the guilds, the bot is a member of these and of no others. */
  onGuilds(guildIds: string[], share: Share): void;
  /** Somebody uses the bot in a guild where it has its commands and is no member. */
  onGuildUsed(guildId: string): void;
  /** Discord takes the token, or refuses it. */
  onToken(accepted: boolean): void;
  /** From 0 to 1. */
  random(): number;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;
/** A refused token is asked about rarely: Discord bans addresses that send many invalid requests. */
const UNAUTHORIZED_WAIT_MS = 5 * 60_000;
/** How long the first READY waits for the guilds that it announced. */
const GUILDS_MS = 2_000;

/** Connects to Discord and stays so; whatever goes wrong is logged and tried again, and never ends the process. */
export function startGateway(options: GatewayOptions) {
  const { log, parts, random } = options;
  const closing = new AbortController();
  let state: GatewayState = 'connecting';
  let client: Client | null = null;
  let timer: NodeJS.Timeout | undefined;
  let failures = 0;
  let sharding = false;

  let loading: ReturnType<typeof load> | undefined;
  const load = async () => {
    const commands = await options.commands();
    return { commands, dispatch: createDispatcher({ commands, parts, log }) };
  };
  /** What people use. It is loaded after the start: the library holds interactions back until it is connected. */
  const served = () => (loading ??= load());
  const answer = async (interaction: Interaction) => {
    if (interaction.inRawGuild() && installedHere(interaction)) options.onGuildUsed(interaction.guildId);
    // That nothing could be loaded is told, again and again, where it should be registered.
    const loaded = await served().catch(() => null);
    await loaded?.dispatch(interaction);
  };

  function connect(): void {
    const current = makeClient(options, sharding);
    current.on(Events.InteractionCreate, (interaction) => void answer(interaction));
    client = current;
    let over = false;
    const retry = (error: unknown) => {
      if (over || closing.signal.aborted) return;
      over = true;
      current.removeAllListeners();
      // A client that was given up may still emit; an error without a listener would end the process.
      current.on(Events.Error, () => {});
      current.destroy().catch(() => {});
      state = isRefusal(error) ? 'unauthorized' : 'away';
      sharding ||= needsSharding(error);
      if (state === 'unauthorized') options.onToken(false);
      const wait = state === 'unauthorized' ? UNAUTHORIZED_WAIT_MS : backOff(failures++, random());
      const refused = 'Discord refuses the token; set the right DISCORD_TOKEN and restart';
      log.error(
        { reason: reasonOf(error), state, waitMs: wait },
        state === 'unauthorized' ? refused : 'no connection to Discord',
      );
      timer = setTimeout(connect, wait);
    };
    const online = () => {
      failures = 0;
      state = 'ready';
      options.onToken(true);
    };
    current.on(Events.ClientReady, (ready) => {
      online();
      log.info({ guilds: ready.guilds.cache.size }, 'connected to Discord');
      void keepRegistering(ready);
    });
    current.on(Events.ShardResume, online);
    // After the first time a new session is told of so alone.
    current.on(Events.ShardReady, online);
    current.on(Events.ShardReconnecting, () => {
      if (closing.signal.aborted) return;
      if (state === 'ready') log.warn('connection to Discord lost');
      state = 'away';
    });
    current.on(Events.ShardDisconnect, ({ code }) => retry(new GatewayClosed(code)));
    current.login(options.token).catch(retry);
  }

  /** Discord may be busy just after a start: registration is tried again for as long as this client is in use. */
  async function keepRegistering(ready: Client<true>, attempt = 0): Promise<void> {
    if (client !== ready || closing.signal.aborted) return;
    try {
      const { commands } = await served();
      const outcome = await registerCommands(ready.rest, ready.application.id, commands);
      log.info({ outcome, commands: commands.length }, 'commands are registered');
    } catch (error) {
      if (client !== ready || closing.signal.aborted) return;
      log.error({ reason: reasonOf(error) }, 'commands could not be registered');
      setTimeout(() => void keepRegistering(ready, attempt + 1), backOff(attempt + 2, random())).unref();
    }
  }

  connect();

  return {
    state: (): GatewayState => state,
    /** The connected client, for reading what it knows of guilds; null before the first connection. */
    client: (): Client<true> | null => (client?.isReady() ? client : null),
    async close(): Promise<void> {
      closing.abort();
      clearTimeout(timer);
      state = 'closed';
      await client?.destroy().catch(() => {});
    },
  };
}

/**
 * A client that keeps guilds, channels, roles and itself in memory, and nothing else. It uses one connection, or, where
 * that is too few for Discord (above 2,500 servers), as many as Discord recommends.
 */
function makeClient(options: GatewayOptions, sharding: boolean): Client {
  const { log } = options;
  const client = new Client({
    intents: [GatewayIntentBits.Guilds],
    ...(sharding && { shards: 'auto' as const }),
    rest: { api: options.apiUrl, makeRequest },
    ws: { buildStrategy: (manager) => new Sharding(manager) },
    waitGuildTimeout: GUILDS_MS,
    allowedMentions: { parse: [] },
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      ApplicationCommandManager: 0,
      AutoModerationRuleManager: 0,
      BaseGuildEmojiManager: 0,
      DMMessageManager: 0,
      EntitlementManager: 0,
      GuildBanManager: 0,
      GuildEmojiManager: 0,
      GuildForumThreadManager: 1_000,
      GuildInviteManager: 0,
      GuildMemberManager: { maxSize: 0, keepOverLimit: (member) => member.id === member.client.user.id },
      GuildMessageManager: 0,
      GuildScheduledEventManager: 0,
      GuildStickerManager: 0,
      MessageManager: 0,
      PresenceManager: 0,
      ReactionManager: 0,
      ReactionUserManager: 0,
      StageInstanceManager: 0,
      ThreadMemberManager: 0,
      UserManager: { maxSize: 0, keepOverLimit: (user) => user.id === user.client.user?.id },
      VoiceStateManager: 0,
    }),
  });
  client.on(Events.Raw, ({ t, d }: { t: string; d: RawInteraction }) => {
    if (t !== GatewayDispatchEvents.InteractionCreate) return;
    fillGaps(d);
    if (client.application && !client.isReady()) handleEarly(client, d);
  });
  client.on(Events.Error, (error) => log.error({ reason: reasonOf(error) }, 'Discord client error'));
  client.on(Events.ShardError, (error) => log.warn({ reason: reasonOf(error) }, 'Discord connection error'));
  client.on(Events.Warn, (message) => log.warn({ message }, 'Discord client warning'));
  tellChanges(client, options);
  return client;
}

function tellChanges(client: Client, options: GatewayOptions): void {
  const { onChannelChange, onChannelRemoved, onGuildRemoved, onGuilds } = options;
  // The library keeps the guilds of the session before.
  client.on(Events.Raw, ({ t, d }: { t: string; d: GatewayReadyDispatchData }) => {
    if (t === GatewayDispatchEvents.Ready)
      onGuilds(
        d.guilds.map(({ id }) => id),
        d.shard ?? [0, 1],
      );
  });
  client.on(Events.ChannelUpdate, (_, channel) => {
    if (!channel.isDMBased()) onChannelChange(channel.guildId, channel.id);
  });
  client.on(Events.ThreadUpdate, (_, thread) => onChannelChange(thread.guildId, thread.id));
  // The bot is let into a private one; of other members it is not told.
  client.on(Events.ThreadCreate, (thread) => {
    if (thread.type === ChannelType.PrivateThread) onChannelChange(thread.guildId, thread.id);
  });
  client.on(Events.ThreadMembersUpdate, (_, __, thread) => onChannelChange(thread.guildId, thread.id));
  client.on(Events.ChannelDelete, (channel) => {
    if (!channel.isDMBased()) onChannelRemoved(channel.guildId, channel.id);
  });
  client.on(Events.ThreadDelete, (thread) => onChannelRemoved(thread.guildId, thread.id));
  client.on(Events.GuildRoleUpdate, (_, role) => onChannelChange(role.guild.id, null));
  client.on(Events.GuildMemberUpdate, (_, member) => {
    if (member.id === client.user?.id) onChannelChange(member.guild.id, null);
  });
  client.on(Events.GuildCreate, (guild) => onChannelChange(guild.id, null));
  client.on(Events.GuildDelete, (guild) => onGuildRemoved(guild.id));
}

/** The part of a `ws` connection that is needed to end it. */
interface Connection {
  on(event: 'error', listener: () => void): void;
  terminate(): void;
}

/** What the library keeps to itself of a connection to the gateway and of what lies behind it. */
interface Shard {
  connection: Connection | null;
  destroy(options?: { recover?: number }): Promise<void>;
}

/**
 * The library takes its listeners off a connection that it gives up, even while that is still being opened: it would
 * stay open for nobody, and when the network resets it, an error without a listener would end the process. Giving it up
 * also makes what waited for an answer give it up once more, to reconnect: the first would then wait for ever.
 */
class Sharding extends SimpleShardingStrategy {
  override async spawn(shardIds: number[]): Promise<void> {
    await super.spawn(shardIds);
    const { shards } = this as unknown as { shards: Map<number, Shard> };
    for (const shard of shards.values()) {
      const destroy = shard.destroy.bind(shard);
      let givenUp: Connection | null = null;
      shard.destroy = async (options) => {
        const { connection } = shard;
        if (connection && connection === givenUp && options?.recover !== undefined) return;
        givenUp = connection;
        connection?.on('error', () => {});
        await destroy(options).finally(() => connection?.terminate());
      };
    }
  }
}

/** The gateway closed with a code after which the library does not come back. */
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

const SHARDING_REQUIRED = 4011;

function needsSharding(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return code === SHARDING_REQUIRED || message === 'Sharding is required';
}

/** Words for the log, without the request: its headers hold the token. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: string | number };
  return `${error.name}${code === undefined ? '' : ` ${code}`}: ${error.message}`;
}

/** Doubling with jitter between half and whole. */
function backOff(failures: number, random: number): number {
  return Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(failures, 10)) * (0.5 + random / 2);
}
