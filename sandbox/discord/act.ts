import { ChannelType, GatewayIntentBits as Intent } from 'discord.js';
import type { Overwrite, WorldAction, WorldResult } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import { MAX_CONTENT } from './message-rules.ts';
import { notifyChannel, notifyGuild, notifyMember, notifyMembership, notifyRole } from './notify.ts';
import { apiGuild, guildCreate } from './objects.ts';
import { bits, sees } from './permissions.ts';
import { BOT_PERMISSIONS, EVERYONE_PERMISSIONS } from './seed.ts';
import { channelState, userStates } from './state.ts';
import type { Channel, Guild, Member, Role, User } from './world.ts';

type ActionOf<D extends WorldAction['do']> = Extract<WorldAction, { do: D }>;

function existing<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new NotPossible(`There is no ${what}.`);
  return found;
}

const user = ({ world }: Core, id: string): User => existing(world.users.get(id), `user ${id}`);
const guild = ({ world }: Core, id: string): Guild => existing(world.guilds.get(id), `server ${id}`);
const channel = ({ world }: Core, id: string): Channel => existing(world.channels.get(id), `channel ${id}`);
const role = ({ world }: Core, id: string): Role => existing(world.role(id), `role ${id}`);
const member = (core: Core, guildId: string, userId: string): Member =>
  existing(guild(core, guildId).members.get(userId), `member ${userId} of server ${guildId}`);

function enter(core: Core, into: Guild): void {
  const { world, clock } = core;
  const bot = world.users.get(world.botId)!;
  const own =
    [...into.roles.values()].find(({ managed }) => managed) ??
    world.addRole({
      id: core.nextId(),
      guildId: into.id,
      name: bot.displayName,
      permissions: bits(BOT_PERMISSIONS),
      managed: true,
    });
  world.update(into, { present: true });
  world.addMember({ guildId: into.id, userId: bot.id, roleIds: [own.id], joinedAt: clock.now() });
  showGuild(core, into);
}

export function leave(core: Core, guild: Guild): void {
  if (!guild.present) return;
  core.world.update(guild, { present: false });
  core.world.removeMember(guild.id, core.world.botId);
  hideGuild(core, guild);
}

function showGuild(core: Core, shown: Guild): void {
  core.gateway.dispatch('GUILD_CREATE', guildCreate(core.world, shown), { guildId: shown.id, intents: Intent.Guilds });
  notifyGuild(core, shown);
}

function hideGuild(core: Core, { id }: Guild, outage: { unavailable?: true } = {}): void {
  core.gateway.dispatch('GUILD_DELETE', { id, ...outage }, { guildId: id, intents: Intent.Guilds });
  notifyGuild(core, guild(core, id));
}

function checkOverwrites(overwrites: Overwrite[] = []): void {
  for (const { id, type, allow, deny } of overwrites)
    if (![id, allow, deny].every((text) => /^\d+$/.test(text)) || (type !== 0 && type !== 1))
      throw new NotPossible('An overwrite has an id, a type (0 role, 1 member), and decimal text in allow and deny.');
}

/** 0n removes the bot's own overwrite. */
function setBotOverwrite(core: Core, on: Channel, deny: bigint): void {
  const { botId } = core.world;
  const others = on.overwrites.filter(({ id }) => id !== botId);
  const own: Overwrite[] = deny === 0n ? [] : [{ id: botId, type: 1, allow: '0', deny: deny.toString() }];
  core.world.update(on, { overwrites: [...others, ...own] });
  notifyChannel(core, on, 'UPDATE');
}

function setJoined(core: Core, thread: Channel, joined: boolean): void {
  core.world.update(thread, { joined });
  notifyMembership(core, thread);
}

