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

const gatewayUrl = ({ url }: Core): string => url.replace(/^http/, 'ws');

const BOT_ROUTES: readonly Route[] = [
  open('GET', '/gateway', (core) => ({ url: gatewayUrl(core) })),
  on('GET', '/gateway/bot', (core) => ({ url: gatewayUrl(core), ...core.gateway.information() })),
  on('GET', '/users/@me', ({ world }) => apiUser(world.users.get(world.botId)!)),
  on('GET', '/users/@me/guilds', (core) => {
    const present = [...core.world.guilds.values()].filter((guild) => guild.present);
    return present.map((guild) => partialGuild(core, guild));
  }),
  on('POST', '/users/@me/channels', (core, { body }) => openDirectMessage(core, body)),
  on('DELETE', '/users/@me/guilds/:guild', (core, { params }) => leave(core, guildOf(core, params.guild!))),
  on('GET', '/users/:user', ({ world }, { params }) => {
    const user = world.users.get(params.user!);
    if (!user) throw errors.unknownUser();
    return apiUser(user);
  }),
  on('GET', '/applications/@me', application),
  on('GET', '/oauth2/applications/@me', application),
];

/** A route below a server that the bot is in. */
const of = (path: string, run: (core: Core, guild: Guild, params: Record<string, string>) => Json): Route =>
  on('GET', `/guilds/:guild${path}`, (core, { params }) => run(core, guildOf(core, params.guild!), params));

export const GUILD_ROUTES: readonly Route[] = [
  ...BOT_ROUTES,
  of('', ({ world }, guild) => ({
    ...apiGuild(world, guild),
    approximate_member_count: guild.members.size,
    approximate_presence_count: guild.members.size,
  })),
  of('/channels', ({ world }, guild) => {
    const channels = world.channelsOf(guild.id).filter((channel) => !isThread(channel));
    return channels.map((channel) => apiChannel(world, channel));
  }),
  of('/threads/active', ({ world }, guild) => {
    const active = world.channelsOf(guild.id).filter((channel) => isThread(channel) && !channel.archived);
    return { threads: active.map((thread) => apiChannel(world, thread)), members: [] };
  }),
  of('/roles', ({ world }, guild) => [...guild.roles.values()].map((role) => apiRole(world, role))),
  of('/roles/:role', ({ world }, guild, { role }) => {
    const found = guild.roles.get(role!);
    if (!found) throw errors.unknownRole();
    return apiRole(world, found);
  }),
  of('/members', ({ world, privilegedIntents }, guild) => {
    if (!privilegedIntents) throw errors.missingAccess();
    return [...guild.members.values()].map((member) => apiMember(world, member));
  }),
  of('/members/:user', ({ world }, guild, { user }) => {
    const id = user === '@me' ? world.botId : user!;
    if (!world.users.has(id)) throw errors.unknownUser();
    const member = guild.members.get(id);
    if (!member) throw errors.unknownMember();
    return apiMember(world, member);
  }),
];
