import { Agent, request } from 'undici';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { accepted, type Bot, startBot } from '../../lifecycle/bot.ts';
import { until } from '../../until.ts';
import { createDisk } from './full-disk.ts';
import { openForTest } from './opened.ts';
import { isPostgresMissing, startPostgres } from './server.ts';

const disk = isPostgresMissing() ? null : createDisk();
/** The bot responds within 2 s; a busy machine takes longer. */
const MAX_RESPONSE_MS = 30_000;
afterAll(() => disk?.[Symbol.dispose]());

async function metric(bot: Bot, name: string): Promise<number> {
  const text = await (await request(`${bot.ops}/metrics`)).body.text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ').at(-1));
}

it.skipIf(disk === null)(
  'returns 503 in time while the disk of Postgres is full, shows why, and stores again once there is space',
  async () => {
    const server = await startPostgres({}, null, disk!.environment);
    onTestFinished(() => server[Symbol.asyncDispose]());
    const url = await server.createDatabase();
    const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64');
    const bot = await startBot('', { DATABASE_URL: url, SECRETS_KEY, LOG_LEVEL: 'info' });
    const dispatcher = new Agent();
    onTestFinished(() => dispatcher.destroy());
    const acknowledged: string[] = [];
    /** Stored or not: on a busy machine, a commit may end too late for a 200. */
    const refused: string[] = [];
    async function post(): Promise<number> {
      // Large, so that the table has to grow soon.
      const body = `delivery ${acknowledged.length + refused.length} ${'x'.repeat(4_000)}`;
      const status = await bot.post(body, { dispatcher, headersTimeout: MAX_RESPONSE_MS });
      (status === 200 ? acknowledged : refused).push(body);
      return status;
    }
    await accepted(post);

    disk!.fill();
    // On a busy machine, a delivery may be refused for other reasons first.
    await until('a delivery is refused, and /readyz names the full disk', async () => {
      if ((await post()) === 200) return false;
      return /^deliveries cannot be stored: .*disk .* is full/.test((await bot.database()).detail ?? '');
    });
    expect(await bot.database()).toEqual({
      status: 503,
      ready: false,
      detail: expect.stringMatching(
        /^deliveries cannot be stored: The disk of the database server is full: .*No space left on device/,
      ),
    });
    expect(await metric(bot, 'ledgerbell_database_ready')).toBe(0);
    expect(await metric(bot, 'ledgerbell_refused_total{reason="busy"}')).toBeGreaterThan(0);

    disk!.free();
    // On a busy machine, the bot first counts the disk as slow.
    await until(
      'deliveries get 200 and /readyz is green',
      async () => (await post()) === 200 && (await bot.database()).ready,
    );
    expect(await bot.database()).toEqual({ status: 200, ready: true });
    expect(await metric(bot, 'ledgerbell_database_ready')).toBe(1);

    // All that was acknowledged is there once, when the bot has routed it: none of these bodies can be understood.
    const { store, close } = await openForTest(url);
    onTestFinished(close);
    await until('every delivery is routed', async () => (await store.inbox.next(1)).length === 0);
    const kept = await store.quarantine.list();
    const bodies = await Promise.all(kept.map(async ({ id }) => String((await store.quarantine.get(id))!.body)));
    expect(bodies.filter((body) => !refused.includes(body)).sort()).toEqual(acknowledged.toSorted());
  },
);
