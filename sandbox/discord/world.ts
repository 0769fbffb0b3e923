/** Users, servers, roles, channels, members: plain data, without notifications. */
import { ChannelType } from 'discord.js';
import type { ChannelState, GuildState, MemberState, RoleState, UserState } from './control.ts';

/** A person or bot. */
export interface User extends UserState {
  acceptsDirectMessages: boolean;
}

/** A role in a server. */
export interface Role extends Omit<RoleState, 'permissions'> {
  guildId: string;
  permissions: bigint;
  /** Belongs to the bot and cannot be deleted or assigned. */
  managed: boolean;
}

/** A person's membership in a server. */
export interface Member extends Omit<MemberState, 'permissions'> {
  guildId: string;
  joinedAt: number;
}

/** A channel, a category, a thread or a direct message. */
export interface Channel extends Omit<ChannelState, 'botMaySend' | 'visibleTo'> {
  /** Who opened a thread. */
  ownerId: string | null;
  /** Whether the bot was added to a private thread. */
  joined: boolean;
  lastMessageId: string | null;
}

/** A server. */
export interface Guild extends Omit<GuildState, 'roles' | 'channels' | 'members'> {
  roles: Map<string, Role>;
  members: Map<string, Member>;
}

const THREADS: readonly number[] = [
  ChannelType.AnnouncementThread,
  ChannelType.PublicThread,
  ChannelType.PrivateThread,
];
const WITH_MESSAGES: readonly number[] = [
  ChannelType.GuildText,
  ChannelType.DM,
  ChannelType.GuildAnnouncement,
  ChannelType.GuildVoice,
  ChannelType.GuildStageVoice,
  ...THREADS,
];

export const isThread = (channel: { type: number }): boolean => THREADS.includes(channel.type);
export const holdsMessages = (channel: { type: number }): boolean => WITH_MESSAGES.includes(channel.type);

/** Everything that exists, by ID. */
export type World = ReturnType<typeof createWorld>;

/** Creates a world with nothing but the bot. */
export function createWorld(bot: { id: string; username: string }) {
  const botId = bot.id;
  const users = new Map<string, User>();
  const guilds = new Map<string, Guild>();
  const channels = new Map<string, Channel>();
  users.set(bot.id, {
    ...bot,
    displayName: bot.username,
    bot: true,
    locale: 'en-US',
    acceptsDirectMessages: true,
  });

  function channelsOf(guildId: string): Channel[] {
    return [...channels.values()].filter((channel) => channel.guildId === guildId);
  }

  function guildOf(channel: Channel): Guild | undefined {
    return channel.guildId === null ? undefined : guilds.get(channel.guildId);
  }

  function role(id: string): Role | undefined {
    for (const guild of guilds.values()) {
      const role = guild.roles.get(id);
      if (role) return role;
    }
    return undefined;
  }

  /** Returns the bot's direct-message channel with a person. The first time, it is created. */
  function directMessage(recipientId: string, nextId: () => string): Channel {
    const known = [...channels.values()].find((channel) => channel.recipientId === recipientId);
    return known ?? addChannel({ id: nextId(), type: ChannelType.DM, name: '', guildId: null, recipientId });
  }

  function addUser(user: Omit<User, 'bot' | 'acceptsDirectMessages'>): User {
    const added = { ...user, bot: false, acceptsDirectMessages: true };
    users.set(user.id, added);
    return added;
  }

  function addGuild(guild: Pick<Guild, 'id' | 'name' | 'locale' | 'ownerId'>, everyone: bigint): Guild {
    const added: Guild = { ...guild, present: true, available: true, roles: new Map(), members: new Map() };
    guilds.set(guild.id, added);
    addRole({ id: guild.id, guildId: guild.id, name: '@everyone', permissions: everyone });
    return added;
  }

  function addRole(role: Pick<Role, 'id' | 'guildId' | 'name' | 'permissions'> & Partial<Role>): Role {
    const guild = guilds.get(role.guildId)!;
    const added = { color: 0, position: guild.roles.size, mentionable: false, managed: false, ...role };
    guild.roles.set(role.id, added);
    return added;
  }

  function addMember(member: Pick<Member, 'guildId' | 'userId' | 'joinedAt'> & Partial<Member>): Member {
    const added = { nick: null, roleIds: [], ...member };
    guilds.get(member.guildId)!.members.set(member.userId, added);
    return added;
  }

  function addChannel(channel: Pick<Channel, 'id' | 'type' | 'name' | 'guildId'> & Partial<Channel>): Channel {
    const added: Channel = {
      topic: null,
      position: channel.guildId === null ? 0 : channelsOf(channel.guildId).length,
      parentId: null,
      recipientId: null,
      ownerId: null,
      joined: false,
      archived: false,
      locked: false,
      overwrites: [],
      lastMessageId: null,
      ...channel,
    };
    channels.set(added.id, added);
    return added;
  }

  return {
    botId,
    users,
    guilds,
    channels,
    channelsOf,
    guildOf,
    role,
    directMessage,
    addUser,
    addGuild,
    addRole,
    addMember,
    addChannel,
  };
}
