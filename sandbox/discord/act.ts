/** Performs changes to the world, and sends each one to the bot as Discord does. */
import { ChannelType, GatewayIntentBits as Intent } from 'discord.js';
import type { WorldAction, WorldResult } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import { type ActionOf, changeGuild, checkOverwrites, createChannel, createGuild, setBotOverwrite } from './guilds.ts';
import { MAX_CONTENT } from './message-rules.ts';
import { channel, guild, member, role, user } from './named.ts';
import { notifyChannel, notifyGuild, notifyMember, notifyMembership, notifyRole } from './notify.ts';
import { apiGuild } from './objects.ts';
import { bits, sees } from './permissions.ts';
import { channelState, userStates } from './state.ts';
import type { Channel, Role } from './world.ts';

function deleteRole(core: Core, gone: Role): void {
  const of = guild(core, gone.guildId);
  if (gone.id === of.id || gone.managed) throw new NotPossible(`The role ${gone.name} cannot be deleted.`);
  core.world.removeRole(gone);
  notifyRole(core, gone, 'DELETE');
}

function openDirectMessage(core: Core, userId: string): WorldResult {
  const dm = core.world.directMessage(user(core, userId).id, core.nextId);
  core.events.emit({ type: 'direct-message', channel: channelState(core.world, dm) });
  return { id: dm.id };
}

function sendMessage(core: Core, action: ActionOf<'message.send'>): WorldResult {
  const on = channel(core, action.channelId);
  const author = user(core, action.userId);
  if (!sees(core.world, author.id, on)) throw new NotPossible(`User ${author.id} does not see #${on.name}.`);
  if (typeof action.content !== 'string' || action.content.trim() === '')
    throw new NotPossible('A message needs content.');
  if (action.content.length > MAX_CONTENT) throw new NotPossible(`A message has at most ${MAX_CONTENT} characters.`);
  // A mention adds the bot to a private thread.
  if (on.type === ChannelType.PrivateThread && !on.joined && action.content.includes(`<@${core.world.botId}>`)) {
    core.world.update(on, { joined: true });
    notifyMembership(core, on);
  }
  return { id: core.messages.create({ channel: on, author, body: { content: action.content }, uploads: [] }).id };
}

function expel(core: Core, thread: Channel): void {
  if (thread.type !== ChannelType.PrivateThread || !thread.joined)
    throw new NotPossible(`The bot is not in #${thread.name}.`);
  core.world.update(thread, { joined: false });
  notifyMembership(core, thread);
}

function forget(core: Core): void {
  core.messages.forget();
  core.interactions.forget();
  core.faults.clear();
  core.log.forget();
  Object.assign(core.gateway.counts, { identifies: 0, refusedIdentifies: 0, resumes: 0 });
  core.events.emit({ type: 'reset' });
}

