/** REST: the gateway's address, the bot itself, users and servers. */
import { ApplicationFlags } from 'discord.js';
import { leave } from './act.ts';
import { isThread } from './channel-types.ts';
import type { Core } from './core.ts';
import { errors } from './errors.ts';
import { apiChannel, apiGuild, apiMember, apiRole, apiUser } from './objects.ts';
import { permissionsOf } from './permissions.ts';
import { on, open, type Route } from './route.ts';
import type { Json } from './validate.ts';
import type { Guild } from './world.ts';

/** The privileged intents of an application. */
const PRIVILEGED =
  ApplicationFlags.GatewayPresenceLimited |
  ApplicationFlags.GatewayGuildMembersLimited |
  ApplicationFlags.GatewayMessageContentLimited;

function guildOf(core: Core, id: string): Guild {
  const guild = core.world.guilds.get(id);
  if (!guild) throw errors.unknownGuild();
  if (!guild.present) throw errors.missingAccess();
  return guild;
}

function application(core: Core): Json {
  const bot = core.world.users.get(core.world.botId)!;
  const owner = [...core.world.users.values()].find((user) => !user.bot) ?? bot;
  return {
    id: bot.id,
    name: bot.username,
    icon: null,
    description: '',
    summary: '',
    type: null,
    bot: apiUser(bot),
    bot_public: true,
    bot_require_code_grant: false,
    owner: apiUser(owner),
    team: null,
    verify_key: '0'.repeat(64),
    flags: core.privilegedIntents ? PRIVILEGED : 0,
    approximate_guild_count: [...core.world.guilds.values()].filter((guild) => guild.present).length,
    hook: true,
    redirect_uris: [],
    interactions_endpoint_url: null,
    integration_types_config: { '0': {} },
  };
}

function partialGuild(core: Core, guild: Guild): Json {
  const bot = guild.members.get(core.world.botId)!;
  const permissions = permissionsOf(core.world, guild, bot).toString();
  return { id: guild.id, name: guild.name, icon: null, banner: null, owner: false, permissions, features: [] };
}

function openDirectMessage(core: Core, body: Json): Json {
  const id = String(body?.recipient_id ?? '');
  if (!core.world.users.has(id) || id === core.world.botId) throw errors.unknownUser();
  return apiChannel(core.world, core.world.directMessage(id, core.nextId));
}

function botRoutes(core: Core): Route[] {
  const { world } = core;
  const url = () => core.url.replace(/^http/, 'ws');
  const present = (): Guild[] => [...world.guilds.values()].filter((guild) => guild.present);
  return [
    open('GET', '/gateway', () => ({ url: url() })),
    on('GET', '/gateway/bot', () => ({ url: url(), ...core.gateway.information() })),
    on('GET', '/users/@me', () => apiUser(world.users.get(world.botId)!)),
    on('GET', '/users/@me/guilds', () => present().map((guild) => partialGuild(core, guild))),
    on('POST', '/users/@me/channels', ({ body }) => openDirectMessage(core, body)),
    on('DELETE', '/users/@me/guilds/:guild', ({ params }) => leave(core, guildOf(core, params.guild!))),
    on('GET', '/users/:user', ({ params }) => {
      const user = world.users.get(params.user!);
      if (!user) throw errors.unknownUser();
      return apiUser(user);
    }),
    on('GET', '/applications/@me', () => application(core)),
    on('GET', '/oauth2/applications/@me', () => application(core)),
  ];
}

/** The routes of servers, their members and roles. */
export function guildRoutes(core: Core): Route[] {
  const { world } = core;
  const of = (path: string, run: (guild: Guild, params: Record<string, string>) => Json): Route =>
    on('GET', `/guilds/:guild${path}`, ({ params }) => run(guildOf(core, params.guild!), params));
  return [
    ...botRoutes(core),
    of('', (guild) => ({
      ...apiGuild(world, guild),
      approximate_member_count: guild.members.size,
      approximate_presence_count: guild.members.size,
    })),
    of('/channels', (guild) =>
      world
        .channelsOf(guild.id)
        .filter((channel) => !isThread(channel))
        .map((channel) => apiChannel(world, channel)),
    ),
    of('/threads/active', (guild) => ({
      threads: world
        .channelsOf(guild.id)
        .filter((channel) => isThread(channel) && !channel.archived)
        .map((channel) => apiChannel(world, channel)),
      members: [],
    })),
    of('/roles', (guild) => [...guild.roles.values()].map((role) => apiRole(world, role))),
    of('/roles/:role', (guild, { role }) => {
      const found = guild.roles.get(role!);
      if (!found) throw errors.unknownRole();
      return apiRole(world, found);
    }),
    of('/members', (guild) => {
      if (!core.privilegedIntents) throw errors.missingAccess();
      return [...guild.members.values()].map((member) => apiMember(world, member));
    }),
    of('/members/:user', (guild, { user }) => {
      const id = user === '@me' ? world.botId : user!;
      if (!world.users.has(id)) throw errors.unknownUser();
      const member = guild.members.get(id);
      if (!member) throw errors.unknownMember();
      return apiMember(world, member);
    }),
  ];
}
