import {
  ApplicationCommandOptionType,
  ChannelType,
  Client,
  Events,
  GatewayDispatchEvents,
  GatewayIntentBits,
  type GatewayReadyDispatchData,
  Options,
  SimpleShardingStrategy,
} from 'discord.js';
import type { Logger } from 'pino';
import type { Shard } from '../domain/guild.ts';
import { reasonOf } from '../errors.ts';
import { makeRequest } from './sender.ts';

export interface Membership {
  /** Permissions may have changed: in this channel, or in any if none is named. */
  guildChanged(guildId: string, channelId?: string): void;
  /** An outage of the guild does not count. */
  guildRemoved(guildId: string): void;
  /** These are all guilds of the shard that the bot is in. */
  guildsSynced(guildIds: string[], shard: Shard): void;
}

export interface ClientOptions {
  apiUrl: string;
  log: Logger;
  membership: Membership;
}

const GUILDS_TIMEOUT_MS = 2_000;

/**
 * Keeps only guilds, channels, roles and its own user in memory. Uses as many shards as Discord recommends: one for up
 * to about 1,000 guilds.
 */
export function makeClient({ apiUrl, log, membership }: ClientOptions): Client {
  const client = new Client({
    intents: [GatewayIntentBits.Guilds],
    shards: 'auto',
    rest: { api: apiUrl, makeRequest },
    ws: { buildStrategy: (manager) => new Sharding(manager) },
    waitGuildTimeout: GUILDS_TIMEOUT_MS,
    allowedMentions: { parse: [] },
    // The other caches stay empty with this intent.
    makeCache: Options.cacheWithLimits({
      ...Options.DefaultMakeCacheSettings,
      BaseGuildEmojiManager: 0,
      GuildEmojiManager: 0,
      GuildForumThreadManager: 1_000,
      GuildMemberManager: { maxSize: 0, keepOverLimit: (member) => member.id === member.client.user.id },
      GuildMessageManager: 0,
      GuildScheduledEventManager: 0,
      GuildStickerManager: 0,
      MessageManager: 0,
      StageInstanceManager: 0,
      ThreadMemberManager: 0,
      UserManager: { maxSize: 0, keepOverLimit: (user) => user.id === user.client.user?.id },
      VoiceStateManager: 0,
    }),
  });
  client.on(Events.Raw, ({ t, d }: { t: string; d: RawInteraction & GatewayReadyDispatchData }) => {
    // The library keeps the previous session's guilds.
    if (t === GatewayDispatchEvents.Ready) {
      const ids = d.guilds.map(({ id }) => id);
      membership.guildsSynced(ids, d.shard ?? [0, 1]);
    }
    if (t !== GatewayDispatchEvents.InteractionCreate) return;
    addMissingFields(d);
    if (client.application && !client.isReady()) handleEarly(client, d);
  });
  client.on(Events.Error, (error) => log.error({ reason: reasonOf(error) }, 'Discord client error'));
  client.on(Events.ShardError, (error) => log.warn({ reason: reasonOf(error) }, 'Discord connection error'));
  client.on(Events.Warn, (message) => log.warn({ message }, 'Discord client warning'));
  reportChanges(client, membership);
  return client;
}

function reportChanges(client: Client, membership: Membership): void {
  client.on(Events.ChannelUpdate, (_, channel) => {
    if (!channel.isDMBased()) membership.guildChanged(channel.guildId, channel.id);
  });
  client.on(Events.ThreadUpdate, (_, thread) => membership.guildChanged(thread.guildId, thread.id));
  // The bot was added to a private thread. Discord reports no other members.
  client.on(Events.ThreadCreate, (thread) => {
    if (thread.type === ChannelType.PrivateThread) membership.guildChanged(thread.guildId, thread.id);
  });
  client.on(Events.ThreadMembersUpdate, (_, __, thread) => membership.guildChanged(thread.guildId, thread.id));
  client.on(Events.GuildRoleUpdate, (_, role) => membership.guildChanged(role.guild.id));
  client.on(Events.GuildMemberUpdate, (_, member) => {
    if (member.id === client.user?.id) membership.guildChanged(member.guild.id);
  });
  client.on(Events.GuildCreate, (guild) => membership.guildChanged(guild.id));
  client.on(Events.GuildDelete, (guild) => membership.guildRemoved(guild.id));
}

interface RawOption {
  type: number;
  value?: unknown;
  options?: RawOption[];
}

interface RawInteraction {
  type: number;
  channel?: object | null;
  channel_id?: string;
  entitlements?: unknown[] | null;
  authorizing_integration_owners?: object | null;
  data?: { options?: RawOption[]; resolved?: { channels?: Record<string, object> } };
}

/** The library throws without these fields, and cannot resolve an option's channel from its ID alone. */
function addMissingFields(interaction: RawInteraction): void {
  if (!interaction.channel && interaction.channel_id) interaction.channel = { id: interaction.channel_id };
  interaction.entitlements ??= [];
  interaction.authorizing_integration_owners ??= {};
  const { data } = interaction;
  const [first] = data?.options ?? [];
  for (const { type, value } of first?.options ?? data?.options ?? []) {
    if (!data || type !== ApplicationCommandOptionType.Channel || typeof value !== 'string') continue;
    data.resolved = { ...data.resolved, channels: { [value]: { id: value }, ...data.resolved?.channels } };
  }
}

/**
 * The library delays all events until Discord has sent the last guild, which can take longer than the 3 s within which
 * an interaction needs a reply.
 */
function handleEarly(client: Client, interaction: RawInteraction): void {
  const { actions } = client as unknown as { actions: { InteractionCreate: { handle(data: object): void } } };
  actions.InteractionCreate.handle(interaction);
  // The library still has the same packet queued, and ignores an unknown type.
  interaction.type = 0;
}

interface LibraryShard {
  connection: { on(event: 'error', listener: () => void): void; terminate(): void } | null;
  destroy(options?: { recover?: number }): Promise<void>;
}

/**
 * Works around how discord.js closes a connection: it removes its listeners even while the connection is still opening.
 * That connection would stay open, and a network error on it would end the process. Whatever waited for a response on
 * it then closes it a second time, which would make the first close wait forever.
 */
class Sharding extends SimpleShardingStrategy {
  override async spawn(shardIds: number[]): Promise<void> {
    await super.spawn(shardIds);
    const { shards } = this as unknown as { shards: Map<number, LibraryShard> };
    for (const shard of shards.values()) {
      const destroy = shard.destroy.bind(shard);
      let closing: LibraryShard['connection'] = null;
      shard.destroy = async (options) => {
        const { connection } = shard;
        if (connection && connection === closing && options?.recover !== undefined) return;
        closing = connection;
        connection?.on('error', () => {});
        await destroy(options).finally(() => connection?.terminate());
      };
    }
  }
}
