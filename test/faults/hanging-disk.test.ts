import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { accepted, type Bot, startBot, temporaryFile } from '../lifecycle/bot.ts';
import { bodiesIn } from '../store/sqlite/database-file.ts';

async function hangingBot(): Promise<{ bot: Bot; file: string }> {
  const file = temporaryFile();
  const sync = `${file}.sync`;
  execFileSync('mkfifo', [`${sync}.pipe`]);
  const bot = await startBot(file, { SYNC: sync, LOG_LEVEL: 'info' });
  await accepted(() => bot.post('before'));
  writeFileSync(sync, 'hang');
  onTestFinished(() => rmSync(sync, { force: true }));
  return { bot, file };
}

// A hanging call never returns, so a part that waited for it would not respond at all.
it('responds on /healthz and /readyz while a sync hangs, returns 503, and /readyz reports that the disk may hang', async () => {
  const { bot } = await hangingBot();
  const posted = bot.post('hanging');
  for (const [path, status] of [
    ['healthz', 200],
    ['readyz', 503],
  ] as const) {
    const response = await request(`${bot.ops}/${path}`);
    const text = await response.body.text();
    expect(response.statusCode, `the status of /${path}`).toBe(status);
    if (path === 'readyz') expect(text).toContain('has not responded');
  }
  expect(await posted).toBe(503);
});

it('exits with 0 at SIGTERM although a sync hangs, and the next start has what was acknowledged', async () => {
  const { bot, file } = await hangingBot();
  const posted = bot.post('hanging').catch(() => 503);
  bot.kill('SIGTERM');
  const { code } = await bot.exited();
  expect(code).toBe(0);
  expect(await posted).toBe(503);
  const next = await startBot(file);
  await accepted(() => next.post('after'));
  expect(bodiesIn(file)).toEqual(expect.arrayContaining(['before', 'after']));
});
