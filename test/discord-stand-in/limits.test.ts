import { expect, it } from 'vitest';
import { createManualClock, type Discord, seed } from '../../sandbox/discord/index.ts';
import { call, standIn } from './bot.ts';

const { harbor } = seed;
const send = (discord: Discord, channelId: string = harbor.general) =>
  call(discord, 'POST', `/channels/${channelId}/messages`, { content: 'x' });

it('allows five messages in 5 s per channel and reports it in headers', async () => {
  const clock = createManualClock();
  const discord = await standIn({ clock });
  const first = await send(discord);
  expect(Object.fromEntries(first.headers)).toMatchObject({
    'x-ratelimit-limit': '5',
    'x-ratelimit-remaining': '4',
    'x-ratelimit-reset-after': '5.000',
    'x-ratelimit-reset': ((clock.now() + 5000) / 1000).toFixed(3),
    'x-ratelimit-bucket': expect.stringMatching(/^[0-9a-f]{32}$/),
  });
  clock.advance(1500);
  for (let more = 0; more < 4; more += 1) expect((await send(discord)).status).toBe(200);
  const refused = await send(discord);
  const body = { message: 'You are being rate limited.', retry_after: 3.5, global: false };
  expect(refused).toMatchObject({ status: 429, body });
  const headers = { 'retry-after': '4', 'x-ratelimit-remaining': '0', 'x-ratelimit-scope': 'user' };
  expect(Object.fromEntries(refused.headers)).toMatchObject(headers);
  expect((await send(discord, harbor.alerts)).status).toBe(200);
  clock.advance(3500);
  expect((await send(discord)).status).toBe(200);
  expect(discord.state.counters).toMatchObject({ rateLimited: 1, invalidRequests: 1, messages: 7 });
});

it('allows 50 requests per second overall, then refuses with a global limit', async () => {
  const discord = await standIn({ clock: createManualClock(), limits: { messages: { limit: 1000, perMs: 1000 } } });
  for (let sent = 0; sent < 50; sent += 1) expect((await send(discord)).status).toBe(200);
  const refused = await send(discord, harbor.alerts);
  expect(refused).toMatchObject({ status: 429, body: { global: true, retry_after: 1 } });
  expect(refused.headers.get('x-ratelimit-global')).toBe('true');
  expect(refused.headers.get('x-ratelimit-scope')).toBe('global');
});
