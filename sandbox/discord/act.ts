/** Changes to the world, each told to the bot as Discord tells it. */
import { ChannelType, GatewayIntentBits as Intent } from 'discord.js';
import type { WorldAction, WorldResult } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import { checkOverwrites, createChannel, createGuild, guildAction, setBotOverwrite } from './guilds.ts';
import { channel, guild, member, role, user } from './named.ts';
import { notifyChannel, notifyGuild, notifyMember, notifyMembership, notifyRole } from './notify.ts';
import { apiGuild } from './objects.ts';
import { bits, sees } from './permissions.ts';
import { channelState, userStates } from './state.ts';
import type { Channel, Role } from './world.ts';

type Of<D extends WorldAction['do']> = Extract<WorldAction, { do: D }>;

/** Puts on the target what the action names. */
function assign<T extends object, K extends keyof T>(target: T, given: Partial<Pick<T, K>>, keys: readonly K[]): void {
  for (const key of keys) if (given[key] !== undefined) target[key] = given[key] as T[K];
}

function deleteRole(core: Core, gone: Role): void {
  const of = guild(core, gone.guildId);
  if (gone.id === of.id || gone.managed) throw new NotPossible(`The role ${gone.name} cannot be deleted.`);
  of.roles.delete(gone.id);
  for (const one of of.members.values()) one.roleIds = one.roleIds.filter((id) => id !== gone.id);
  notifyRole(core, gone, 'DELETE');
}

function openDirectMessage(core: Core, userId: string): WorldResult {
  const recipientId = user(core, userId).id;
  const known = core.world.directMessage(recipientId);
  const dm =
    known ?? core.world.addChannel({ id: core.nextId(), type: ChannelType.DM, name: '', guildId: null, recipientId });
  core.events.emit({ type: 'direct-message', channel: channelState(core.world, dm) });
  return { id: dm.id };
}

function sendMessage(core: Core, action: Of<'message.send'>): WorldResult {
  const on = channel(core, action.channelId);
  const author = user(core, action.userId);
  if (!sees(core.world, author.id, on)) throw new NotPossible(`User ${author.id} does not see #${on.name}.`);
  if (typeof action.content !== 'string' || action.content.trim() === '')
    throw new NotPossible('A message needs content.');
  // Whom somebody mentions in a private thread is in it from then on.
  if (on.type === ChannelType.PrivateThread && !on.joined && action.content.includes(`<@${core.world.botId}>`)) {
    on.joined = true;
    notifyMembership(core, on);
  }
  return { id: core.messages.create({ channel: on, author, body: { content: action.content }, uploads: [] }).id };
}

function expel(core: Core, thread: Channel): void {
  if (thread.type !== ChannelType.PrivateThread || !thread.joined)
    throw new NotPossible(`The bot was not brought into #${thread.name}.`);
  thread.joined = false;
  notifyMembership(core, thread);
}

function forget(core: Core): void {
  core.messages.forget();
  core.interactions.forget();
  core.faults.clear();
  core.log.forget();
  core.gateway.identifies = 0;
  core.gateway.resumes = 0;
  core.events.emit({ type: 'reset' });
}

