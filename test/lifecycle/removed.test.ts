import { beforeEach, expect, it } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { until } from '../until.ts';
import { startWhole, type Whole } from './app.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const { harbor, orchid } = seed;
const OWN = 'path-token-of-the-server';

let whole: Whole;
let later: number;
/** The hourly timers: maintenance, and the check for silent addresses. */
let hourly: (() => void)[];
const clock: Clock = {
  ...systemClock,
  now: () => systemClock.now() + later,
  elapsed: () => systemClock.elapsed() + later,
  after(ms, run) {
    if (ms !== HOUR) return systemClock.after(ms, run);
    hourly.push(run);
    return () => undefined;
  },
};

beforeEach(() => {
  [later, hourly] = [0, []];
});

const store = () => whole.store;

async function pass(ms: number): Promise<void> {
  later += ms;
  await until('two hourly timers are set', () => hourly.length === 2);
  for (const run of hourly.splice(0)) run();
  await until('two hourly timers are set', () => hourly.length === 2);
}

const noted = () => store().erasure.removed(Number.MAX_SAFE_INTEGER);
const watched = async () => (await store().subscriptions.list(harbor.id)).map(({ guildId }) => guildId);

it('erases a server that removed the stopped bot after thirty days, once Discord confirms it', async () => {
  whole = await startWhole({
    clock,
    prepare: (discord) => discord.act({ do: 'guild.remove', guildId: harbor.id }),
  });
  await until('1 removal is stored', async () => (await noted()).length === 1);
  const project = { guildId: harbor.id, projectId: 'p', sealed: Buffer.alloc(1) };
  await store().projects.save(project, OWN);
  await whole.restart(() => {
    hourly = [];
  });
  await whole.deliver('kept', OWN);
  await pass(29 * DAY);
  expect([await watched(), await noted()]).toEqual([[harbor.id], [harbor.id]]);

  whole.discord.fault({ fault: { kind: 'error', status: 500 }, path: `/guilds/${harbor.id}` });
  await pass(2 * DAY);
  expect(await watched()).toEqual([harbor.id]);
  whole.discord.clearFaults();
  await pass(HOUR);
  expect([await watched(), await noted()]).toEqual([[], []]);
  expect(await store().metrics.stored(harbor.id)).toMatchObject({ audit: 0, project: false });
  expect(await whole.post('gone', OWN)).toBe(404);
});

it('erases no server that the bot is in after all', async () => {
  whole = await startWhole({ clock });
  whole.discord.act({ do: 'guild.remove', guildId: harbor.id });
  await until('1 removal is stored', async () => (await noted()).length === 1);
  // A stored removal that is not true: the bot is in this server.
  await store().guilds.changeSettings(orchid.id, { timezone: 'Asia/Tokyo' });
  await store().channels.guildRemoved(orchid.id, 1, 1);
  await pass(HOUR);
  expect(await noted()).toEqual([harbor.id]);
  expect(await store().guilds.settings(orchid.id)).toMatchObject({ timezone: 'Asia/Tokyo' });

  whole.discord.act({ do: 'guild.add', guildId: harbor.id });
  await until('no removal is stored', async () => (await noted()).length === 0);
  await pass(31 * DAY);
  expect(await watched()).toEqual([harbor.id]);
});
