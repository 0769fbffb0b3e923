import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openPostgresStore } from '../../../src/store/postgres/client.ts';
import { accepted, type Bot, startBot } from '../../lifecycle/bot.ts';
import { until } from '../../until.ts';
import { createDisk } from './full-disk.ts';
import { isPostgresMissing, type PostgresServer, startPostgres } from './server.ts';

const disk = isPostgresMissing() ? null : createDisk();
/** The sender waits for three seconds. */
const SENDER_MS = 3_000;

let server: PostgresServer;
beforeAll(async () => {
  if (disk) server = await startPostgres({}, null, disk.environment);
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  disk?.[Symbol.dispose]();
});

async function startOn(url: string): Promise<Bot> {
  onTestFinished(() => disk!.free());
  return startBot('', { DATABASE_URL: url, SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'), LOG_LEVEL: 'info' });
}

/** What `/readyz` says about the database. */
async function database(bot: Bot): Promise<{ status: number; ready: boolean; detail?: string }> {
  const answer = await request(`${bot.ops}/readyz?part=database`);
  const { parts } = (await answer.body.json()) as { parts: { database: { ready: boolean; detail?: string } } };
  return { status: answer.statusCode, ...parts.database };
}

async function metric(bot: Bot, name: string): Promise<number> {
  const text = await (await request(`${bot.ops}/metrics`)).body.text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1));
}

/** Delivers until a delivery is refused; returns the bodies that were acknowledged. None waits for longer than its sender. */
async function deliverUntilRefused(bot: Bot): Promise<string[]> {
  const dispatcher = new Agent();
  onTestFinished(() => dispatcher.destroy());
  const acknowledged: string[] = [];
  let status = 0;
  await until('a delivery is refused', async () => {
    // Large, so that the table has to grow soon.
    const body = `delivery ${acknowledged.length} ${'x'.repeat(4_000)}`;
    status = await bot.post(body, { dispatcher, headersTimeout: SENDER_MS });
    if (status === 200) acknowledged.push(body);
    return status !== 200;
  });
  expect(status).toBe(503);
  return acknowledged;
}

/** A bot that stored a delivery before the disk became full, and the bodies that it acknowledged until it refused one. */
async function startAndFill() {
  const url = await server.createDatabase();
  const bot = await startOn(url);
  await accepted(() => bot.post('before'));
  disk!.fill();
  return { url, bot, acknowledged: ['before', ...(await deliverUntilRefused(bot))] };
}

/** All that was acknowledged, each once, when the bot has routed it: none of these bodies can be understood. */
async function bodiesIn(url: string): Promise<string[]> {
  const { store, close } = await openPostgresStore(url);
  await until('every delivery is routed', async () => (await store.inbox.next(1)).length === 0);
  const kept = await store.quarantine.list();
  const bodies = await Promise.all(kept.map(async ({ id }) => (await store.quarantine.get(id))!.body));
  await close();
  return bodies.map(String).sort();
}

it.skipIf(disk === null)(
  'returns 503 in time while the disk of Postgres is full, shows why, and stores again once there is space',
  async () => {
    const { url, bot, acknowledged } = await startAndFill();
    expect(await database(bot)).toEqual({
      status: 503,
      ready: false,
      detail: expect.stringMatching(
        /^deliveries cannot be stored: The disk of the database server is full: .*No space left on device/,
      ),
    });
    expect(await metric(bot, 'ledgerbell_database_ready')).toBe(0);
    expect(await metric(bot, 'ledgerbell_refused_total{reason="busy"}')).toBeGreaterThan(0);
    disk!.free();
    await accepted(() => bot.post('after'));
    expect(await database(bot)).toEqual({ status: 200, ready: true });
    expect(await metric(bot, 'ledgerbell_database_ready')).toBe(1);
    expect(await bodiesIn(url)).toEqual([...acknowledged, 'after'].sort());
  },
);

it.skipIf(disk === null)(
  'still names the full disk when Postgres could not write its log and stopped, and goes on when it is started again',
  async () => {
    const { url, bot, acknowledged } = await startAndFill();
    // Its recovery needs a new file, too.
    await until('Postgres has stopped', async () => {
      await server.switchLog().catch(() => undefined);
      return !server.isRunning();
    });
    expect(await bot.post('refused', { headersTimeout: SENDER_MS })).toBe(503);
    expect(await database(bot)).toEqual({
      status: 503,
      ready: false,
      detail: expect.stringMatching(
        /^The database cannot be reached: .*; before that, its disk was full: .*No space left/,
      ),
    });
    disk!.free();
    await server.start();
    await accepted(() => bot.post('after'));
    expect(await database(bot)).toEqual({ status: 200, ready: true });
    expect(await bodiesIn(url)).toEqual([...acknowledged, 'after'].sort());
  },
);
