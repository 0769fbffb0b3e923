import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';
import { MUTANTS } from './mutations.ts';

// `npm run test:mutants` takes minutes; that it still can be run is seen here.
it.each(MUTANTS.map(({ name, ...mutant }) => [name, mutant]))('the mutant "%s" still fits the sources', (_, mutant) => {
  const text = readFileSync(resolve(mutant.file), 'utf8');
  for (const [from] of mutant.changes) expect([from, text.split(from).length - 1]).toEqual([from, 1]);
});
