import { expect, it, onTestFinished } from 'vitest';
import { seed, startDiscord } from '../../sandbox/discord/index.ts';
import { createSender } from '../../src/discord/sender.ts';

it('a look for a message tells of each of its requests, so that all of them are paced', async () => {
  const discord = await startDiscord({ seed: 'default', limits: 'none' });
  onTestFinished(() => discord.close());
  const sender = createSender({ token: discord.token, apiUrl: discord.apiUrl });
  for (let n = 0; n < 101; n++) await sender.create(seed.harbor.alerts, { content: `line ${n}` }, `nonce-${n}`);
  const before = discord.requests().at(-1)!.number;
  let told = 0;
  const found = await sender.find(seed.harbor.alerts, 'nowhere', Date.now() - 60_000, () => told++);
  expect(found).toEqual({ status: 'absent' });
  expect(told).toBeGreaterThan(1);
  expect(discord.requests(before)).toHaveLength(told);
});
