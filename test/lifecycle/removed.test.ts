import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Discord, seed, startDiscord } from '../../sandbox/discord/index.ts';
import type { App } from '../../src/app.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { until } from '../until.ts';
import { post, startHere } from './app.ts';
import { accepted } from './bot.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const { harbor, orchid } = seed;
/** The path token of the server's own project. */
const OWN = 'path-token-of-the-server';

let stack: AsyncDisposableStack;
let file: string;
let discord: Discord;
let app: App | null;
let later: number;
/** The hourly timers: maintenance, and the check for silent addresses. */
let hourly: (() => void)[];
const clock: Clock = {
  now: () => systemClock.now() + later,
  after(ms, run) {
    if (ms !== HOUR) return systemClock.after(ms, run);
    hourly.push(run);
    return () => undefined;
  },
};

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  file = join(
    stack.adopt(mkdtempSync(join(tmpdir(), 'removed-')), (it) => rmSync(it, { recursive: true })),
    'bot.sqlite',
  );
  discord = stack.adopt(await startDiscord({ limits: 'none' }), (it) => it.close());
  stack.defer(() => app?.close());
  [later, hourly, app] = [0, [], null];
});
afterEach(() => stack.disposeAsync());

const store = () => app!.internals.store;

/** Runs the hourly work after this much time. */
async function pass(ms: number): Promise<void> {
  later += ms;
  await until('two hourly timers are set', () => hourly.length === 2);
  for (const run of hourly.splice(0)) run();
  await until('two hourly timers are set', () => hourly.length === 2);
}

const noted = () => store().erasure.removed(Number.MAX_SAFE_INTEGER);
const watched = async () => (await store().subscriptions.list(harbor.id)).map(({ guildId }) => guildId);

it('erases a server that removed the stopped bot after thirty days, once Discord confirms it', async () => {
  discord.act({ do: 'guild.remove', guildId: harbor.id });
  app = await startHere(file, discord, clock);
  await until('1 removal is stored', async () => (await noted()).length === 1);
  const project = { guildId: harbor.id, projectId: 'p', sealed: Buffer.alloc(1) };
  await store().projects.save(project, OWN);
  await app.close();
  hourly = [];
  app = await startHere(file, discord, clock);
  await accepted(() => post(app!, 'kept', OWN));
  await pass(29 * DAY);
  expect([await watched(), await noted()]).toEqual([[harbor.id], [harbor.id]]);

  discord.fault({ fault: { kind: 'error', status: 500 }, path: `/guilds/${harbor.id}` });
  await pass(2 * DAY);
  expect(await watched()).toEqual([harbor.id]);
  discord.clearFaults();
  await pass(HOUR);
  expect([await watched(), await noted()]).toEqual([[], []]);
  expect(await store().metrics.stored(harbor.id)).toMatchObject({ audit: 0, project: false });
  // Its project is gone, and so is its URL.
  expect(await post(app, 'gone', OWN)).toBe(404);
});

it('erases no server that the bot is in after all', async () => {
  app = await startHere(file, discord, clock);
  discord.act({ do: 'guild.remove', guildId: harbor.id });
  await until('1 removal is stored', async () => (await noted()).length === 1);
  // A stored removal that is not true: the bot is in this server.
  await store().guilds.changeSettings(orchid.id, { timezone: 'Asia/Tokyo' });
  await store().channels.guildRemoved(orchid.id, 1, 1);
  await pass(HOUR);
  expect(await noted()).toEqual([harbor.id]);
  expect(await store().guilds.settings(orchid.id)).toMatchObject({ timezone: 'Asia/Tokyo' });

  discord.act({ do: 'guild.add', guildId: harbor.id });
  await until('no removal is stored', async () => (await noted()).length === 0);
  await pass(31 * DAY);
  expect(await watched()).toEqual([harbor.id]);
});
