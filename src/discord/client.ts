import {
  ChannelType,
  Client,
  Events,
  GatewayDispatchEvents,
  GatewayIntentBits,
  type GatewayReadyDispatchData,
  Options,
} from 'discord.js';
import type { Logger } from 'pino';
import type { Shard } from '../domain/channel.ts';
import { reasonOf } from '../errors.ts';
import type { createIdentifyQueue } from './identify.ts';
import { addMissingFields, handleEarly, type RawInteraction } from './raw-interaction.ts';
import { makeRequest } from './request.ts';
import { Sharding } from './sharding.ts';

/** Dependencies and callbacks of a connection to Discord. */
export interface ConnectionOptions {
  /** REST root without version. */
  apiUrl: string;
  log: Logger;
  /** The bot's permissions in a guild may have changed: in this channel, or in any if none is named. */
  onAccessChange(guildId: string, channelId?: string): void;
  onChannelRemoved(channelId: string): void;
  /** The bot was removed from the guild; an outage of the guild does not count. */
  onGuildRemoved(guildId: string): void;
  /** A new session began. These are all guilds of its shard that the bot is in. */
  onGuilds(guildIds: string[], shard: Shard): void;
}

/** How long the client waits for the guilds of the first READY before it is ready. */
const GUILDS_TIMEOUT_MS = 2_000;

/**
 * Creates a client that keeps only guilds, channels, roles and its own user in memory. It uses as many connections
 * (shards) as Discord recommends: one for up to about 1,000 guilds.
 */
export function makeClient(options: ConnectionOptions, identify: ReturnType<typeof createIdentifyQueue>): Client {
  const { log } = options;
  const client = new Client({
    intents: [GatewayIntentBits.Guilds],
    shards: 'auto',
    rest: { api: options.apiUrl, makeRequest },
    ws: { buildStrategy: (manager) => new Sharding(manager), buildIdentifyThrottler: identify },
    waitGuildTimeout: GUILDS_TIMEOUT_MS,
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
    addMissingFields(d);
    if (client.application && !client.isReady()) handleEarly(client, d);
  });
  client.on(Events.Error, (error) => log.error({ reason: reasonOf(error) }, 'Discord client error'));
  client.on(Events.ShardError, (error) => log.warn({ reason: reasonOf(error) }, 'Discord connection error'));
  client.on(Events.Warn, (message) => log.warn({ message }, 'Discord client warning'));
  reportChanges(client, options);
  return client;
}

function reportChanges(client: Client, options: ConnectionOptions): void {
  const { onAccessChange, onChannelRemoved, onGuildRemoved, onGuilds } = options;
  // The library keeps the previous session's guilds.
  client.on(Events.Raw, ({ t, d }: { t: string; d: GatewayReadyDispatchData }) => {
    if (t === GatewayDispatchEvents.Ready)
      onGuilds(
        d.guilds.map(({ id }) => id),
        d.shard ?? [0, 1],
      );
  });
  client.on(Events.ChannelUpdate, (_, channel) => {
    if (!channel.isDMBased()) onAccessChange(channel.guildId, channel.id);
  });
  client.on(Events.ThreadUpdate, (_, thread) => onAccessChange(thread.guildId, thread.id));
  // The bot was added to a private thread. Discord reports no other members.
  client.on(Events.ThreadCreate, (thread) => {
    if (thread.type === ChannelType.PrivateThread) onAccessChange(thread.guildId, thread.id);
  });
  client.on(Events.ThreadMembersUpdate, (_, __, thread) => onAccessChange(thread.guildId, thread.id));
  client.on(Events.ChannelDelete, (channel) => {
    if (!channel.isDMBased()) onChannelRemoved(channel.id);
  });
  client.on(Events.ThreadDelete, (thread) => onChannelRemoved(thread.id));
  client.on(Events.GuildRoleUpdate, (_, role) => onAccessChange(role.guild.id));
  client.on(Events.GuildMemberUpdate, (_, member) => {
    if (member.id === client.user?.id) onAccessChange(member.guild.id);
  });
  client.on(Events.GuildCreate, (guild) => onAccessChange(guild.id));
  client.on(Events.GuildDelete, (guild) => onGuildRemoved(guild.id));
}
