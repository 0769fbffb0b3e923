/** Plain data, without notifications. Only the world's methods change it. */
import { ChannelType } from 'discord.js';
import type { ChannelState, GuildState, MemberState, RoleState, UserState } from './control.ts';

export interface User extends Readonly<UserState> {
  readonly acceptsDirectMessages: boolean;
}

export interface Role extends Readonly<Omit<RoleState, 'permissions'>> {
  readonly guildId: string;
  readonly permissions: bigint;
  /** Belongs to the bot and cannot be deleted or assigned. */
  readonly managed: boolean;
}

export interface Member extends Readonly<Omit<MemberState, 'permissions'>> {
  readonly guildId: string;
  readonly joinedAt: number;
}

/** Also a category, a thread or a direct message. */
export interface Channel extends Readonly<Omit<ChannelState, 'botMaySend' | 'visibleTo'>> {
  /** The member who opened the thread. */
  readonly ownerId: string | null;
  /** The bot was added to this private thread. */
  readonly joined: boolean;
  readonly lastMessageId: string | null;
}

export interface Guild extends Readonly<Omit<GuildState, 'roles' | 'channels' | 'members'>> {
  readonly roles: ReadonlyMap<string, Role>;
  readonly members: ReadonlyMap<string, Member>;
}

interface OwnGuild extends Guild {
  readonly roles: Map<string, Role>;
  readonly members: Map<string, Member>;
}

type Changes<T> = { [Name in keyof T]?: T[Name] | undefined };

export type World = ReturnType<typeof createWorld>;

/** The new world has only the bot. */
export function createWorld(bot: { id: string; username: string }) {
  const botId = bot.id;
  const users = new Map<string, User>();
  const guilds = new Map<string, OwnGuild>();
  const channels = new Map<string, Channel>();
  addUser({ ...bot, displayName: bot.username, locale: 'en-US' }, true);

  function channelsOf(guildId: string): Channel[] {
    return [...channels.values()].filter((channel) => channel.guildId === guildId);
  }

  function guildOf(channel: Channel): Guild | undefined {
    return channel.guildId === null ? undefined : guilds.get(channel.guildId);
  }

  function role(id: string): Role | undefined {
    const guild = [...guilds.values()].find(({ roles }) => roles.has(id));
    return guild?.roles.get(id);
  }

  /** Creates the channel the first time. */
  function directMessage(recipientId: string, nextId: () => string): Channel {
    const known = [...channels.values()].find((channel) => channel.recipientId === recipientId);
    return known ?? addChannel({ id: nextId(), type: ChannelType.DM, name: '', guildId: null, recipientId });
  }

  function addUser(user: Omit<User, 'bot' | 'acceptsDirectMessages'>, isBot = false): User {
    const added = { ...user, bot: isBot, acceptsDirectMessages: true };
    users.set(user.id, added);
    return added;
  }

  function addGuild(guild: Pick<Guild, 'id' | 'name' | 'locale' | 'ownerId'>, everyone: bigint): Guild {
    const added: OwnGuild = { ...guild, present: true, available: true, roles: new Map(), members: new Map() };
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

  /** Leaves undefined fields as they are. */
  function update<T extends User | Guild | Role | Member | Channel>(target: T, fields: Changes<T>): void {
    for (const [name, value] of Object.entries(fields))
      if (value !== undefined) Object.assign(target, { [name]: value });
  }

  function removeRole({ id, guildId }: Role): void {
    const guild = guilds.get(guildId)!;
    guild.roles.delete(id);
    for (const member of guild.members.values()) update(member, { roleIds: member.roleIds.filter((of) => of !== id) });
  }

  return {
    botId,
    users: users as ReadonlyMap<string, User>,
    guilds: guilds as ReadonlyMap<string, Guild>,
    channels: channels as ReadonlyMap<string, Channel>,
    channelsOf,
    guildOf,
    role,
    directMessage,
    addUser,
    addGuild,
    addRole,
    addMember,
    addChannel,
    update,
    removeRole,
    removeMember: (guildId: string, userId: string): void => void guilds.get(guildId)!.members.delete(userId),
    removeChannel: (id: string): void => void channels.delete(id),
  };
}
