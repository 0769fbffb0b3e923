import { writeFileSync } from 'node:fs';
import { Agent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { type Discord, seed } from '../../sandbox/discord/index.ts';
import { accepted, type Bot, startBot, startStandIn, watchingFile } from '../lifecycle/bot.ts';
import { payment } from '../pipeline/harness.ts';
import { until } from '../until.ts';

async function slowBot(): Promise<{ bot: Bot; discord: Discord; setSync(ms: number): void }> {
  const { discord, environment } = await startStandIn();
  const file = await watchingFile();
  const sync = `${file}.sync`;
  const bot = await startBot(file, { ...environment, SYNC: sync, LOG_LEVEL: 'info' });
  await accepted(() => bot.post(JSON.stringify(payment())));
  return { bot, discord, setSync: (ms) => writeFileSync(sync, String(ms)) };
}

/**
 * Expects that a round of deliveries is acknowledged completely. A busy machine may refuse some, but not in every round;
 * a bot that cannot keep up refuses some each time.
 */
const expectAcknowledged = (round: () => Promise<number[]>) =>
  until('a round in which every delivery gets 200', async () => (await round()).every((status) => status === 200));

it('acknowledges 20 events a second and refuses none when each sync takes 50 ms', async () => {
  const { bot, discord, setSync } = await slowBot();
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  setSync(50);
  await expectAcknowledged(() =>
    Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        await new Promise((resolve) => setTimeout(resolve, n * 50));
        return bot.post(JSON.stringify(payment()), { dispatcher: agent });
      }),
    ),
  );
  await discord.until('a second message is posted in #alerts', () => discord.messages(seed.harbor.alerts).length > 1);
});

it('accepts every delivery of a burst over 100 connections when each sync takes 100 ms', async () => {
  const { bot, setSync } = await slowBot();
  const agent = new Agent({ connections: 100 });
  onTestFinished(() => agent.destroy());
  setSync(100);
  await expectAcknowledged(async () => {
    const statuses = Array.from({ length: 100 }, async () => {
      const own: number[] = [];
      for (let n = 0; n < 6; n++) own.push(await bot.post(JSON.stringify(payment()), { dispatcher: agent }));
      return own;
    });
    return (await Promise.all(statuses)).flat();
  });
});

it('logs once that deliveries are refused, with the time of a sync, and turns /readyz red when each takes 2.6 s', async () => {
  const { bot, setSync } = await slowBot();
  setSync(2_600);
  for (let n = 0; n < 4; n++) expect(await bot.post(JSON.stringify(payment()))).toBe(503);
  expect(await bot.database()).toMatchObject({ status: 503, ready: false });
  const reason = expect.stringMatching(/^storing takes too long: the disk took \d{4,} ms to sync/);
  expect(bot.log.filter(({ msg }) => msg.startsWith('cannot store deliveries'))).toMatchObject([{ reason }]);
});