/** Does it, and tells the bot and the listeners. Throws {@link NotPossible} with a sentence. */
export function act(core: Core, action: WorldAction): WorldResult {
  switch (action.do) {
    case 'user.create': {
      const { username, displayName = username, locale = 'en-US' } = action;
      const made = core.world.addUser({ id: core.nextId(), username, displayName, locale });
      core.events.emit({ type: 'users', users: userStates(core.world) });
      return { id: made.id };
    }
    case 'user.update':
      assign(user(core, action.userId), action, ['locale', 'displayName', 'acceptsDirectMessages']);
      core.events.emit({ type: 'users', users: userStates(core.world) });
      return { id: action.userId };
    case 'guild.create':
      return createGuild(core, action);
    case 'guild.update': {
      const changed = guild(core, action.guildId);
      assign(changed, action, ['name', 'locale']);
      core.gateway.dispatch('GUILD_UPDATE', apiGuild(core.world, changed), {
        guildId: changed.id,
        intents: Intent.Guilds,
      });
      notifyGuild(core, changed);
      return { id: changed.id };
    }
    case 'guild.unavailable':
    case 'guild.available':
    case 'guild.remove':
    case 'guild.add':
      guildAction(core, action);
      return { id: action.guildId };
    case 'channel.create':
      return createChannel(core, action);
    case 'channel.update': {
      const changed = channel(core, action.channelId);
      checkOverwrites(action.overwrites);
      assign(changed, action, ['name', 'topic', 'overwrites', 'archived', 'locked']);
      notifyChannel(core, changed, 'UPDATE');
      return { id: changed.id };
    }
    case 'channel.delete':
      notifyChannel(core, channel(core, action.channelId), 'DELETE');
      return { id: action.channelId };
    case 'channel.forbid':
      setBotOverwrite(core, channel(core, action.channelId), bits(action.permissions ?? ['ViewChannel']));
      return { id: action.channelId };
    case 'channel.allow':
      setBotOverwrite(core, channel(core, action.channelId), 0n);
      return { id: action.channelId };
    case 'thread.expel':
      expel(core, channel(core, action.channelId));
      return { id: action.channelId };
    default:
      return actOnPeople(core, action);
  }
}

type PeopleAction = Of<
  | 'role.create'
  | 'role.update'
  | 'role.delete'
  | 'member.add'
  | 'member.update'
  | 'member.remove'
  | 'dm.open'
  | 'message.send'
  | 'message.delete'
  | 'gateway.drop'
  | 'gateway.reconnect'
  | 'gateway.invalidate'
  | 'forget'
>;

function actOnPeople(core: Core, action: PeopleAction): WorldResult {
  switch (action.do) {
    case 'role.create': {
      const { name, color = 0, mentionable = false } = action;
      const permissions = bits(action.permissions ?? []);
      const guildId = guild(core, action.guildId).id;
      const made = core.world.addRole({ id: core.nextId(), guildId, name, color, mentionable, permissions });
      notifyRole(core, made, 'CREATE');
      return { id: made.id };
    }
    case 'role.update': {
      const changed = role(core, action.roleId);
      assign(changed, action as { name?: string; mentionable?: boolean }, ['name', 'mentionable']);
      if (action.permissions) changed.permissions = bits(action.permissions);
      notifyRole(core, changed, 'UPDATE');
      return { id: changed.id };
    }
    case 'role.delete':
      deleteRole(core, role(core, action.roleId));
      return { id: action.roleId };
    case 'member.add': {
      const guildId = guild(core, action.guildId).id;
      const userId = user(core, action.userId).id;
      const added = core.world.addMember({
        guildId,
        userId,
        roleIds: action.roleIds ?? [],
        joinedAt: core.clock.now(),
      });
      notifyMember(core, added, 'ADD');
      return { id: userId };
    }
    case 'member.update': {
      const changed = member(core, action.guildId, action.userId);
      for (const id of action.roleIds ?? []) role(core, id);
      assign(changed, action, ['roleIds', 'nick']);
      notifyMember(core, changed, 'UPDATE');
      return { id: changed.userId };
    }
    case 'member.remove': {
      const gone = member(core, action.guildId, action.userId);
      if (gone.userId === core.world.botId) throw new NotPossible('To remove the bot, use guild.remove.');
      guild(core, action.guildId).members.delete(gone.userId);
      notifyMember(core, gone, 'REMOVE');
      return { id: gone.userId };
    }
    case 'dm.open':
      return openDirectMessage(core, action.userId);
    case 'message.send':
      return sendMessage(core, action);
    case 'message.delete': {
      const state = core.messages.get(action.messageId);
      if (!state || state.deleted) throw new NotPossible(`There is no message ${action.messageId}.`);
      core.messages.remove(state);
      return { id: state.id };
    }
    case 'gateway.drop':
      core.gateway.drop();
      return { id: null };
    case 'gateway.reconnect':
      core.gateway.reconnect();
      return { id: null };
    case 'gateway.invalidate':
      core.gateway.invalidate(action.resumable ?? false);
      return { id: null };
    case 'forget':
      forget(core);
      return { id: null };
    default:
      return unknown(action);
  }
}

/** Only JSON from outside gets here. */
function unknown(action: never): never {
  throw new NotPossible(`There is no action "${(action as { do?: string })?.do}".`);
}
