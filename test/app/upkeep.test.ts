import pino from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { startUpkeep } from '../../src/app/upkeep.ts';
import { DAY, HOUR } from '../../src/domain/clock.ts';
import { openStore } from '../../src/store/sqlite/client.ts';
import { temporaryFile } from '../lifecycle/bot.ts';
import { GUILD, post, send, txHash } from '../store/contract/given.ts';
import { until } from '../until.ts';

it('keeps transfers for 30 days and then forgets them', async () => {
  const clock = createManualClock();
  const now = clock.now();
  const { store, close } = await openStore(temporaryFile());
  onTestFinished(close);
  for (const [n, seenAt] of [
    [1, now - 30 * DAY - HOUR],
    [2, now - 30 * DAY + 2 * HOUR],
  ] as const) {
    await post(store, [n], { now: seenAt });
    await send(store, {}, seenAt);
  }
  const stop = startUpkeep(store, clock, pino({ level: 'silent' }), {
    look: () => undefined,
    since: (ms) => clock.now() - ms,
    isMember: async () => true,
    onBegun: async () => undefined,
  });
  onTestFinished(stop);
  clock.advance(HOUR);
  const left = async (n: number) => (await store.history.transfers(GUILD, txHash(n), null, now, 9)).total;
  await until('the first transfer is forgotten', async () => (await left(1)) === 0);
  expect(await left(2)).toBe(1);
});
