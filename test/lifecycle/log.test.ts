import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { freePorts } from '../../sandbox/ports.ts';
import { until } from '../until.ts';
import { launch, startBot, temporaryFile } from './bot.ts';

/** The least length of a refused delivery's line. */
const LINE_LENGTH = 130;

it('delays neither deliveries nor a stop when nobody reads the log', async () => {
  const bot = await startBot(temporaryFile(), { RECEIVER_SOURCE_CHECK: 'enforce' });
  bot.unread();
  // More than the pipe and the buffers at both of its ends hold.
  const posts = Math.ceil(600_000 / LINE_LENGTH / 30);
  for (let i = 0; i < posts; i++) await Promise.all(Array.from({ length: 30 }, () => bot.post('{}')));
  expect(await bot.post('{}')).toBe(403);
  bot.kill('SIGTERM');
  expect(await bot.exited()).toEqual({ code: 0, signal: null });
});

it('delays neither the bot nor its stop when the log cannot be written', async () => {
  const file = temporaryFile();
  const [port] = (await freePorts(1)).map(String) as [string];
  const bot = launch(file, { OPS_PORT: port }, ['sh', '-c', 'exec "$@" > /dev/full', 'sh']);
  await until('the bot reports that it is healthy', async () => {
    const answer = await request(`http://127.0.0.1:${port}/healthz`).catch(() => null);
    await answer?.body.dump();
    return answer?.statusCode === 200;
  });
  bot.kill('SIGTERM');
  expect(await bot.exited()).toEqual({ code: 0, signal: null });
});

it('stops cleanly when the terminal is closed, and opens no debugger on SIGUSR1', async () => {
  const bot = await startBot(temporaryFile());
  const ignored = bot.nextLine('ignoring SIGUSR1');
  bot.kill('SIGUSR1');
  await ignored;
  bot.kill('SIGHUP');
  expect(await bot.ended()).toEqual({ code: 0, signal: null, stderr: '' });
});

it('writes the last log lines before the process exits', () => {
  const url = pathToFileURL(resolve('src/log.ts')).href;
  const words = "for (const word of ['the first', 'the last']) log.info(word)";
  const code = `const log = (await import('${url}')).openLog('info'); ${words}; process.exit(3);`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  // A line that is already being written may come after those that are written at the exit.
  const lines = stdout.match(/the (first|last)/g)?.sort();
  expect([status, lines]).toEqual([3, ['the first', 'the last']]);
});

it.each([
  ['an unhandled rejection', 'Promise.reject(error)', 'unexpected error', 0],
  ['an uncaught exception', 'setTimeout(() => { throw error; })', 'unexpected error: exiting', 1],
])('logs %s without the fields of its error', async (_name, fault, message, code) => {
  // Split, because the stack contains the module's source.
  const fields = "{ code: 50001, url: '/webhooks/1/hu' + 'sh', requestBody: { token: 'hu' + 'sh' } }";
  const error = `const error = Object.assign(new Error('Missing Access'), ${fields})`;
  const module = `process.on('SIGUSR2', () => { ${error}; ${fault}; Promise.reject('hu' + 'sh'); })`;
  const options = `--import data:text/javascript,${encodeURIComponent(module)}`;
  const bot = await startBot(temporaryFile(), { NODE_OPTIONS: options });
  const logged = bot.nextLine(message);
  bot.kill('SIGUSR2');
  expect(await logged).toMatchObject({ err: { type: 'Error', message: 'Missing Access', code: 50001 } });
  if (code === 0) bot.kill('SIGTERM');
  expect(await bot.ended()).toMatchObject({ code, stderr: '' });
  expect(JSON.stringify(bot.log)).not.toContain('hush');
});
