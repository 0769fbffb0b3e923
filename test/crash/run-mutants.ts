import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MINUTE } from '../../src/domain/clock.ts';
import { MUTANTS } from './mutants.ts';
import { CONTROL } from './seams.ts';

/**
 * `npm run test:mutants [-- part of a name]`: breaks one promise at a time and runs the tests that must notice. Exit code
 * 1 when one does not or takes too long, 2 when a test fails without a mutant.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const LOADER = pathToFileURL(resolve(import.meta.dirname, 'seams-loader.ts')).href;
/** Longer than the timeouts of one test and of its hooks: most that hang fail by themselves. */
const MAX_RUN_MS = 15 * MINUTE;

/** How these tests end while the mutant is active. Tests that were cut off have noticed nothing. */
function run(tests: string[], mutant: string): 'passed' | 'failed' | 'timed out' {
  const { status, error } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...tests], {
    cwd: ROOT,
    stdio: 'ignore',
    timeout: MAX_RUN_MS,
    killSignal: 'SIGKILL',
    env: { ...process.env, MUTANT: mutant, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${LOADER}` },
  });
  if (error) {
    if ('code' in error && error.code === 'ETIMEDOUT') return 'timed out';
    throw error;
  }
  return status === 0 ? 'passed' : 'failed';
}

const wanted = process.argv[2];
const chosen = MUTANTS.filter(({ name }) => !wanted || name.includes(wanted));
if (chosen.length === 0) {
  const names = MUTANTS.map(({ name }) => name).join('\n');
  process.stderr.write(`No mutant's name contains "${wanted}". The mutants are:\n${names}\n`);
  process.exit(64);
}
const broken = [...new Set(chosen.flatMap(({ tests }) => tests))].filter((test) => run([test], CONTROL) !== 'passed');
if (broken.length > 0) {
  process.stderr.write(`These tests fail without a mutant: ${broken.join(', ')}. Fix them first.\n`);
  process.exit(2);
}
const WORDS = { passed: 'SURVIVED', failed: 'caught', 'timed out': 'TIMED OUT' };
const counts = { passed: 0, failed: 0, 'timed out': 0 };
for (const { name, tests } of chosen) {
  const outcome = run(tests, name);
  counts[outcome]++;
  process.stdout.write(`${WORDS[outcome].padEnd(9)}  ${name}  (${tests.join(', ')})\n`);
}
process.stdout.write(`${chosen.length} mutants, ${counts.passed} survived, ${counts['timed out']} timed out\n`);
process.exit(counts.failed < chosen.length ? 1 : 0);