const actions: { [Do in WorldAction['do']]: (core: Core, action: ActionOf<Do>) => string | undefined } = {
  'user.create'(core, { username, displayName = username, locale = 'en-US' }) {
    const { id } = core.world.addUser({ id: core.nextId(), username, displayName, locale });
    core.events.emit({ type: 'users', users: userStates(core.world) });
    return id;
  },
  'user.update'(core, { userId, locale, displayName, acceptsDirectMessages }) {
    core.world.update(user(core, userId), { locale, displayName, acceptsDirectMessages });
    core.events.emit({ type: 'users', users: userStates(core.world) });
    return userId;
  },
  'guild.create'(core, { name, locale = 'en-US', ownerId }) {
    const owner = user(core, ownerId).id;
    const made = core.world.addGuild({ id: core.nextId(), name, locale, ownerId: owner }, bits(EVERYONE_PERMISSIONS));
    core.world.addMember({ guildId: made.id, userId: owner, joinedAt: core.clock.now() });
    enter(core, made);
    return made.id;
  },
  'guild.update'(core, { guildId, name, locale }) {
    const changed = guild(core, guildId);
    core.world.update(changed, { name, locale });
    core.gateway.dispatch('GUILD_UPDATE', apiGuild(core.world, changed), { guildId, intents: Intent.Guilds });
    notifyGuild(core, changed);
    return guildId;
  },
  'guild.unavailable'(core, { guildId }) {
    core.world.update(guild(core, guildId), { available: false });
    hideGuild(core, guild(core, guildId), { unavailable: true });
    return guildId;
  },
  'guild.available'(core, { guildId }) {
    core.world.update(guild(core, guildId), { available: true });
    showGuild(core, guild(core, guildId));
    return guildId;
  },
  'guild.remove'(core, { guildId }) {
    leave(core, guild(core, guildId));
    return guildId;
  },
  'guild.add'(core, { guildId }) {
    if (!guild(core, guildId).present) enter(core, guild(core, guildId));
    return guildId;
  },
  'channel.create'(core, { guildId, name, type = ChannelType.GuildText, topic = null, parentId, overwrites = [] }) {
    checkOverwrites(overwrites);
    const made = core.world.addChannel({
      id: core.nextId(),
      guildId: guild(core, guildId).id,
      type,
      name,
      topic,
      parentId: parentId === undefined ? null : channel(core, parentId).id,
      overwrites,
    });
    notifyChannel(core, made, 'CREATE');
    return made.id;
  },
  'channel.update'(core, { channelId, name, topic, overwrites, archived, locked }) {
    const changed = channel(core, channelId);
    checkOverwrites(overwrites);
    core.world.update(changed, { name, topic, overwrites, archived, locked });
    notifyChannel(core, changed, 'UPDATE');
    return channelId;
  },
  'channel.delete'(core, { channelId }) {
    notifyChannel(core, channel(core, channelId), 'DELETE');
    return channelId;
  },
  'channel.forbid'(core, { channelId, permissions }) {
    setBotOverwrite(core, channel(core, channelId), bits(permissions ?? ['ViewChannel']));
    return channelId;
  },
  'channel.allow'(core, { channelId }) {
    setBotOverwrite(core, channel(core, channelId), 0n);
    return channelId;
  },
  'thread.expel'(core, { channelId }) {
    const thread = channel(core, channelId);
    if (thread.type !== ChannelType.PrivateThread || !thread.joined)
      throw new NotPossible(`The bot is not in #${thread.name}.`);
    setJoined(core, thread, false);
    return channelId;
  },
  'role.create'(core, { guildId, name, permissions = [], color = 0, mentionable = false }) {
    const of = guild(core, guildId).id;
    const id = core.nextId();
    const made = core.world.addRole({ id, guildId: of, name, color, mentionable, permissions: bits(permissions) });
    notifyRole(core, made, 'CREATE');
    return id;
  },
  'role.update'(core, { roleId, name, mentionable, permissions }) {
    const changed = role(core, roleId);
    core.world.update(changed, { name, mentionable, permissions: permissions && bits(permissions) });
    notifyRole(core, changed, 'UPDATE');
    return roleId;
  },
  'role.delete'(core, { roleId }) {
    const gone = role(core, roleId);
    if (gone.id === gone.guildId || gone.managed) throw new NotPossible(`The role ${gone.name} cannot be deleted.`);
    core.world.removeRole(gone);
    notifyRole(core, gone, 'DELETE');
    return roleId;
  },
  'member.add'(core, action) {
    const guildId = guild(core, action.guildId).id;
    const userId = user(core, action.userId).id;
    const roleIds = action.roleIds ?? [];
    notifyMember(core, core.world.addMember({ guildId, userId, roleIds, joinedAt: core.clock.now() }), 'ADD');
    return userId;
  },
  'member.update'(core, { guildId, userId, roleIds, nick }) {
    const changed = member(core, guildId, userId);
    for (const id of roleIds ?? []) role(core, id);
    core.world.update(changed, { roleIds, nick });
    notifyMember(core, changed, 'UPDATE');
    return userId;
  },
  'member.remove'(core, { guildId, userId }) {
    const gone = member(core, guildId, userId);
    if (userId === core.world.botId) throw new NotPossible('To remove the bot, use guild.remove.');
    core.world.removeMember(guildId, userId);
    notifyMember(core, gone, 'REMOVE');
    return userId;
  },
  'dm.open'(core, { userId }) {
    const dm = core.world.directMessage(user(core, userId).id, core.nextId);
    core.events.emit({ type: 'direct-message', channel: channelState(core.world, dm) });
    return dm.id;
  },
  'message.send'(core, { channelId, userId, content }) {
    const on = channel(core, channelId);
    const author = user(core, userId);
    if (!sees(core.world, author.id, on)) throw new NotPossible(`User ${author.id} does not see #${on.name}.`);
    if (typeof content !== 'string' || content.trim() === '') throw new NotPossible('A message needs content.');
    if (content.length > MAX_CONTENT) throw new NotPossible(`A message has at most ${MAX_CONTENT} characters.`);
    // A mention adds the bot to a private thread.
    if (on.type === ChannelType.PrivateThread && !on.joined && content.includes(`<@${core.world.botId}>`))
      setJoined(core, on, true);
    return core.messages.create({ channel: on, author, body: { content }, uploads: [] }).id;
  },
  'message.delete'(core, { messageId }) {
    const state = core.messages.get(messageId);
    if (!state || state.deleted) throw new NotPossible(`There is no message ${messageId}.`);
    core.messages.remove(state);
    return messageId;
  },
  'gateway.drop'({ gateway }) {
    gateway.drop();
  },
  'gateway.reconnect'({ gateway }) {
    gateway.reconnect();
  },
  'gateway.invalidate'({ gateway }, { resumable }) {
    gateway.invalidate(resumable ?? false);
  },
  forget({ messages, interactions, faults, log, gateway, events }) {
    messages.forget();
    interactions.forget();
    faults.clear();
    log.forget();
    Object.assign(gateway.counts, { identifies: 0, refusedIdentifies: 0, resumes: 0 });
    events.emit({ type: 'reset' });
  },
};

/** @throws {@link NotPossible} with a sentence. */
export function act(core: Core, action: WorldAction): WorldResult {
  // JSON from outside may contain any name.
  if (!Object.hasOwn(actions, action.do)) throw new NotPossible(`There is no action "${action.do}".`);
  const run = actions[action.do] as (core: Core, action: WorldAction) => string | undefined;
  return { id: run(core, action) ?? null };
}
