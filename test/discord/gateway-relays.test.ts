import type { AddressInfo } from 'node:net';
import fastify from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { A, B, lower, TOKEN } from '../commands/world.ts';
import { inTime, until } from '../until.ts';
import { type ChangedOptions, type GatewayBot, startGatewayBot } from './gateway-bot.ts';

const GUILD = '2100000000000000001';
const CHANNEL = '2100000000000000002';
const OTHER = '2100000000000000003';
const ELSEWHERE = '2100000000000000007';
const ROLE = '2100000000000000004';

/** Starts a relay that sends only what discord.js needs to log in: no roles, no members, IDs in place of objects. */
async function startRelay(sendsGuild = true) {
  const app = fastify({ forceCloseConnections: true });
  const requests: { url: string; body: Record<string, unknown> }[] = [];
  const sockets: WebSocket[] = [];
  const identified = Promise.withResolvers<void>();
  app.get('/api/v10/gateway/bot', () => ({
    url: `ws://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    shards: 1,
    session_start_limit: { total: 1000, remaining: 999, reset_after: 0, max_concurrency: 1 },
  }));
  app.all('/api/*', (request, reply) => {
    requests.push({ url: request.url, body: (request.body ?? {}) as Record<string, unknown> });
    return request.method === 'POST' ? reply.code(204).send() : reply.send({ id: '1', channel_id: CHANNEL });
  });
  const server = new WebSocketServer({ server: app.server });
  server.on('connection', (socket) => {
    sockets.push(socket);
    const send = (op: number, d: unknown, t: string | null = null) =>
      socket.send(JSON.stringify({ op, d, t, s: t ? 1 : null }));
    send(10, { heartbeat_interval: 40_000 });
    socket.on('message', (data) => {
      const { op } = JSON.parse((data as Buffer).toString()) as { op: number };
      if (op === 1) send(11, null);
      if (op !== 2) return;
      const user = { id: '2100000000000000009', username: 'Bell', discriminator: '0', avatar: null };
      send(
        0,
        {
          v: 10,
          user,
          guilds: [{ id: GUILD, unavailable: true }],
          session_id: 's',
          resume_gateway_url: '',
          application: { id: user.id, flags: 0 },
        },
        'READY',
      );
      identified.resolve();
      if (!sendsGuild) return;
      send(0, { id: GUILD, name: 'Small', channels: [{ id: CHANNEL, type: 0, name: 'here' }] }, 'GUILD_CREATE');
    });
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    apiUrl: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/api`,
    requests,
    identified: identified.promise,
    /** Uses a command and returns the text of the reply. By then the bot has handled everything that was sent before. */
    async use(name: string, options: object[], member: object, more: object = {}): Promise<string> {
      const from = requests.length;
      const id = String(2_200_000_000_000_000_000n + BigInt(from));
      const [command, sub] = name.split(' ');
      const data = { id: '5', name: command, type: 1, options: [{ name: sub, type: 1, options }] };
      const user = { id: '2100000000000000008', username: 'ada', discriminator: '0', avatar: null };
      const d = {
        id,
        application_id: '1',
        type: 2,
        token: 't',
        version: 1,
        guild_id: GUILD,
        channel_id: CHANNEL,
        data,
      };
      const payload = { ...d, member: { user, joined_at: '2026-01-01T00:00:00Z', roles: [], ...member } };
      for (const [key, value] of Object.entries(more))
        Object.assign(key === 'resolved' ? data : payload, { [key]: value });
      sockets.at(-1)!.send(JSON.stringify({ op: 0, t: 'INTERACTION_CREATE', s: 2, d: payload }));
      const answer = () => requests.slice(from).find(({ url, body }) => url.includes('/messages/') || body.type === 4);
      await until(`the bot replies to /${name}`, () => answer() !== undefined);
      return JSON.stringify(answer()!.body);
    },
    dispatch(t: string, d: object): void {
      sockets.at(-1)!.send(JSON.stringify({ op: 0, t, s: 3, d }));
    },
    end(code: number): void {
      sockets.at(-1)!.close(code);
    },
    close: async () => {
      for (const socket of sockets) socket.terminate();
      server.close();
      await app.close();
    },
  };
}

type Relay = Awaited<ReturnType<typeof startRelay>>;

/** Starts a bot at a relay; two addresses are watched in its one server. */
async function startAt(relay: Relay, changed: ChangedOptions = {}): Promise<GatewayBot> {
  // The tests use more commands than a person may.
  const services = { cooldown: { take: () => null } };
  const bot = await startGatewayBot({ token: 'any.token.works', apiUrl: relay.apiUrl }, changed, { services });
  for (const address of [B, TOKEN]) await subscribe(bot, GUILD, CHANNEL, address);
  return bot;
}

/** Starts a relay and a bot there, until the test ends. `isReady`: the relay sends its server, so that the bot is ready. */
async function startBoth(changed: ChangedOptions = {}, isReady = true): Promise<GatewayBot & { relay: Relay }> {
  const relay = await startRelay(isReady);
  onTestFinished(() => relay.close());
  const bot = await startAt(relay, changed);
  onTestFinished(() => bot.close());
  await (isReady ? untilReady(bot) : inTime('the bot identifies', relay.identified));
  return { ...bot, relay };
}

const untilReady = ({ gateway }: GatewayBot) => until('the gateway is ready', () => gateway.state() === 'ready');

async function subscribe({ app }: GatewayBot, guildId: string, channelId: string, address: string): Promise<void> {
  const wanted = { guildId, channelId, address: lower(address), createdBy: '1', createdAt: 0 };
  expect(await app.internals.store.subscriptions.add(wanted, 1_000)).toMatchObject({ status: 'added' });
}

let relay: Relay;
let bot: GatewayBot;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  relay = stack.adopt(await startRelay(), (it) => it.close());
  bot = stack.adopt(await startAt(relay), (it) => it.close());
  await untilReady(bot);
});
beforeEach(async () => {
  for (const guildId of [GUILD, ELSEWHERE]) await bot.app.internals.working().services.eraseGuild(guildId);
  for (const address of [B, TOKEN]) await subscribe(bot, GUILD, CHANNEL, address);
});
afterAll(() => stack.disposeAsync());

