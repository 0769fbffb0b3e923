import { once } from 'node:events';
import { Client, Events, GatewayIntentBits } from 'discord.js';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { type Discord, seed } from '../../sandbox/discord/index.ts';
import { inTime } from '../until.ts';
import { call, logIn, nextEvent, refusal, standIn } from './bot.ts';

const { harbor, orchid } = seed;

it('lets an unmodified discord.js client log in and sends it the servers', async () => {
  const discord = await standIn();
  const client = await logIn(discord);
  expect(client.user.id).toBe(discord.botId);
  expect(client.application.id).toBe(discord.botId);
  expect(client.guilds.cache.map((guild) => guild.name).sort()).toEqual(['Harbor DAO', 'Orchid Collective']);
  const guild = client.guilds.cache.get(harbor.id)!;
  expect(guild.preferredLocale).toBe('en-US');
  expect(guild.members.me!.permissions.toArray()).toContain('EmbedLinks');
  expect(client.channels.cache.get(harbor.audit)!.isThread()).toBe(true);
  expect(discord.state.sessions).toMatchObject([{ connected: true, shard: [0, 1], intents: 1 }]);
});

it('refuses a wrong token in REST and at the gateway', async () => {
  const discord = await standIn();
  const client = new Client({ intents: [], rest: { api: discord.apiUrl } });
  onTestFinished(() => client.destroy());
  await expect(client.login('wrong')).rejects.toThrow(/token/i);
  const refused = await call(discord, 'GET', '/users/@me', undefined, { authorization: 'Bot wrong' });
  expect(refused).toMatchObject({ status: 401, body: { message: '401: Unauthorized', code: 0 } });
  expect(await closeCode(discord, { op: 2, d: { token: 'wrong', intents: 1, properties: {} } })).toBe(4004);
});

async function closeCode(discord: Discord, ...payloads: unknown[]): Promise<number> {
  const socket = new WebSocket(`${discord.url.replace('http', 'ws')}/?v=10&encoding=json`);
  await inTime('the gateway opens the connection', once(socket, 'open'));
  for (const payload of payloads) socket.send(typeof payload === 'string' ? payload : JSON.stringify(payload));
  const [code] = (await inTime('the gateway closes the connection', once(socket, 'close'))) as [number];
  return code;
}

it('closes gateway connections with the documented codes', async () => {
  const discord = await standIn();
  const identify = (more: object = {}) => ({ op: 2, d: { token: discord.token, intents: 1, properties: {}, ...more } });
  expect(await closeCode(discord, '{')).toBe(4002);
  expect(await closeCode(discord, { op: 99 })).toBe(4001);
  expect(await closeCode(discord, { op: 3, d: {} })).toBe(4003);
  expect(await closeCode(discord, identify(), identify())).toBe(4005);
  expect(await closeCode(discord, identify({ shard: [1, 1] }))).toBe(4010);
  expect(await closeCode(discord, identify({ intents: -1 }))).toBe(4013);
  expect(await closeCode(discord, identify({ intents: GatewayIntentBits.MessageContent }))).toBe(4014);
});

it('resumes a dropped connection, replays the missed events, and makes the bot reconnect with op 7', async () => {
  const discord = await standIn();
  const client = await logIn(discord);
  const resumed = nextEvent(client, Events.ShardResume);
  const renamed = nextEvent(client, Events.ChannelUpdate);
  discord.act({ do: 'gateway.drop' });
  await discord.until('the session is disconnected', ({ state }) => state.sessions[0]?.connected === false);
  discord.act({ do: 'channel.update', channelId: harbor.alerts, name: 'alarms' });
  const [, replayed] = (await resumed) as [number, number];
  await renamed;
  expect(replayed).toBeGreaterThanOrEqual(1);
  expect(client.guilds.cache.get(harbor.id)!.channels.cache.get(harbor.alerts)!.name).toBe('alarms');
  expect(discord.state.counters).toMatchObject({ identifies: 1, resumes: 1 });
  const again = nextEvent(client, Events.ShardResume);
  discord.act({ do: 'gateway.reconnect' });
  await again;
  expect(discord.state.sessions).toMatchObject([{ connected: true, resumed: 2 }]);
});