/** Performs each kind of action. Returns the id of what was created or changed. */
const actions: { [Do in WorldAction['do']]: (core: Core, action: ActionOf<Do>) => WorldResult } = {
  'user.create'(core, { username, displayName = username, locale = 'en-US' }) {
    const made = core.world.addUser({ id: core.nextId(), username, displayName, locale });
    core.events.emit({ type: 'users', users: userStates(core.world) });
    return { id: made.id };
  },
  'user.update'(core, { userId, locale, displayName, acceptsDirectMessages }) {
    core.world.update(user(core, userId), { locale, displayName, acceptsDirectMessages });
    core.events.emit({ type: 'users', users: userStates(core.world) });
    return { id: userId };
  },
  'guild.create': createGuild,
  'guild.update'(core, { guildId, name, locale }) {
    const changed = guild(core, guildId);
    core.world.update(changed, { name, locale });
    core.gateway.dispatch('GUILD_UPDATE', apiGuild(core.world, changed), {
      guildId: changed.id,
      intents: Intent.Guilds,
    });
    notifyGuild(core, changed);
    return { id: changed.id };
  },
  'guild.unavailable': changeGuild,
  'guild.available': changeGuild,
  'guild.remove': changeGuild,
  'guild.add': changeGuild,
  'channel.create': createChannel,
  'channel.update'(core, { channelId, name, topic, overwrites, archived, locked }) {
    const changed = channel(core, channelId);
    checkOverwrites(overwrites);
    core.world.update(changed, { name, topic, overwrites, archived, locked });
    notifyChannel(core, changed, 'UPDATE');
    return { id: changed.id };
  },
  'channel.delete'(core, { channelId }) {
    notifyChannel(core, channel(core, channelId), 'DELETE');
    return { id: channelId };
  },
  'channel.forbid'(core, { channelId, permissions }) {
    setBotOverwrite(core, channel(core, channelId), bits(permissions ?? ['ViewChannel']));
    return { id: channelId };
  },
  'channel.allow'(core, { channelId }) {
    setBotOverwrite(core, channel(core, channelId), 0n);
    return { id: channelId };
  },
  'thread.expel'(core, { channelId }) {
    expel(core, channel(core, channelId));
    return { id: channelId };
  },
  'role.create'(core, action) {
    const { name, color = 0, mentionable = false } = action;
    const permissions = bits(action.permissions ?? []);
    const guildId = guild(core, action.guildId).id;
    const made = core.world.addRole({ id: core.nextId(), guildId, name, color, mentionable, permissions });
    notifyRole(core, made, 'CREATE');
    return { id: made.id };
  },
  'role.update'(core, { roleId, name, mentionable, permissions }) {
    const changed = role(core, roleId);
    core.world.update(changed, { name, mentionable, permissions: permissions && bits(permissions) });
    notifyRole(core, changed, 'UPDATE');
    return { id: changed.id };
  },
  'role.delete'(core, { roleId }) {
    deleteRole(core, role(core, roleId));
    return { id: roleId };
  },
  'member.add'(core, action) {
    const guildId = guild(core, action.guildId).id;
    const userId = user(core, action.userId).id;
    const roleIds = action.roleIds ?? [];
    notifyMember(core, core.world.addMember({ guildId, userId, roleIds, joinedAt: core.clock.now() }), 'ADD');
    return { id: userId };
  },
  'member.update'(core, { guildId, userId, roleIds, nick }) {
    const changed = member(core, guildId, userId);
    for (const id of roleIds ?? []) role(core, id);
    core.world.update(changed, { roleIds, nick });
    notifyMember(core, changed, 'UPDATE');
    return { id: changed.userId };
  },
  'member.remove'(core, action) {
    const gone = member(core, action.guildId, action.userId);
    if (gone.userId === core.world.botId) throw new NotPossible('To remove the bot, use guild.remove.');
    core.world.removeMember(gone.guildId, gone.userId);
    notifyMember(core, gone, 'REMOVE');
    return { id: gone.userId };
  },
  'dm.open': (core, { userId }) => openDirectMessage(core, userId),
  'message.send': sendMessage,
  'message.delete'(core, { messageId }) {
    const state = core.messages.get(messageId);
    if (!state || state.deleted) throw new NotPossible(`There is no message ${messageId}.`);
    core.messages.remove(state);
    return { id: state.id };
  },
  'gateway.drop'({ gateway }) {
    gateway.drop();
    return { id: null };
  },
  'gateway.reconnect'({ gateway }) {
    gateway.reconnect();
    return { id: null };
  },
  'gateway.invalidate'({ gateway }, { resumable }) {
    gateway.invalidate(resumable ?? false);
    return { id: null };
  },
  forget(core) {
    forget(core);
    return { id: null };
  },
};

/** Performs an action and notifies the bot and the listeners. @throws {@link NotPossible} with a sentence. */
export function act(core: Core, action: WorldAction): WorldResult {
  // JSON from outside may contain any name.
  if (!Object.hasOwn(actions, action.do)) throw new NotPossible(`There is no action "${action.do}".`);
  const run = actions[action.do] as (core: Core, action: WorldAction) => WorldResult;
  return run(core, action);
}
