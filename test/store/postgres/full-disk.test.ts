import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { accepted, type Bot, startBot } from '../../lifecycle/bot.ts';
import { until } from '../../until.ts';
import { createDisk } from './full-disk.ts';
import { openForTest } from './opened.ts';
import { isPostgresMissing, type PostgresServer, startPostgres } from './server.ts';

const disk = isPostgresMissing() ? null : createDisk();
/** The bot responds within 2 s; a busy machine takes longer. */
const MAX_RESPONSE_MS = 30_000;

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

/** Posts bodies, no two the same, and keeps those that were acknowledged and those that were not. */
function createSender(bot: Bot) {
  const dispatcher = new Agent();
  onTestFinished(() => dispatcher.destroy());
  const acknowledged: string[] = [];
  /** Stored or not: on a busy machine, a commit may end too late for a 200. */
  const refused: string[] = [];
  return {
    acknowledged,
    refused,
    async post(): Promise<number> {
      // Large, so that the table has to grow soon.
      const body = `delivery ${acknowledged.length + refused.length} ${'x'.repeat(4_000)}`;
      const status = await bot.post(body, { dispatcher, headersTimeout: MAX_RESPONSE_MS });
      (status === 200 ? acknowledged : refused).push(body);
      return status;
    },
  };
}

type Sender = ReturnType<typeof createSender>;

/** A bot that stored a delivery before the disk became full, and names that disk now. */
async function startAndFill() {
  const url = await server.createDatabase();
  const bot = await startOn(url);
  const sender = createSender(bot);
  await accepted(sender.post);
  disk!.fill();
  // On a busy machine, a delivery may be refused for other reasons first.
  await until('a delivery is refused, and /readyz names the full disk', async () => {
    if ((await sender.post()) === 200) return false;
    return /^deliveries cannot be stored: .*disk .* is full/.test((await database(bot)).detail ?? '');
  });
  return { url, bot, sender };
}

/** Waits until a delivery gets 200 and the bot is ready. On a busy machine, it first counts the disk as slow. */
const storesAgain = (bot: Bot, { post }: Sender) =>
  until('deliveries get 200 and /readyz is green', async () => (await post()) === 200 && (await database(bot)).ready);

/** All that was acknowledged, each once, when the bot has routed it: none of these bodies can be understood. */
async function expectAcknowledged(url: string, { acknowledged, refused }: Sender): Promise<void> {
  const { store, close } = await openForTest(url);
  await until('every delivery is routed', async () => (await store.inbox.next(1)).length === 0);
  const kept = await store.quarantine.list();
  const bodies = await Promise.all(kept.map(async ({ id }) => (await store.quarantine.get(id))!.body));
  await close();
  expect(
    bodies
      .map(String)
      .filter((body) => !refused.includes(body))
      .sort(),
  ).toEqual(acknowledged.toSorted());
}

it.skipIf(disk === null)(
  'returns 503 in time while the disk of Postgres is full, shows why, and stores again once there is space',
  async () => {
    const { url, bot, sender } = await startAndFill();
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
    await storesAgain(bot, sender);
    expect(await database(bot)).toEqual({ status: 200, ready: true });
    expect(await metric(bot, 'ledgerbell_database_ready')).toBe(1);
    await expectAcknowledged(url, sender);
  },
);
