import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { temporaryFile } from './bot.ts';

const ROOT = resolve(import.meta.dirname, '../..');

it('starts the bot with the command of npm start, and ends it with exit code 0 on SIGTERM', async () => {
  const script = packageJson.scripts.start.replace(/--env-file\S* /, '');
  // npm runs it in a shell, and passes a signal on to that shell alone.
  const bot = spawn('sh', ['-c', script], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`,
      DISCORD_TOKEN: 'no-token',
      // Nobody answers there.
      DISCORD_API_URL: 'http://127.0.0.1:9/api',
      PORT: '0',
      OPS_PORT: '0',
      DATABASE_URL: `sqlite:${temporaryFile()}`,
    },
  });
  onTestFinished(() => void bot.kill('SIGKILL'));
  for await (const line of createInterface({ input: bot.stdout })) if (line.includes('"started"')) break;
  bot.kill('SIGTERM');
  expect(await once(bot, 'exit')).toEqual([0, null]);
});
