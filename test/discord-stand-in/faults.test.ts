import { REST } from 'discord.js';
import { expect, it } from 'vitest';
import { createManualClock, type Discord, type Fault, seed } from '../../sandbox/discord/index.ts';
import { inTime } from '../until.ts';
import { call, standIn } from './bot.ts';

const { harbor } = seed;
const send = (discord: Discord, channelId: string = harbor.general) =>
  call(discord, 'POST', `/channels/${channelId}/messages`, { content: 'x' });
const stored = (discord: Discord) => discord.messages(harbor.general).length;

it('responds with the chosen error for the chosen number of requests, then normally', async () => {
  const discord = await standIn();
  const fault = discord.fault({
    fault: { kind: 'error', status: 403, code: 50013, message: 'Missing Permissions' },
    times: 2,
  });
  for (let hit = 0; hit < 2; hit += 1)
    expect(await send(discord)).toMatchObject({ status: 403, body: { code: 50013, message: 'Missing Permissions' } });
  expect((await send(discord)).status).toBe(200);
  expect(fault.hits).toBe(2);
  expect(stored(discord)).toBe(1);
  expect(discord.requests().map((one) => [one.status, one.code, one.fault])).toEqual([
    [403, 50013, 'error'],
    [403, 50013, 'error'],
    [200, null, null],
  ]);
});

it('applies a fault only to the given channel, method and path, after the given number of requests', async () => {
  const discord = await standIn({ limits: 'none' });
  const fault: Fault = { kind: 'error', status: 500 };
  const aims = [
    { channelId: harbor.general },
    { method: 'POST', path: `/channels/${harbor.general}/messages` },
    { path: '/channels/:channel/messages', skip: 1 },
    { path: `/channels/${harbor.general}/**` },
  ];
  const outcomes: string[] = [];
  for (const aim of aims) {
    const active = discord.fault({ fault, ...aim });
    const read = await call(discord, 'GET', `/channels/${harbor.general}`);
    outcomes.push(
      [read, await send(discord, harbor.alerts), await send(discord)].map(({ status }) => status).join(' '),
    );
    active.clear();
  }
  expect(outcomes).toEqual(['500 200 500', '200 200 500', '200 200 500', '500 200 500']);
  expect((await send(discord)).status).toBe(200);
});

it('ends a fault after its duration', async () => {
  const clock = createManualClock();
  const discord = await standIn({ clock });
  discord.fault({ fault: { kind: 'error', status: 503 }, forMs: 60_000 });
  clock.advance(59_999);
  expect((await send(discord)).status).toBe(503);
  clock.advance(1);
  expect((await send(discord)).status).toBe(200);
});

it('responds 429 with rate-limit headers, or without any', async () => {
  const discord = await standIn();
  discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 2500 }, times: 1 });
  discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 1000, global: true }, times: 1 });
  discord.fault({ fault: { kind: 'rate-limit', retryAfterMs: 1000, headers: false }, times: 1 });
  const [own, everything, bare] = [await send(discord), await send(discord), await send(discord)];
  expect([own.status, own.headers.get('retry-after')]).toEqual([429, '3']);
  expect(own.body).toMatchObject({ retry_after: 2.5, global: false });
  expect([everything.headers.get('x-ratelimit-global'), everything.body.global]).toEqual(['true', true]);
  expect([bare.status, bare.headers.get('retry-after'), bare.body.retry_after]).toEqual([429, null, undefined]);
  expect(discord.state.counters.rateLimited).toBe(3);
});

it.each([403, 429, 502])("responds %i with Cloudflare's HTML page", async (status) => {
  const discord = await standIn();
  discord.fault({ fault: { kind: 'cloudflare', status }, times: 1 });
  const answer = await send(discord);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=UTF-8']);
  expect(answer.body).toContain('Cloudflare');
  expect(stored(discord)).toBe(0);
});

it.each<[Fault, number, message: string]>([
  [{ kind: 'cut' }, 1, 'terminated'],
  [{ kind: 'lost' }, 1, 'fetch failed'],
  [{ kind: 'reset' }, 0, 'fetch failed'],
])(
  'breaks the connection of a request for the fault %j, after which %i messages exist',
  async (fault, kept, message) => {
    const discord = await standIn();
    discord.fault({ fault, times: 1 });
    await expect(send(discord)).rejects.toThrow(message);
    expect(stored(discord)).toBe(kept);
    expect(discord.requests()).toMatchObject([{ status: null, fault: fault.kind }]);
    expect((await send(discord)).status).toBe(200);
  },
);

it.each([true, false])('never responds to a hanging request, whether it takes effect or not (%s)', async (done) => {
  const discord = await standIn();
  const fault = discord.fault({ fault: { kind: 'hang', done }, times: 1 });
  const rest = new REST({ api: discord.apiUrl, timeout: 300_000, retries: 0 }).setToken(discord.token);
  const patience = new AbortController();
  const path = `/channels/${harbor.general}/messages` as const;
  const answer = rest.post(path, { body: { content: 'x' }, signal: patience.signal });
  await discord.until('the hanging request arrives', () => fault.hits === 1 && stored(discord) === (done ? 1 : 0));
  // A response would be sent in this turn of the event loop and read in the next ones.
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  patience.abort();
  await expect(answer).rejects.toThrow(/abort/i);
  expect([fault.hits, stored(discord)]).toEqual([1, done ? 1 : 0]);
});

it('delays a response by the given time', async () => {
  const clock = createManualClock();
  const discord = await standIn({ clock });
  discord.fault({ fault: { kind: 'delay', ms: 2000 }, times: 1 });
  const met = discord.next(({ type }) => type === 'faults');
  const answer = send(discord);
  await inTime('the delayed request arrives', met);
  expect(stored(discord)).toBe(0);
  await new Promise(setImmediate);
  clock.advance(2000);
  expect((await answer).status).toBe(200);
});

it('refuses all connections while Discord is away, and accepts them afterwards', async () => {
  const clock = createManualClock();
  const discord = await standIn({ clock });
  discord.fault({ fault: { kind: 'away' }, forMs: 60_000 });
  await expect(send(discord)).rejects.toThrow('fetch failed');
  clock.advance(60_000);
  expect((await send(discord)).status).toBe(200);
});
