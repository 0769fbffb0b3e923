import pino from 'pino';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock, seed, startDiscord } from '../../sandbox/discord/index.ts';
import { startUpkeep } from '../../src/app/upkeep.ts';
import { openStore } from '../../src/store/sqlite/client.ts';
import { accepted, startBot, temporaryFile } from '../lifecycle/bot.ts';
import { ALERTS, type Pipeline, payment, startPipeline, TREASURY } from '../pipeline/harness.ts';
import { until } from '../until.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('the memory of a bot', () => {
  let pipeline: Pipeline;
  let logged: string[];
  beforeEach(async () => {
    logged = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
    pipeline = await startPipeline({ log });
    await pipeline.watch(TREASURY, ALERTS);
  });
  afterEach(() => pipeline.close());
  const aboutClock = () => logged.filter((msg) => msg.startsWith('clock '));

  it('posts no repeat again when the clock is 40 days ahead at a start, and logs how far it is ahead', async () => {
    const event = payment();
    await pipeline.receive(event, 20);
    // It is recorded once a minute that the bot works.
    await pipeline.pass(1.5 * MINUTE);
    pipeline.jump(40 * DAY);
    await pipeline.restart();
    await pipeline.pass(6 * HOUR, MINUTE);
    await pipeline.receive(event, 20);
    await pipeline.pass(MINUTE);
    expect(pipeline.numbers(ALERTS)).toEqual(['5']);
    expect(aboutClock()).toEqual([expect.stringMatching(/^clock is ahead/)]);
  });

  it('forgets entries of the audit log after a year', async () => {
    const now = pipeline.clock.now();
    const { audit } = pipeline.store;
    const entry = { guildId: seed.harbor.id, userId: seed.ada, action: 'label.set', detail: {} };
    for (const days of [366, 364]) await audit.record({ ...entry, at: now - days * DAY });
    await pipeline.pass(HOUR, MINUTE);
    await until('the older entry is forgotten', async () => (await audit.page(entry.guildId, 0, 9)).total === 1);
    expect((await audit.page(entry.guildId, 0, 9)).entries).toMatchObject([{ at: now - 364 * DAY }]);
  });

  it('posts no repeat again when the clock jumps 40 days ahead while the bot runs, and logs that it jumped', async () => {
    const event = payment();
    await pipeline.receive(event, 20);
    await pipeline.pass(HOUR, MINUTE);
    pipeline.jump(40 * DAY);
    await pipeline.pass(6 * HOUR, MINUTE);
    await pipeline.receive(event, 20);
    await pipeline.pass(MINUTE);
    expect(pipeline.numbers(ALERTS)).toEqual(['5']);
    expect(aboutClock()).toEqual([expect.stringMatching(/^clock jumped/)]);
  });
});

it('forgets nothing in the first hour, and then at most a day’s worth per hour', async () => {
  const { store, close } = await openStore(temporaryFile());
  onTestFinished(close);
  const manual = createManualClock();
  const began = manual.now() - 40 * DAY;
  await store.retention.setForgottenBefore(began);
  let planned = 0;
  const clock = {
    now: manual.now,
    after(ms: number, run: () => void) {
      if (ms === HOUR) planned++;
      return manual.after(ms, run);
    },
  };
  // The bot worked all the time, so that all of it is old enough.
  const stop = startUpkeep(store, clock, pino({ level: 'silent' }), {
    look: () => undefined,
    since: (ms) => clock.now() - ms,
    isMember: async () => true,
    onBegun: async () => undefined,
  });
  onTestFinished(stop);
  const forgotten = async () => ((await store.retention.forgottenBefore())! - began) / DAY;
  manual.advance(HOUR - MINUTE);
  expect(await forgotten()).toBe(0);
  manual.advance(MINUTE);
  for (let hour = 1; hour <= 3; hour++) {
    await until('the next hour’s work is planned', () => planned > hour);
    expect(await forgotten()).toBe(hour);
    if (hour < 3) manual.advance(HOUR);
  }
});

it('turns no waiting alert into a dead letter when the clock is four days ahead at a start', async () => {
  const discord = await startDiscord({ limits: 'none' });
  onTestFinished(() => discord.close());
  const file = temporaryFile();
  const { store, close } = await openStore(file);
  const place = { guildId: seed.harbor.id, channelId: ALERTS, address: TREASURY };
  await store.subscriptions.add({ ...place, createdBy: seed.ada, createdAt: 1 }, 10);
  await close();
  const fault = discord.fault({ fault: { kind: 'error', status: 500 }, channelId: ALERTS });
  const environment = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl, LOG_LEVEL: 'info' };
  const bot = await startBot(file, environment);
  await accepted(() => bot.post(JSON.stringify(payment())));
  await discord.until('the first bot tries to post the alert', () => fault.hits > 0);
  bot.kill('SIGTERM');
  await bot.ended;

  const before = fault.hits;
  const next = await startBot(file, { ...environment, CLOCK_AHEAD: String(4 * DAY) });
  await discord.until('the next bot tries to post the alert twice', () => fault.hits > before + 1);
  const metrics = await (await request(`${next.ops}/metrics`)).body.text();
  expect(metrics).toContain('\nledgerbell_dead_letters 0\n');
  expect(next.log.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/^clock is ahead/));
  fault.clear();
  await discord.until('the alert is posted in #alerts', () => discord.messages(ALERTS).length === 1);
});