it('sends the bot changes of servers, channels, roles and members', async () => {
  const discord = await standIn();
  const client = await logIn(discord);
  const guild = client.guilds.cache.get(harbor.id)!;

  const created = nextEvent(client, Events.ChannelCreate);
  const { id } = discord.act({ do: 'channel.create', guildId: harbor.id, name: 'new', topic: 'here' });
  await created;
  expect(guild.channels.cache.get(id!)).toMatchObject({ name: 'new', topic: 'here' });

  const forbidden = nextEvent(client, Events.ChannelUpdate);
  discord.act({ do: 'channel.forbid', channelId: id!, permissions: ['SendMessages'] });
  await forbidden;
  const missing = guild.channels.cache.get(id!)!.permissionsFor(guild.members.me!);
  expect(missing.toArray()).not.toContain('SendMessages');

  const deleted = nextEvent(client, Events.ChannelDelete);
  discord.act({ do: 'channel.delete', channelId: id! });
  await deleted;
  expect([...guild.channels.cache.keys()]).not.toContain(id);

  const roleMade = nextEvent(client, Events.GuildRoleCreate);
  const role = discord.act({ do: 'role.create', guildId: harbor.id, name: 'Crew', permissions: ['ManageGuild'] });
  await roleMade;
  expect(guild.roles.cache.get(role.id!)!.permissions.toArray()).toContain('ManageGuild');
  const roleGone = nextEvent(client, Events.GuildRoleDelete);
  discord.act({ do: 'role.delete', roleId: role.id! });
  await roleGone;

  const threadGone = nextEvent(client, Events.ThreadDelete);
  discord.act({ do: 'channel.delete', channelId: harbor.audit });
  await threadGone;

  const own = nextEvent(client, Events.GuildMemberUpdate);
  discord.act({ do: 'member.update', guildId: harbor.id, userId: discord.botId, roleIds: [], nick: 'Bell' });
  await own;
  expect(guild.members.me!.nickname).toBe('Bell');
});

it('distinguishes a server outage from a removal and a return of the bot', async () => {
  const discord = await standIn();
  const client = await logIn(discord);
  const outage = nextEvent(client, Events.GuildUnavailable);
  discord.act({ do: 'guild.unavailable', guildId: orchid.id });
  await outage;
  const back = nextEvent(client, Events.GuildAvailable);
  discord.act({ do: 'guild.available', guildId: orchid.id });
  await back;
  const removed = nextEvent(client, Events.GuildDelete);
  discord.act({ do: 'guild.remove', guildId: orchid.id });
  await removed;
  expect([...client.guilds.cache.keys()]).not.toContain(orchid.id);
  expect(refusal(await call(discord, 'GET', `/channels/${orchid.lobby}`))).toEqual([403, 50001]);
  const added = nextEvent(client, Events.GuildCreate);
  discord.act({ do: 'guild.add', guildId: orchid.id });
  await added;
  expect(client.guilds.cache.get(orchid.id)!.members.me).toMatchObject({ id: discord.botId });
});

it('sends messages only to sessions with the intent, and their text only with the privileged one', async () => {
  const discord = await standIn({ privilegedIntents: true });
  const { Guilds, GuildMessages, MessageContent } = GatewayIntentBits;
  const quiet = await logIn(discord);
  const blind = await logIn(discord, { intents: [Guilds, GuildMessages] });
  const full = await logIn(discord, { intents: [Guilds, GuildMessages, MessageContent] });
  let heard = 0;
  quiet.on(Events.MessageCreate, () => heard++);
  const texts = [blind, full].map(async (client) => {
    const [message] = await nextEvent(client, Events.MessageCreate);
    return message.content as string;
  });
  discord.act({ do: 'message.send', channelId: harbor.general, userId: seed.mia, content: 'psst' });
  expect(await Promise.all(texts)).toEqual(['', 'psst']);
  const renamed = nextEvent(quiet, Events.ChannelUpdate);
  discord.act({ do: 'channel.update', channelId: harbor.general, name: 'later' });
  await renamed;
  expect(heard).toBe(0);
});

it('sends the same events over a compressed stream', async () => {
  const discord = await standIn();
  const socket = new WebSocket(`${discord.url.replace('http', 'ws')}/?v=10&encoding=json&compress=zlib-stream`);
  onTestFinished(() => socket.terminate());
  const { createInflate } = await import('node:zlib');
  const inflate = createInflate();
  const first = inTime('the gateway sends a compressed event', once(inflate, 'data'));
  socket.on('message', (data) => inflate.write(data as Buffer));
  const [text] = await first;
  expect(JSON.parse(String(text))).toMatchObject({ op: 10, d: { heartbeat_interval: 41_250 } });
});
