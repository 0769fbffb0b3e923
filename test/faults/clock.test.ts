import pino from 'pino';
import { request } from 'undici';
import { beforeEach, describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE } from '../../src/domain/clock.ts';
import { accepted, startBot, startStandIn, watchingFile } from '../lifecycle/bot.ts';
import { ALERTS, payment, TREASURY } from '../pipeline/harness.ts';
import { pipeline, usePipeline } from '../pipeline/per-test.ts';
import { until } from '../until.ts';

describe('what a bot remembers', () => {
  let logged: string[];
  beforeEach(async () => {
    logged = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
    await usePipeline({ log });
    await pipeline.watch(TREASURY, ALERTS);
  });

  it.each([
    // Once a minute the bot records that it works.
    ['is 40 days ahead at a start', 1.5 * MINUTE, () => pipeline.restart(), /^clock is ahead/],
    ['jumps 40 days ahead while the bot runs', HOUR, () => undefined, /^clock jumped/],
  ])('does not post a repeat again when the clock %s, and logs that', async (_name, before, afterJump, line) => {
    const event = payment();
    await pipeline.receive(event);
    await pipeline.pass(before, MINUTE);
    pipeline.jump(40 * DAY);
    await afterJump();
    await pipeline.pass(6 * HOUR, MINUTE);
    await pipeline.receive(event);
    await pipeline.pass(MINUTE);
    expect(pipeline.numbers(ALERTS)).toEqual(['5']);
    const aboutClock = logged.filter((msg) => msg.startsWith('clock '));
    expect(aboutClock).toEqual([expect.stringMatching(line)]);
  });

  it('deletes nothing in the first hour, and then at most a day’s worth per hour', async () => {
    const { retention } = pipeline.store;
    const began = pipeline.clock.now() - 40 * DAY;
    await retention.setPrunedBefore(began);
    const prunedDays = async () => ((await retention.prunedBefore())! - began) / DAY;
    await pipeline.pass(HOUR - MINUTE, MINUTE);
    expect(await prunedDays()).toBe(0);
    for (let days = 1; days <= 3; days++) {
      await pipeline.pass(days === 1 ? MINUTE : HOUR, MINUTE);
      await until(`${days} days are deleted`, async () => (await prunedDays()) >= days);
      expect(await prunedDays()).toBe(days);
      // The next hour begins once everything is deleted.
      await pipeline.pass(5 * MINUTE, MINUTE);
    }
  });
});

it('turns no waiting alert into a dead letter when the clock is four days ahead at a start', async () => {
  const { discord, environment } = await startStandIn();
  const file = await watchingFile();
  const fault = discord.fault({ fault: { kind: 'error', status: 500 }, channelId: ALERTS });
  const bot = await startBot(file, environment);
  await accepted(() => bot.post(JSON.stringify(payment())));
  await discord.until('the first bot tries to post the alert', () => fault.hits > 0);
  bot.kill('SIGTERM');
  await bot.ended();

  const before = fault.hits;
  const next = await startBot(file, { ...environment, CLOCK_AHEAD: String(4 * DAY) });
  await discord.until('the next bot tries to post the alert twice', () => fault.hits > before + 1);
  const metrics = await (await request(`${next.ops}/metrics`)).body.text();
  expect(metrics).toContain('\nledgerbell_dead_letters 0\n');
  expect(next.log.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/^clock is ahead/));
  fault.clear();
  await discord.until('the alert is posted in #alerts', () => discord.messages(ALERTS).length === 1);
});
