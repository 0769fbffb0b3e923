import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Events, type Interaction } from 'discord.js';
import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { type ControlEvent, type Discord, type State, seed } from '../../sandbox/discord/index.ts';
import { inTime } from '../until.ts';
import { call, eventsOf, logIn, standIn } from './bot.ts';

const { harbor } = seed;

async function control(discord: Discord, method: string, path: string, body?: unknown, headers: object = {}) {
  const response = await fetch(`${discord.url}/_control${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

it('returns the whole state, and asks a new listener to read it before the events that follow', async () => {
  const discord = await standIn();
  await call(discord, 'POST', `/channels/${harbor.general}/messages`, { content: 'before' });
  const state: State = (await control(discord, 'GET', '/state')).body;
  expect(state).toMatchObject({ url: discord.url, apiUrl: discord.apiUrl, botId: discord.botId });
  expect(state.guilds.map(({ name }) => name)).toEqual(['Harbor DAO', 'Orchid Collective']);
  expect(state.messages.map(({ message }) => message.content)).toEqual(['before']);
  const treasury = state.guilds[0]!.channels.find(({ id }) => id === harbor.treasury)!;
  expect(treasury).toMatchObject({ botMaySend: true });
  expect([...treasury.visibleTo].sort()).toEqual([seed.bot, seed.ada, seed.max].sort());
  const seen: string[] = [];
  for await (const event of eventsOf<ControlEvent>(`${discord.url}/_control/events`)) {
    seen.push(event.type);
    if (event.type === 'reset')
      await call(discord, 'POST', `/channels/${harbor.general}/messages`, { content: 'after' });
    if (event.type === 'message')
      expect(event).toMatchObject({ change: 'created', message: { message: { content: 'after' } } });
    if (event.type === 'request') break;
  }
  expect(seen).toEqual(['reset', 'message', 'request']);
});

it('performs interactions, world changes and faults over HTTP', async () => {
  const discord = await standIn();
  const client = await logIn(discord);
  await client.application.commands.set([{ name: 'ping', description: 'd' }]);
  const answer = async (interaction: Interaction): Promise<void> => {
    if (!interaction.isChatInputCommand()) return;
    await interaction.deferReply();
    await interaction.editReply('pong');
  };
  client.on(Events.InteractionCreate, (interaction) => void answer(interaction));
  const ping = { kind: 'command', userId: seed.mia, channelId: harbor.general, name: 'ping' };
  const used = await control(discord, 'POST', '/interactions?wait=final', ping);
  expect(used.body).toMatchObject({ status: 'acknowledged', reply: { message: { content: 'pong' } } });
  expect((await control(discord, 'GET', `/interactions/${used.body.id}`)).body).toMatchObject({ id: used.body.id });

  const made = await control(discord, 'POST', '/world', { do: 'channel.create', guildId: harbor.id, name: 'made' });
  expect(client.guilds.cache.get(harbor.id)!.id).toBe(harbor.id);
  expect((await call(discord, 'GET', `/channels/${made.body.id}`)).body.name).toBe('made');

  const fault = await control(discord, 'POST', '/faults', { fault: { kind: 'error', status: 500 } });
  expect((await call(discord, 'GET', '/users/@me')).status).toBe(500);
  expect((await control(discord, 'GET', '/faults')).body).toMatchObject([{ id: fault.body.id, hits: 1 }]);
  expect((await control(discord, 'DELETE', `/faults/${fault.body.id}`)).status).toBe(204);
  expect((await call(discord, 'GET', '/users/@me')).status).toBe(200);

  const requests = (await control(discord, 'GET', '/requests')).body;
  expect(requests.at(-1)).toMatchObject({ method: 'GET', path: '/users/@me', status: 200 });
  expect(JSON.stringify(requests)).not.toContain(discord.token);
  const [message] = (await control(discord, 'GET', `/messages?channelId=${harbor.general}`)).body;
  expect(message.history).toHaveLength(2);
});

it('refuses an impossible control request with a sentence', async () => {
  const discord = await standIn();
  const refused = async (path: string, body: unknown) => (await control(discord, 'POST', path, body)).body.error;
  expect(await refused('/world', { do: 'fly' })).toBe('There is no action "fly".');
  expect(await refused('/world', { do: 'channel.delete', channelId: '1' })).toBe('There is no channel 1.');
  expect(await refused('/faults', { fault: { kind: 'rain' } })).toMatch(/must be one of error, rate-limit/);
  const request = { kind: 'command', name: 'x', userId: seed.mia, channelId: harbor.general };
  expect(await refused('/interactions', request)).toMatch(/no command "x" here/);
  expect(await refused('/interactions', { ...request, kind: 'shout' })).toMatch(/no kind of interaction "shout"/);
});

it('refuses control requests of foreign sites, also after a DNS change, and accepts those of local pages', async () => {
  const discord = await standIn();
  const from = (origin: string) => control(discord, 'GET', '/state', undefined, { origin });
  expect((await from('https://evil.example')).status).toBe(403);
  const own = await from('http://localhost:3000');
  expect([own.status, own.headers.get('access-control-allow-origin')]).toEqual([200, 'http://localhost:3000']);
  const as = async (host: string) => {
    const { statusCode, body } = await request(`${discord.url}/_control/state`, { headers: { host } });
    await body.dump();
    return statusCode;
  };
  expect(await as('evil.example')).toBe(403);
  expect(await as(`localhost.evil.example:${new URL(discord.url).port}`)).toBe(403);
  expect(await as(`localhost:${new URL(discord.url).port}`)).toBe(200);
});

it('starts on its own, and prints how to use it', async () => {
  const env = { ...process.env, DISCORD_PORT: '0' };
  const child = spawn(process.execPath, ['sandbox/discord/main.ts'], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [text] = (await inTime('the stand-in prints how to use it', once(child.stdout, 'data'))) as [Buffer];
  const url = /http:\/\/127\.0\.0\.1:(\d+)/.exec(String(text))!;
  expect(String(text)).toContain(`DISCORD_API_URL=${url[0]}/api`);
  child.kill('SIGTERM');
  expect(await inTime('the stand-in ends', once(child, 'exit'))).toEqual([0, null]);
});