const ADDRESS = { name: 'address', type: 3, value: A };
const MANAGER = { permissions: '32' };

describe('relays that send little', () => {
  it('trusts a proxy’s packet if nothing contradicts it', async () => {
    expect(await relay.use('subscription add', [ADDRESS], MANAGER)).toContain(`<#${CHANNEL}>: every transfer`);
    const there = { name: 'channel', type: 7, value: OTHER };
    expect(await relay.use('subscription add', [ADDRESS, there], MANAGER)).toContain(`<#${OTHER}>: every`);
    expect(await relay.use('subscription list', [there], MANAGER)).toContain('1 subscription');
    const added = (await bot.app.internals.store.subscriptions.list(GUILD)).filter((one) => one.address === lower(A));
    expect(added.map(({ channelId }) => channelId)).toEqual([CHANNEL, OTHER]);
  });

  it('trusts a proxy’s packet that describes a channel beyond its ID', async () => {
    const there = { name: 'channel', type: 7, value: '2100000000000000005' };
    const resolved = { channels: { [there.value]: { id: there.value, type: 4, name: 'Category', permissions: '0' } } };
    expect(await relay.use('subscription add', [ADDRESS, there], MANAGER, { resolved })).toContain(
      'can’t hold messages',
    );
  });

  it('explains that the bot was added by a person and not to the server', async () => {
    const owners = (of: object) => relay.use('subscription list', [], MANAGER, { authorizing_integration_owners: of });
    expect(await owners({ 1: '2100000000000000008' })).toContain('only work in servers');
    for (const of of [{ 0: GUILD }, { 0: GUILD, 1: '2100000000000000008' }])
      expect(await owners(of)).toContain('2 sub');
  });

  it('shows members of a server without the bot only alerts of their channel', async () => {
    const guildId = ELSEWHERE;
    await subscribe(bot, guildId, CHANNEL, A);
    await subscribe(bot, guildId, OTHER, B);
    const list = (member: object) => relay.use('subscription list', [], member, { guild_id: guildId });
    const [member, managing] = [await list({}), await list(MANAGER)];
    expect(member).toContain(A);
    expect(member).not.toContain(B);
    for (const address of [A, B]) expect(managing).toContain(address);
  });

  it('shows people who manage a server without the bot the invitation link', async () => {
    const elsewhere = { guild_id: ELSEWHERE, channel_id: '2100000000000000006' };
    const link =
      /not a member of this server.*\(https:\/\/discord\.com\/oauth2\/authorize\?client_id=\d+&scope=bot\+applications.commands&permissions=277025508352&guild_id=2100000000000000007/;
    expect(await relay.use('subscription add', [ADDRESS], MANAGER, elsewhere)).toMatch(link);
    expect(await relay.use('setup check', [], MANAGER, elsewhere)).toMatch(link);
    expect(await relay.use('setup check', [], MANAGER)).not.toMatch(/not a member/);
  });

  it('grants nobody more rights than they have', async () => {
    expect(await relay.use('subscription add', [ADDRESS], {})).toContain('Manage Server');
    expect(await relay.use('subscription add', [ADDRESS], { permissions: '0' })).toContain('Manage Server');
  });

  it('sets a manager role that the gateway has not described', async () => {
    const role = { name: 'manager', type: 8, value: ROLE };
    expect(await relay.use('setup server', [role], MANAGER)).toContain(`<@&${ROLE}>`);
    expect(await relay.use('subscription list', [], {})).toContain('2 subscriptions');
    expect(await relay.use('setup check', [], { permissions: '0', roles: [ROLE] })).toContain('No event for');
  });

  it('shows members nothing about a server that is not loaded yet, and delays nobody', async () => {
    const late = await startBoth({}, false);
    expect(await late.relay.use('subscription list', [], {})).toContain('No subscriptions');
    // The library waits two seconds for a server that was announced.
    expect(late.gateway.state()).toBe('connecting');
    expect(await late.relay.use('subscription list', [], MANAGER)).toContain('2 subscriptions');
    await untilReady(late);
    await late.relay.use('subscription list', [], {});
    expect(late.relay.requests.filter(({ url }) => url.includes('/callback'))).toHaveLength(3);
  });
});

it('reports that permissions may have changed when the bot gets another role', async () => {
  const changed: unknown[][] = [];
  const { relay } = await startBoth({ membership: { guildChanged: (...change) => void changed.push(change) } });
  changed.length = 0;
  const update = (id: string, roles: string[]) => {
    const user = { id, username: id, discriminator: '0', avatar: null };
    relay.dispatch('GUILD_MEMBER_UPDATE', { guild_id: GUILD, user, roles, joined_at: '2026-01-01T00:00:00Z' });
  };
  for (const roles of [[], [ROLE]]) update('2100000000000000009', roles);
  await relay.use('subscription list', [], MANAGER);
  expect(changed).toEqual([[GUILD]]);
});

it('reports when the bot is added to a private thread, for the first time or again', async () => {
  const changed: unknown[][] = [];
  const { relay } = await startBoth({ membership: { guildChanged: (...change) => void changed.push(change) } });
  changed.length = 0;
  const thread = { id: '2100000000000000007', guild_id: GUILD, parent_id: CHANNEL, type: 12, name: 'inner circle' };
  const member = { id: thread.id, user_id: '2100000000000000009', join_timestamp: '2026-01-01T00:00:00Z', flags: 0 };
  relay.dispatch('THREAD_CREATE', { ...thread, member });
  await relay.use('subscription list', [], MANAGER);
  expect(changed.splice(0)).toEqual([[GUILD, thread.id]]);
  relay.dispatch('THREAD_CREATE', { ...thread, member });
  relay.dispatch('THREAD_MEMBERS_UPDATE', { id: thread.id, guild_id: GUILD, member_count: 2, added_members: [member] });
  await relay.use('subscription list', [], MANAGER);
  expect(changed).toEqual([[GUILD, thread.id]]);
});

it.each([
  { state: 'unauthorized', code: 4004, why: 'the token was reset' },
  { state: 'away', code: 4014, why: 'the bot is kept out for another reason' },
])('is $state after the gateway closed with code $code because $why', async ({ state, code }) => {
  const { relay, gateway } = await startBoth();
  relay.end(code);
  await until('the gateway is no longer ready', () => gateway.state() !== 'ready');
  expect(gateway.state()).toBe(state);
});
