import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'undici';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { createDisk } from '../store/postgres/full-disk.ts';
import { bodiesIn, lock } from '../store/sqlite/database-file.ts';
import { until } from '../until.ts';
import { accepted, type Bot, HALF, startBot, temporaryFile } from './bot.ts';

/** The bot responds within 2 s; a busy machine takes longer. */
const MAX_RESPONSE_MS = 30_000;

const healthy = async (bot: Bot) => (await request(`${bot.ops}/healthz`)).statusCode === 200;

const disk = createDisk();
afterAll(() => disk?.[Symbol.dispose]());

it.skipIf(disk === null)(
  'returns 503 on a full disk, and 200 without a restart once there is space, and loses nothing acknowledged',
  async () => {
    onTestFinished(disk!.free);
    const file = temporaryFile();
    const bot = await startBot(file, { ...disk!.environment, LOG_LEVEL: 'info' });
    const answered: string[] = [];
    /** Stored too late for a 200, on a busy machine. */
    const late = new Set<string>();
    let serial = 0;
    const post = async () => {
      const body = `${++serial} ${'x'.repeat(50_000)}`;
      const sentAt = performance.now();
      const status = await bot.post(body);
      if (status === 200) answered.push(body);
      else if (performance.now() - sentAt > 1_500) late.add(body);
      return status;
    };
    const kept = () => bodiesIn(file).filter((body) => !late.has(body));
    await accepted(post);
    disk!.fill();
    // On a busy machine, a delivery may be refused for other reasons first, and the disk counts as slow for a while.
    await until('deliveries get 503, and /readyz shows that they cannot be stored', async () => {
      if ((await post()) === 200) return false;
      const { ready, detail = '' } = await bot.database();
      return !ready && detail.includes('cannot be stored');
    });
    expect(await healthy(bot), 'whether /healthz is 200').toBe(true);
    disk!.free();
    await until(
      'deliveries get 200 and /readyz is green',
      async () => (await post()) === 200 && (await bot.database()).ready,
    );
    await until('the log says “deliveries can be stored again”', () =>
      bot.log.some(({ msg }) => msg === 'deliveries can be stored again'),
    );
    expect(bot.log.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/^cannot store deliveries/));
    await until('each accepted delivery is stored', () => kept().length === answered.length);
    expect(new Set(kept())).toEqual(new Set(answered));
  },
);

it('returns 503 in time while another process holds the file, and never blocks the event loop', async () => {
  const file = temporaryFile();
  const bot = await startBot(file);
  await accepted(() => bot.post('before'));
  const loopDelay = async () => {
    const line = bot.nextLine('loop delay');
    bot.kill('SIGUSR2');
    return (await line).ms;
  };
  const release = lock(file);
  const delays: number[] = [];
  // Each of these waits for the lock in vain for a quarter of a second: three seconds in total.
  for (let n = 0; n < 12; n++) {
    await loopDelay();
    const [status, healthz] = await Promise.all([
      bot.post(`during ${n}`, { headersTimeout: MAX_RESPONSE_MS }),
      healthy(bot),
    ]);
    expect([status, healthz]).toEqual([503, true]);
    delays.push(await loopDelay());
  }
  // An event loop that waits for the lock is late each time; on a busy machine it is late only sometimes.
  expect(Math.min(...delays)).toBeLessThan(200);
  release();
  await accepted(() => bot.post('after'));
  await until('the delivery is in the file', () => bodiesIn(file).includes('after'));
  expect([...new Set(bodiesIn(file))].sort()).toEqual(['after', 'before']);
});

it('serves a delivery at once despite 9,000 idle connections', async () => {
  const bot = await startBot(temporaryFile());
  // Fewer than the receiver takes, and than this process may open.
  const files = Number(execFileSync('sh', ['-c', 'ulimit -Hn']).toString()) || 20_000;
  const count = Math.min(9_000, files - 500);
  let open = 0;
  let cut = 0;
  for (let left = count; left > 0; left -= 250) {
    const sockets = await Promise.all(Array.from({ length: Math.min(250, left) }, () => bot.connect()));
    open += sockets.length;
    const at = performance.now();
    // The receiver closes a connection that sent nothing for five seconds, which a slow machine may take for all of them.
    for (const socket of sockets) socket.once('close', () => void (performance.now() - at < 4_000 && cut++));
  }
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  for (let n = 0; n < 20; n++)
    await accepted(() => bot.post(`delivery ${n}`, { dispatcher: agent, headersTimeout: MAX_RESPONSE_MS }));
  expect([open, cut]).toEqual([count, 0]);
  bot.kill('SIGTERM');
  expect((await bot.ended()).code).toBe(0);
});

it('returns 403 to an address that is not listed, and logs the address', async () => {
  const file = temporaryFile();
  const bot = await startBot(file, { RECEIVER_SOURCE_CHECK: 'enforce', RECEIVER_SOURCES: '203.0.113.7' });
  const logged = bot.nextLine('delivery from an address that is not in RECEIVER_SOURCES');
  expect(await bot.post('x')).toBe(403);
  expect(await logged).toMatchObject({ level: 40, sources: ['127.0.0.1'] });
  expect(bodiesIn(file)).toEqual([]);
});

it('ends the process with 1 when the database thread ends, and keeps everything for the next start', async () => {
  const file = temporaryFile();
  const end = `${file}.end`;
  const bot = await startBot(file, { THREAD_END: end });
  await accepted(() => bot.post('kept'));
  writeFileSync(end, '');
  expect((await bot.ended()).code).toBe(1);
  const next = await startBot(file);
  await accepted(() => next.post('more'));
  expect([...new Set(bodiesIn(file))].sort()).toEqual(['kept', 'more']);
});

it('closes only the connection of bytes that are not HTTP or of an aborted request', async () => {
  const file = temporaryFile();
  const bot = await startBot(file);
  for (const bytes of ['\u0000\u0001\u0002\r\n\r\n', 'GET', HALF.slice(0, 20), HALF]) {
    const socket = await bot.connect();
    socket.write(bytes);
    socket.destroy();
  }
  await accepted(() => bot.post('whole'));
  expect(new Set(bodiesIn(file))).toEqual(new Set(['whole']));
});
