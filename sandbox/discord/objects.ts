/** The world's objects in the JSON of Discord's API. */
import { ChannelType } from 'discord.js';
import { isThread } from './channel-types.ts';
import { iso, timeOf } from './clock.ts';
import { botPermissions, permissionsOf } from './permissions.ts';
import type { Json } from './validate.ts';
import type { Channel, Guild, Member, Role, User, World } from './world.ts';

const nulls = (...names: string[]): Json => Object.fromEntries(names.map((name) => [name, null]));

export function apiUser(user: User): Json {
  return {
    id: user.id,
    username: user.username,
    global_name: user.bot ? null : user.displayName,
    discriminator: user.bot ? '0001' : '0',
    bot: user.bot,
    public_flags: 0,
    flags: 0,
    ...nulls('avatar', 'banner', 'accent_color', 'avatar_decoration_data'),
  };
}

export function apiRole(world: World, role: Role): Json {
  return {
    id: role.id,
    name: role.name,
    color: role.color,
    colors: { primary_color: role.color, secondary_color: null, tertiary_color: null },
    hoist: false,
    icon: null,
    unicode_emoji: null,
    position: role.position,
    permissions: role.permissions.toString(),
    managed: role.managed,
    mentionable: role.mentionable,
    flags: 0,
    ...(role.managed && { tags: { bot_id: world.botId } }),
  };
}

export function apiMember(world: World, member: Member): Json {
  return {
    user: apiUser(world.users.get(member.userId)!),
    nick: member.nick,
    roles: member.roleIds,
    joined_at: iso(member.joinedAt),
    deaf: false,
    mute: false,
    flags: 0,
    pending: false,
    ...nulls('avatar', 'banner', 'premium_since', 'communication_disabled_until'),
  };
}

export function interactionMember(world: World, guild: Guild, member: Member, channel: Channel): Json {
  return { ...apiMember(world, member), permissions: permissionsOf(world, guild, member, channel).toString() };
}

export function apiChannel(world: World, channel: Channel): Json {
  const shared = { id: channel.id, type: channel.type, last_message_id: channel.lastMessageId, flags: 0 };
  if (channel.guildId === null) return { ...shared, recipients: [apiUser(world.users.get(channel.recipientId!)!)] };
  if (isThread(channel))
    return {
      ...shared,
      guild_id: channel.guildId,
      name: channel.name,
      parent_id: channel.parentId,
      owner_id: channel.ownerId ?? channel.guildId,
      message_count: 0,
      total_message_sent: 0,
      member_count: 1,
      rate_limit_per_user: 0,
      thread_metadata: {
        archived: channel.archived,
        archive_timestamp: iso(timeOf(channel.id)),
        auto_archive_duration: 1440,
        locked: channel.locked,
        create_timestamp: iso(timeOf(channel.id)),
        ...(channel.type === ChannelType.PrivateThread && { invitable: true }),
      },
    };
  return {
    ...shared,
    guild_id: channel.guildId,
    name: channel.name,
    topic: channel.topic,
    position: channel.position,
    parent_id: channel.parentId,
    permission_overwrites: channel.overwrites,
    nsfw: false,
    rate_limit_per_user: 0,
    ...(channel.type === ChannelType.GuildForum && { available_tags: [], default_forum_layout: 0 }),
  };
}

export function apiGuild(world: World, guild: Guild): Json {
  return {
    id: guild.id,
    name: guild.name,
    owner_id: guild.ownerId,
    region: 'deprecated',
    afk_timeout: 300,
    widget_enabled: false,
    verification_level: 1,
    default_message_notifications: 1,
    explicit_content_filter: 0,
    roles: [...guild.roles.values()].map((role) => apiRole(world, role)),
    emojis: [],
    stickers: [],
    features: world.channelsOf(guild.id).some(({ type }) => type === ChannelType.GuildAnnouncement)
      ? ['COMMUNITY', 'NEWS']
      : [],
    mfa_level: 0,
    system_channel_flags: 0,
    max_members: 500_000,
    premium_tier: 0,
    premium_subscription_count: 0,
    premium_progress_bar_enabled: false,
    preferred_locale: guild.locale,
    nsfw_level: 0,
    nsfw: false,
    ...nulls(
      'icon',
      'splash',
      'discovery_splash',
      'afk_channel_id',
      'widget_channel_id',
      'application_id',
      'system_channel_id',
      'rules_channel_id',
      'public_updates_channel_id',
      'safety_alerts_channel_id',
      'vanity_url_code',
      'description',
      'banner',
      'hub_type',
    ),
  };
}

/** Without the privileged intent the bot sees others' content only if it mentions the bot. */
export function withoutContent(world: World, message: Json): Json {
  const { author, mentions = [], referenced_message } = message;
  const reply = referenced_message && { referenced_message: withoutContent(world, referenced_message) };
  if ([author, ...mentions].some(({ id }: Json) => id === world.botId)) return { ...message, ...reply };
  return { ...message, ...reply, content: '', embeds: [], attachments: [], components: [] };
}

export function guildCreate(world: World, guild: Guild): Json {
  const channels = world.channelsOf(guild.id);
  const reachable = (channel: Channel): boolean => botPermissions(world, channel) !== 0n;
  const bot = guild.members.get(world.botId);
  return {
    ...apiGuild(world, guild),
    joined_at: iso(bot?.joinedAt ?? timeOf(guild.id)),
    large: false,
    unavailable: false,
    member_count: guild.members.size,
    voice_states: [],
    members: bot ? [apiMember(world, bot)] : [],
    // Discord sends bots every channel, but only the threads that they can see.
    channels: channels.filter((channel) => !isThread(channel)).map((channel) => apiChannel(world, channel)),
    threads: channels
      .filter((channel) => isThread(channel) && !channel.archived && reachable(channel))
      .map((channel) => apiChannel(world, channel)),
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  };
}
