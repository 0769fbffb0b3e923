import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { MUTANTS } from './mutants.ts';
import { mutated } from './seams.ts';

// `npm run test:mutants` takes minutes. These tests check that it can run.
it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
  'finds the export and the tests of the mutant "%s"',
  async (_, { file, export: name, tests }) => {
    const module = (await import(resolve(file))) as Record<string, unknown>;
    expect(mutated(file, name, module)).toBe(module[name]);
    expect(tests.filter((test) => !existsSync(resolve(test)))).toEqual([]);
  },
);

it('fails when a module lacks the export that a mutant replaces', () => {
  expect(() => mutated('src/domain/identity.ts', 'judge', {})).toThrow('src/domain/identity.ts does not export judge');
});
