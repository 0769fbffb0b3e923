import { GatewayIntentBits as Intent } from 'discord.js';
import { isThread } from './channel-types.ts';
import { iso } from './clock.ts';
import type { Core } from './core.ts';
import { apiChannel, apiMember, apiRole } from './objects.ts';
import { botPermissions } from './permissions.ts';
import { guildState } from './state.ts';
import type { Channel, Guild, Member, Role } from './world.ts';

type Change = 'CREATE' | 'UPDATE' | 'DELETE';

export function notifyGuild(core: Core, guild: Guild): void {
  core.events.emit({ type: 'guild', guild: guildState(core.world, guild) });
}

function send(core: Core, guild: Guild, name: string, data: object, intents: number, isSeen = true): void {
  if (isSeen && guild.present && guild.available) core.gateway.dispatch(name, data, { guildId: guild.id, intents });
  notifyGuild(core, guild);
}

export function notifyThread(core: Core, thread: Channel, change: Change): void {
  const { id, guildId, parentId, type } = thread;
  const whole = { ...apiChannel(core.world, thread), ...(change === 'CREATE' && { newly_created: true }) };
  const data = change === 'DELETE' ? { id, guild_id: guildId, parent_id: parentId, type } : whole;
  // Discord sends bots every channel, but only the threads that they can see.
  const isSeen = botPermissions(core.world, thread) !== 0n;
  send(core, guildOf(core, thread), `THREAD_${change}`, data, Intent.Guilds, isSeen);
}

/** The bot's own membership of a private thread changed. Other members are not reported. */
export function notifyMembership(core: Core, thread: Channel): void {
  const { id, guildId: guild_id, joined } = thread;
  const { botId: user_id } = core.world;
  const member = { id, user_id, join_timestamp: iso(core.clock.now()), flags: 0 };
  const members = { id, guild_id, member_count: joined ? 2 : 1 };
  const changed = joined ? { added_members: [member] } : { removed_member_ids: [user_id] };
  const guild = guildOf(core, thread);
  if (joined) send(core, guild, 'THREAD_CREATE', { ...apiChannel(core.world, thread), member }, Intent.Guilds);
  send(core, guild, 'THREAD_MEMBERS_UPDATE', { ...members, ...changed }, Intent.Guilds);
}

const guildOf = (core: Core, { guildId }: Channel): Guild => core.world.guilds.get(guildId!)!;

/** A deletion also removes the channel's messages and threads. */
export function notifyChannel(core: Core, channel: Channel, change: Change): void {
  const guild = core.world.guildOf(channel);
  if (!guild) return;
  if (change === 'DELETE') {
    core.world.removeChannel(channel.id);
    core.messages.removeChannel(channel.id);
    for (const thread of core.world.channelsOf(guild.id))
      if (isThread(thread) && thread.parentId === channel.id) notifyChannel(core, thread, 'DELETE');
  }
  if (isThread(channel)) notifyThread(core, channel, change);
  else send(core, guild, `CHANNEL_${change}`, apiChannel(core.world, channel), Intent.Guilds);
}

export function notifyRole(core: Core, role: Role, change: Change): void {
  const guild = core.world.guilds.get(role.guildId)!;
  const data = change === 'DELETE' ? { role_id: role.id } : { role: apiRole(core.world, role) };
  send(core, guild, `GUILD_ROLE_${change}`, { guild_id: guild.id, ...data }, Intent.Guilds);
}

/** The bot gets its own updates always, the rest only with the privileged intent. */
export function notifyMember(core: Core, member: Member, change: 'ADD' | 'UPDATE' | 'REMOVE'): void {
  const guild = core.world.guilds.get(member.guildId)!;
  const own = member.userId === core.world.botId;
  const whole = apiMember(core.world, member);
  const data = change === 'REMOVE' ? { user: whole.user } : whole;
  const intents = own && change === 'UPDATE' ? 0 : Intent.GuildMembers;
  send(core, guild, `GUILD_MEMBER_${change}`, { guild_id: guild.id, ...data }, intents);
}
