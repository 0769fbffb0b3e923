/** Changes to servers and channels by owners and Discord itself. Each change is sent to the bot. */
import { ChannelType, GatewayIntentBits as Intent } from 'discord.js';
import type { Overwrite, WorldAction, WorldResult } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import { channel, guild, user } from './named.ts';
import { notifyChannel, notifyGuild } from './notify.ts';
import { guildCreate } from './objects.ts';
import { bits } from './permissions.ts';
import { BOT_PERMISSIONS, EVERYONE_PERMISSIONS } from './seed.ts';
import type { Channel, Guild } from './world.ts';

/** The action of a kind, or of one of several. */
export type ActionOf<D extends WorldAction['do']> = Extract<WorldAction, { do: D }>;

/** Adds the bot's own role and membership. */
function joinBot(core: Core, into: Guild): void {
  const { botId } = core.world;
  const own =
    [...into.roles.values()].find(({ managed }) => managed) ??
    core.world.addRole({
      id: core.nextId(),
      guildId: into.id,
      name: core.world.users.get(botId)!.displayName,
      permissions: bits(BOT_PERMISSIONS),
      managed: true,
    });
  core.world.addMember({ guildId: into.id, userId: botId, roleIds: [own.id], joinedAt: core.clock.now() });
}

/** Creates a server with its owner and the bot. */
export function createGuild(core: Core, action: ActionOf<'guild.create'>): WorldResult {
  const owner = user(core, action.ownerId);
  const made = core.world.addGuild(
    { id: core.nextId(), name: action.name, locale: action.locale ?? 'en-US', ownerId: owner.id },
    bits(EVERYONE_PERMISSIONS),
  );
  core.world.addMember({ guildId: made.id, userId: owner.id, joinedAt: core.clock.now() });
  joinBot(core, made);
  showGuild(core, made);
  return { id: made.id };
}

function showGuild(core: Core, shown: Guild): void {
  core.gateway.dispatch('GUILD_CREATE', guildCreate(core.world, shown), { guildId: shown.id, intents: Intent.Guilds });
  notifyGuild(core, shown);
}

function hideGuild(core: Core, hidden: Guild, unavailable: boolean): void {
  const data = { id: hidden.id, ...(unavailable && { unavailable: true }) };
  core.gateway.dispatch('GUILD_DELETE', data, { guildId: hidden.id, intents: Intent.Guilds });
  notifyGuild(core, hidden);
}

/** Removes the bot from the server. */
export function leave(core: Core, left: Guild): void {
  if (!left.present) return;
  core.world.update(left, { present: false });
  core.world.removeMember(left.id, core.world.botId);
  hideGuild(core, left, false);
}

/** Server outages, and adding and removing the bot. */
export function changeGuild(
  core: Core,
  action: ActionOf<'guild.unavailable' | 'guild.available' | 'guild.remove' | 'guild.add'>,
): WorldResult {
  const on = guild(core, action.guildId);
  switch (action.do) {
    case 'guild.unavailable':
      core.world.update(on, { available: false });
      hideGuild(core, on, true);
      break;
    case 'guild.available':
      core.world.update(on, { available: true });
      showGuild(core, on);
      break;
    case 'guild.remove':
      leave(core, on);
      break;
    case 'guild.add':
      if (!on.present) enter(core, on);
  }
  return { id: on.id };
}

function enter(core: Core, entered: Guild): void {
  core.world.update(entered, { present: true });
  joinBot(core, entered);
  showGuild(core, entered);
}

/** @throws {@link NotPossible} when this is not a permission overwrite. */
export function checkOverwrites(overwrites: Overwrite[] = []): void {
  for (const { id, type, allow, deny } of overwrites)
    if (![id, allow, deny].every((text) => /^\d+$/.test(text)) || (type !== 0 && type !== 1))
      throw new NotPossible('An overwrite has an id, a type (0 role, 1 member), and decimal text in allow and deny.');
}

/** Creates a channel at the end of its server. */
export function createChannel(core: Core, action: ActionOf<'channel.create'>): WorldResult {
  checkOverwrites(action.overwrites);
  const made = core.world.addChannel({
    id: core.nextId(),
    guildId: guild(core, action.guildId).id,
    type: action.type ?? ChannelType.GuildText,
    name: action.name,
    topic: action.topic ?? null,
    parentId: action.parentId === undefined ? null : channel(core, action.parentId).id,
    overwrites: action.overwrites ?? [],
  });
  notifyChannel(core, made, 'CREATE');
  return { id: made.id };
}

/** Sets the bot's own overwrite, or removes it (0n). */
export function setBotOverwrite(core: Core, on: Channel, deny: bigint): void {
  const { botId } = core.world;
  const others = on.overwrites.filter(({ id }) => id !== botId);
  const own: Overwrite[] = deny === 0n ? [] : [{ id: botId, type: 1, allow: '0', deny: deny.toString() }];
  core.world.update(on, { overwrites: [...others, ...own] });
  notifyChannel(core, on, 'UPDATE');
}
