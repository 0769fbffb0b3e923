import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const WORKFLOWS = readdirSync(resolve(root, '.github/workflows'));
const read = (path: string): string => readFileSync(resolve(root, path), 'utf8');

it.each(WORKFLOWS)('every action in the workflow %s is pinned by a commit and names its version', (name) => {
  const uses = [...read(`.github/workflows/${name}`).matchAll(/uses: (.+)/g)].map(([, action]) => action!);
  expect(uses.length).toBeGreaterThan(0);
  expect(uses.filter((action) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
});

it('the CI workflow does what .ci/run does', () => {
  expect(read('.github/workflows/ci.yml')).toContain('run: bash .ci/run');
});

it('package.json and the lock file name exact versions and no download address', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<
    string,
    Record<string, string>
  >;
  const versions = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(versions.filter(([, version]) => !/^\d/.test(version))).toEqual([]);
  expect(read('package-lock.json')).not.toContain('"resolved": "http');
});
