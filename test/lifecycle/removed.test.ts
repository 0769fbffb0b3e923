import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Discord, seed, startDiscord } from '../../sandbox/discord/index.ts';
import type { App } from '../../src/app.ts';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { openBeside } from '../../src/store/sqlite/database.ts';
import { until } from '../until.ts';
import { post, startHere } from './app.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const { harbor, orchid } = seed;
/** The path token of the server's own project. */
const OWN = 'path-token-of-the-server';

let directory: string;
let file: string;
let discord: Discord;
let app: App | null;
let later: number;
/** What comes again each hour: the upkeep, and the look for silences. */
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
  directory = mkdtempSync(join(tmpdir(), 'removed-'));
  file = join(directory, 'bot.sqlite');
  discord = await startDiscord({ limits: 'none' });
  [later, hourly, app] = [0, [], null];
});
afterEach(async () => {
  await app?.close();
  await discord.close();
  rmSync(directory, { recursive: true });
});

function beside<T>(sql: string): T[] {
  const db = openBeside(file);
  try {
    const statement = db.prepare<[], T>(sql);
    if (statement.reader) return statement.all();
    statement.run();
    return [];
  } finally {
    db.close();
  }
}

/** Lets an hour's work be done, after so much time. */
async function pass(ms: number): Promise<void> {
  later += ms;
  await until(() => hourly.length === 2);
  for (const run of hourly.splice(0)) run();
  await until(() => hourly.length === 2);
}

const noted = () => beside<{ guild_id: string }>('SELECT guild_id FROM guild_removals').map((row) => row.guild_id);
const watched = () =>
  beside<{ guild: string }>('SELECT guild_id AS guild FROM subscriptions ORDER BY 1').map(({ guild }) => guild);

it('a server that removed the bot while that was stopped is erased after thirty days, once Discord confirms it', async () => {
  discord.act({ do: 'guild.remove', guildId: harbor.id });
  app = await startHere(file, discord, clock);
  await until(() => noted().length === 1);
  beside(`INSERT INTO projects (guild_id, project_id, sealed, updated_by, updated_at)
    VALUES ('${harbor.id}', 'p', x'00', 'ada', 1)`);
  beside(`INSERT INTO receiver_tokens (token, scope, created_at) VALUES ('${OWN}', 1, 1)`);
  await app.close();
  hourly = [];
  app = await startHere(file, discord, clock);
  expect(await post(app, 'kept', OWN)).toBe(200);
  await pass(29 * DAY);
  expect([watched(), noted()]).toEqual([[harbor.id], [harbor.id]]);

  discord.fault({ fault: { kind: 'error', status: 500 }, path: `/guilds/${harbor.id}` });
  await pass(2 * DAY);
  expect(watched()).toEqual([harbor.id]);
  discord.clearFaults();
  await pass(HOUR);
  expect([watched(), noted()]).toEqual([[], []]);
  expect(beside('SELECT * FROM audit')).toEqual([]);
  // Its project is gone, and so is its URL.
  expect(await post(app, 'gone', OWN)).toBe(404);
});

it('a server that has the bot after all is not erased, whatever was missed', async () => {
  app = await startHere(file, discord, clock);
  discord.act({ do: 'guild.remove', guildId: harbor.id });
  await until(() => noted().length === 1);
  // Nobody hears of this: the connection is gone, and comes back with what was missed by somebody else.
  beside(`INSERT INTO guild_removals (guild_id, removed_at) VALUES ('${orchid.id}', 1)`);
  beside(`INSERT INTO guilds (guild_id) VALUES ('${orchid.id}')`);
  await pass(HOUR);
  expect(noted()).toEqual([harbor.id]);
  expect(beside<{ guild_id: string }>('SELECT guild_id FROM guilds')).toEqual([{ guild_id: orchid.id }]);

  discord.act({ do: 'guild.add', guildId: harbor.id });
  await until(() => noted().length === 0);
  await pass(31 * DAY);
  expect(watched()).toEqual([harbor.id]);
});
