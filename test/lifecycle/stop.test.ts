import { spawnSync } from 'node:child_process';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import { shownIn } from '../discord/shown.ts';
import { payment } from '../pipeline/harness.ts';
import { bodiesIn } from '../store/sqlite/database-file.ts';
import { inTime } from '../until.ts';
import { accepted, HALF, startBot, startStandIn, temporaryFile, watchingFile } from './bot.ts';

const STOPPED = Symbol('no connection');

it('ends with 0 at SIGTERM under load, and stores or refuses every delivery', async () => {
  const file = temporaryFile();
  const bot = await startBot(file);
  // Connections that would stay forever: idle ones, and ones with half a body.
  for (let n = 0; n < 40; n++) {
    const socket = await bot.connect();
    if (n % 2 === 0) socket.write(HALF);
  }
  const answered: string[] = [];
  const statuses = new Set<number>();
  const enough = Promise.withResolvers<void>();
  const worker = async (name: number) => {
    for (let n = 0; ; n++) {
      const body = `delivery ${name}/${n}`;
      const status = await bot.post(body).catch(() => STOPPED);
      if (status === STOPPED) return;
      statuses.add(status as number);
      if (status === 200) answered.push(body);
      if (answered.length === 500) enough.resolve();
    }
  };
  const workers = Array.from({ length: 16 }, (_, name) => worker(name));
  await inTime('500 deliveries are acknowledged', enough.promise);
  bot.kill('SIGTERM');
  expect((await bot.ended()).code).toBe(0);
  await Promise.all(workers);
  expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
  const kept = new Set(bodiesIn(file));
  expect(answered.filter((body) => !kept.has(body))).toEqual([]);
});

it('stores and acknowledges a delivery that is in flight at SIGTERM', async () => {
  const file = temporaryFile();
  // For a busy machine: a time limit of two seconds is 20 here.
  const bot = await startBot(file, { SLOW: '10' });
  const socket = await bot.connect();
  const stopping = bot.nextLine('stopping');
  socket.write(HALF.replace('Host: x', 'Host: x\r\nConnection: close'));
  // Once another one is answered, the head of this one has been read.
  await accepted(() => bot.post('other'));
  bot.kill('SIGTERM');
  await stopping;
  socket.write('x'.repeat(96));
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  const stored = bodiesIn(file).includes(`half${'x'.repeat(96)}`);
  expect([answer.split('\r\n')[0], stored]).toEqual(['HTTP/1.1 200 OK', true]);
  expect((await bot.ended()).code).toBe(0);
  await expect(request(bot.receiver)).rejects.toThrow('ECONNREFUSED');
});

it('ends with 0 when Discord does not respond to a message at SIGTERM, and posts it once after the next start', async () => {
  const file = await watchingFile();
  const { discord, environment } = await startStandIn();
  const hanging = discord.fault({ fault: { kind: 'hang', done: true }, path: '/channels/:channel/messages', times: 1 });
  const bot = await startBot(file, environment);
  const [first, second] = [JSON.stringify(payment()), JSON.stringify(payment())];
  await accepted(() => bot.post(first));
  await discord.until('the bot posts the alert that gets no response', () => hanging.hits === 1);
  bot.kill('SIGTERM');
  expect((await bot.ended()).code).toBe(0);
  const next = await startBot(file, environment);
  await accepted(() => next.post(second));
  await discord.until('both alerts are posted in #alerts', () => discord.messages(seed.harbor.alerts).length === 2);
  expect(discord.messages(seed.harbor.alerts).map(({ message }) => shownIn(message).length)).toEqual([1, 1]);
});

it('ignores a second SIGTERM, and stops on SIGINT too', async () => {
  const bot = await startBot(temporaryFile());
  const stopping = bot.nextLine('stopping');
  bot.kill('SIGINT');
  await stopping;
  bot.kill('SIGTERM');
  expect((await bot.ended()).code).toBe(0);
});

it('exits with its own code also where there is no shell, as in the image', () => {
  const end = "import { exitNow } from './src/errors.ts'; exitNow(78, '/there/is/no/shell')";
  const { status, signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', end], {
    encoding: 'utf8',
  });
  expect([status, signal]).toEqual([78, null]);
  expect(stderr).not.toContain('Error');
});
