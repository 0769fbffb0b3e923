import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlinkSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { inTime } from '../until.ts';
import { temporaryFile } from './bot.ts';

const ROOT = resolve(import.meta.dirname, '../..');

function installation(): string {
  const folder = dirname(temporaryFile());
  symlinkSync(join(ROOT, 'src'), join(folder, 'src'));
  return folder;
}

async function startAndStop(cwd: string, environment: Record<string, string> = {}) {
  // npm runs it in a shell, and passes a signal on to that shell alone.
  const bot = spawn('sh', ['-c', packageJson.scripts.start], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
      DISCORD_TOKEN: 'no-token',
      // Nobody answers there.
      DISCORD_API_URL: 'http://127.0.0.1:9/api',
      PORT: '0',
      OPS_PORT: '0',
      ...environment,
    },
  });
  onTestFinished(() => void bot.kill('SIGKILL'));
  const errors = text(bot.stderr);
  for await (const line of createInterface({ input: bot.stdout })) if (line.includes('"started"')) break;
  bot.kill('SIGTERM');
  return { exit: await inTime('the bot ends', once(bot, 'exit')), errors: await errors };
}

it('starts the bot with the command of npm start, and ends it with exit code 0 on SIGTERM', async () => {
  expect(await startAndStop(installation())).toEqual({ exit: [0, null], errors: '' });
});

it('strips no file’s types again at the second start, also in the threads of the database', async () => {
  const folder = installation();
  await startAndStop(folder);
  // With this, Node writes to standard error what it finds in its cache.
  const { errors } = await startAndStop(folder, { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
  expect(errors).toMatch(/retrieving transpile cache for StrippedTypeScript \S+sqlite\/worker\.ts\.\.\.success/);
  expect(errors).not.toContain('no transpile cache');
});
