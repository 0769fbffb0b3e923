/** Users, servers, roles, channels, members: plain data, without notifications. */
import { ChannelType } from 'discord.js';
import type { ChannelState, UserState } from './control.ts';

/** A person or bot. */
export interface User extends UserState {
  acceptsDirectMessages: boolean;
}

/** A role in a server. */
export interface Role {
  id: string;
  guildId: string;
  name: string;
  color: number;
  position: number;
  permissions: bigint;
  mentionable: boolean;
  /** Belongs to the bot and cannot be deleted or assigned. */
  managed: boolean;
}

/** A person's membership in a server. */
export interface Member {
  userId: string;
  guildId: string;
  nick: string | null;
  roleIds: string[];
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
export interface Guild {
  id: string;
  name: string;
  locale: string;
  ownerId: string;
  /** Whether the bot is in it. */
  present: boolean;
  available: boolean;
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

/** Everything that exists, by id. */
export class World {
  readonly botId: string;
  readonly users = new Map<string, User>();
  readonly guilds = new Map<string, Guild>();
  readonly channels = new Map<string, Channel>();

  constructor(bot: { id: string; username: string }) {
    this.botId = bot.id;
    this.users.set(bot.id, {
      ...bot,
      displayName: bot.username,
      bot: true,
      locale: 'en-US',
      acceptsDirectMessages: true,
    });
  }

  channelsOf(guildId: string): Channel[] {
    return [...this.channels.values()].filter((channel) => channel.guildId === guildId);
  }

  guildOf(channel: Channel): Guild | undefined {
    return channel.guildId === null ? undefined : this.guilds.get(channel.guildId);
  }

  role(id: string): Role | undefined {
    for (const guild of this.guilds.values()) {
      const role = guild.roles.get(id);
      if (role) return role;
    }
    return undefined;
  }

  directMessage(userId: string): Channel | undefined {
    return [...this.channels.values()].find((channel) => channel.recipientId === userId);
  }

  addUser(user: Omit<User, 'bot' | 'acceptsDirectMessages'>): User {
    const added = { ...user, bot: false, acceptsDirectMessages: true };
    this.users.set(user.id, added);
    return added;
  }

  addGuild(guild: Pick<Guild, 'id' | 'name' | 'locale' | 'ownerId'>, everyone: bigint): Guild {
    const added: Guild = { ...guild, present: true, available: true, roles: new Map(), members: new Map() };
    this.guilds.set(guild.id, added);
    this.addRole({ id: guild.id, guildId: guild.id, name: '@everyone', permissions: everyone });
    return added;
  }

  addRole(role: Pick<Role, 'id' | 'guildId' | 'name' | 'permissions'> & Partial<Role>): Role {
    const guild = this.guilds.get(role.guildId)!;
    const added = { color: 0, position: guild.roles.size, mentionable: false, managed: false, ...role };
    guild.roles.set(role.id, added);
    return added;
  }

  addMember(member: Pick<Member, 'guildId' | 'userId' | 'joinedAt'> & Partial<Member>): Member {
    const added = { nick: null, roleIds: [], ...member };
    this.guilds.get(member.guildId)!.members.set(member.userId, added);
    return added;
  }

  addChannel(channel: Pick<Channel, 'id' | 'type' | 'name' | 'guildId'> & Partial<Channel>): Channel {
    const added: Channel = {
      topic: null,
      position: channel.guildId === null ? 0 : this.channelsOf(channel.guildId).length,
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
    this.channels.set(added.id, added);
    return added;
  }
}
