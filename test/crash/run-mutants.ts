import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MUTANTS } from './mutants.ts';
import { CONTROL } from './seams.ts';

/**
 * `npm run test:mutants [-- part of a name]`: breaks one promise at a time and runs the tests that must notice. Exit code
 * 1 when one does not, 2 when a test fails without a mutant.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const LOADER = pathToFileURL(resolve(import.meta.dirname, 'seams-loader.ts')).href;

/** Whether these tests pass while the mutant is active. */
function passes(tests: string[], mutant: string): boolean {
  const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...tests], {
    cwd: ROOT,
    stdio: 'ignore',
    timeout: 180_000,
    killSignal: 'SIGKILL',
    env: { ...process.env, MUTANT: mutant, NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${LOADER}` },
  });
  return status === 0;
}

const wanted = process.argv[2];
const chosen = MUTANTS.filter(({ name }) => !wanted || name.includes(wanted));
if (chosen.length === 0) {
  const names = MUTANTS.map(({ name }) => name).join('\n');
  process.stderr.write(`No mutant's name contains "${wanted}". The mutants are:\n${names}\n`);
  process.exit(64);
}
const broken = [...new Set(chosen.flatMap(({ tests }) => tests))].filter((test) => !passes([test], CONTROL));
if (broken.length > 0) {
  process.stderr.write(`These tests fail without a mutant: ${broken.join(', ')}. Fix them first.\n`);
  process.exit(2);
}
let survivors = 0;
for (const { name, tests } of chosen) {
  const survived = passes(tests, name);
  if (survived) survivors++;
  process.stdout.write(`${survived ? 'SURVIVED' : 'caught  '}  ${name}  (${tests.join(', ')})\n`);
}
process.stdout.write(`${chosen.length} mutants, ${survivors} survived\n`);
process.exit(survivors > 0 ? 1 : 0);
