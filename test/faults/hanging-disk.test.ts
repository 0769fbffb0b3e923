import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { accepted, type Bot, startBot, temporaryFile } from '../lifecycle/bot.ts';
import { timed } from '../slowness.ts';
import { bodiesIn } from '../store/sqlite/database-file.ts';

/** A bot whose next sync never returns. */
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

it('returns 503 within the sender’s 3 s while a sync hangs', async () => {
  const { bot } = await hangingBot();
  const took = await timed(async () => expect(await bot.post('hanging')).toBe(503));
  expect(took).toBeLessThan(3_000);
});

it('responds on /healthz and /readyz within 2 s while a sync hangs, and /readyz reports that the disk may hang', async () => {
  const { bot } = await hangingBot();
  const posted = bot.post('hanging');
  for (const [path, status] of [
    ['healthz', 200],
    ['readyz', 503],
  ] as const) {
    let text = '';
    const took = await timed(async () => {
      const response = await request(`${bot.ops}/${path}`);
      text = await response.body.text();
      expect(response.statusCode, `the status of /${path}`).toBe(status);
    });
    expect(took, `the milliseconds until /${path} responded`).toBeLessThan(2_000);
    if (path === 'readyz') expect(text).toContain('has not responded');
  }
  expect(await posted).toBe(503);
});

it('exits with 0 within 8 s of SIGTERM although a sync hangs, and the next start has what was acknowledged', async () => {
  const { bot, file } = await hangingBot();
  const posted = bot.post('hanging').catch(() => 503);
  const took = await timed(async () => {
    bot.kill('SIGTERM');
    const { code } = await bot.exited();
    expect(code).toBe(0);
  });
  expect(took).toBeLessThan(8_000);
  expect(await posted).toBe(503);
  const next = await startBot(file);
  await accepted(() => next.post('after'));
  expect(bodiesIn(file)).toEqual(expect.arrayContaining(['before', 'after']));
});
