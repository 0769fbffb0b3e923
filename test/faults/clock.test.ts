import pino from 'pino';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createManualClock, seed, startDiscord } from '../../sandbox/discord/index.ts';
import { openStore } from '../../src/store/sqlite/client.ts';
import { startUpkeep } from '../../src/upkeep.ts';
import { openWorkTime } from '../../src/work-time.ts';
import { accepted, startBot, temporaryFile } from '../lifecycle/bot.ts';
import { ALERTS, type Pipeline, payment, startPipeline, TREASURY } from '../pipeline/harness.ts';
import { until } from '../until.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('the memory of a bot', () => {
  let pipeline: Pipeline;
  beforeEach(async () => {
    pipeline = await startPipeline();
    await pipeline.watch(TREASURY, ALERTS);
  });
  afterEach(() => pipeline.close());

  /** Starts what forgets, on a clock that is wrong by `ahead`; returns what it logs. */
  async function startForgetting(ahead = 0): Promise<string[]> {
    const logged: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
    const { store } = pipeline;
    const clock = { now: () => pipeline.clock.now() + ahead, after: pipeline.clock.after.bind(pipeline.clock) };
    const workTime = await openWorkTime({ store, clock, elapsed: pipeline.clock.now.bind(pipeline.clock), log });
    const stop = startUpkeep(store, clock, log, {
      look: () => void workTime.tick(true),
      since: workTime.since,
      isMember: async () => true,
      onBegun: async () => undefined,
    });
    onTestFinished(stop);
    pipeline.jump(ahead);
    return logged;
  }

  it('posts no repeat again when the clock is 40 days ahead at a start, and logs how far it is ahead', async () => {
    const event = payment();
    await pipeline.receive(event, 20);
    await pipeline.idle();
    await pipeline.restart();
    const logged = await startForgetting(40 * DAY);
    await pipeline.pass(6 * HOUR, MINUTE);
    await pipeline.receive(event, 20);
    await pipeline.pass(MINUTE);
    expect(pipeline.numbers(ALERTS)).toEqual(['5']);
    expect(logged.filter((msg) => msg.startsWith('clock is ahead'))).toHaveLength(1);
  });

  it('forgets entries of the audit log after a year', async () => {
    await startForgetting();
    const now = pipeline.clock.now();
    const { audit } = pipeline.store;
    const entry = { guildId: seed.harbor.id, userId: seed.ada, action: 'label.set', detail: {} };
    for (const days of [366, 364]) await audit.record({ ...entry, at: now - days * DAY });
    await pipeline.pass(HOUR, MINUTE);
    await until('the older entry to be forgotten', async () => (await audit.page(entry.guildId, 0, 9)).total === 1);
    expect((await audit.page(entry.guildId, 0, 9)).entries).toMatchObject([{ at: now - 364 * DAY }]);
  });

  it('posts no repeat again when the clock jumps 40 days ahead while the bot runs', async () => {
    await startForgetting();
    const event = payment();
    await pipeline.receive(event, 20);
    await pipeline.pass(HOUR, MINUTE);
    const logged = await startForgetting(40 * DAY);
    await pipeline.pass(6 * HOUR, MINUTE);
    await pipeline.receive(event, 20);
    await pipeline.pass(MINUTE);
    expect(pipeline.numbers(ALERTS)).toEqual(['5']);
    expect(logged.filter((msg) => msg.startsWith('clock'))).toHaveLength(1);
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
  expect(next.log.some(({ msg }) => msg.startsWith('clock is ahead'))).toBe(true);
  fault.clear();
  await discord.until('the alert is posted in #alerts', () => discord.messages(ALERTS).length === 1);
});
