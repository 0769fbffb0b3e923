import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MUTANTS } from './mutations.ts';

/**
 * `npm run test:mutants`: breaks one promise at a time in a copy of the sources and runs the tests that must notice.
 * Exit code 1 when one does not, 2 when a mutation's text is no longer in the sources.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const COPIED = ['src', 'commands', 'sandbox', 'services', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'];

const directory = mkdtempSync(join(tmpdir(), 'mutants-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
for (const name of COPIED) cpSync(join(ROOT, name), join(directory, name), { recursive: true });
symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));

function passes(tests: string[]): boolean {
  const { status } = spawnSync(process.execPath, [join(directory, 'node_modules/vitest/vitest.mjs'), 'run', ...tests], {
    cwd: directory,
    stdio: 'ignore',
    timeout: 180_000,
    killSignal: 'SIGKILL',
  });
  return status === 0;
}

const wanted = process.argv[2];
const chosen = MUTANTS.filter(({ name }) => !wanted || name.includes(wanted));
if (chosen.length === 0) {
  process.stderr.write(
    `No mutant's name holds "${wanted}". There are:\n${MUTANTS.map(({ name }) => name).join('\n')}\n`,
  );
  process.exit(64);
}
const broken = [...new Set(chosen.flatMap(({ tests }) => tests))].filter((test) => !passes([test]));
if (broken.length > 0) {
  process.stderr.write(`These tests fail without any mutation: ${broken.join(', ')}. Mend them first.\n`);
  process.exit(2);
}
let survivors = 0;
for (const { name, file, changes, tests } of chosen) {
  const path = join(directory, file);
  const original = readFileSync(path, 'utf8');
  let text = original;
  for (const [from, to] of changes) {
    if (text.split(from).length !== 2) {
      process.stderr.write(`"${name}": ${file} does not hold this text exactly once: ${from}\n`);
      process.exit(2);
    }
    text = text.replace(from, () => to);
  }
  writeFileSync(path, text);
  const survived = passes(tests);
  writeFileSync(path, original);
  if (survived) survivors++;
  process.stdout.write(`${survived ? 'SURVIVED' : 'caught  '}  ${name}  (${tests.join(', ')})\n`);
}
process.stdout.write(`${chosen.length} mutants, ${survivors} survived\n`);
process.exit(survivors > 0 ? 1 : 0);
