import type { ChannelState, GuildState, State, UserState } from './control.ts';
import type { Core } from './core.ts';
import { botMaySend, permissionsOf, sees } from './permissions.ts';
import type { Channel, Guild, World } from './world.ts';

const MAX_SHOWN = 200;

export const userStates = (world: World): UserState[] =>
  [...world.users.values()].map(({ acceptsDirectMessages: _, ...user }) => user);

export function channelState(world: World, channel: Channel): ChannelState {
  const { ownerId: _owner, joined: _joined, lastMessageId: _last, ...rest } = channel;
  const people = world.guildOf(channel)?.members.keys() ?? [channel.recipientId ?? '', world.botId];
  return {
    ...rest,
    botMaySend: botMaySend(world, channel),
    visibleTo: [...people].filter((userId) => sees(world, userId, channel)),
  };
}

export function guildState(world: World, guild: Guild): GuildState {
  return {
    ...guild,
    roles: [...guild.roles.values()].map(({ guildId: _guild, managed: _managed, ...role }) => ({
      ...role,
      permissions: role.permissions.toString(),
    })),
    channels: world.channelsOf(guild.id).map((channel) => channelState(world, channel)),
    members: [...guild.members.values()].map((member) => {
      const { guildId: _guild, joinedAt: _joined, ...rest } = member;
      return { ...rest, permissions: permissionsOf(world, guild, member).toString() };
    }),
  };
}

export function wholeState(core: Core): State {
  const { world, messages, gateway, log } = core;
  const channels = [...world.channels.values()];
  return {
    url: core.url,
    apiUrl: `${core.url}/api`,
    applicationId: world.botId,
    botId: world.botId,
    users: userStates(world),
    guilds: [...world.guilds.values()].map((guild) => guildState(world, guild)),
    directMessages: channels.filter(({ guildId }) => guildId === null).map((channel) => channelState(world, channel)),
    commands: core.commands.states(),
    messages: channels.flatMap(({ id }) => messages.in(id).slice(-MAX_SHOWN)),
    interactions: core.interactions.states(),
    faults: core.faults.list(),
    sessions: gateway.states(),
    counters: {
      requests: log.counts.total,
      messages: messages.created,
      rateLimited: log.counts.rateLimited,
      invalidRequests: log.counts.invalid,
      refusedBodies: log.counts.refusedBodies,
      identifies: gateway.counts.identifies,
      refusedIdentifies: gateway.counts.refusedIdentifies,
      resumes: gateway.counts.resumes,
    },
  };
}
