import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

/** This process's environment without the variables that configure the bot. */
export const BARE_ENVIRONMENT = {
  PATH: process.env.PATH,
  // Compiled once for all processes that the tests start: a start takes half the time.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

const PROGRAM = resolve(import.meta.dirname, '../src/main.ts');

export async function ledgerbell(args: readonly string[], environment: Record<string, string>, cwd?: string) {
  const options = { env: { ...BARE_ENVIRONMENT, ...environment }, cwd };
  const done = await promisify(execFile)(process.execPath, [PROGRAM, ...args], options).catch(
    (error: { code: number; stdout: string; stderr: string }) => error,
  );
  return { code: 'code' in done ? done.code : 0, stdout: done.stdout, stderr: done.stderr };
}
