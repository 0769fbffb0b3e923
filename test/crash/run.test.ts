import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const RUN = resolve('test/crash/run.ts');

it.each([
  ['a number of rounds that is not whole', ['1.5'], 'How many rounds? A whole number from 1, '],
  ['an unknown engine', ['1', 'postgre'], 'Which engine? postgres, or nothing for SQLite, '],
])('refuses to run the crash test with %s', (_, args, message) => {
  const { status, stderr } = spawnSync(process.execPath, [RUN, ...args], { encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 64, stderr: expect.stringContaining(message) });
});
