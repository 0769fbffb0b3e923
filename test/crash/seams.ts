import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MUTANTS } from './mutants.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** The value of MUTANT that replaces each export by itself: tests must pass with it. */
export const CONTROL = 'control';

const active = () => MUTANTS.filter(({ name }) => name === process.env.MUTANT || process.env.MUTANT === CONTROL);

/**
 * The code of a module that stands in for a source file: all of its exports, with those replaced that the mutant named by
 * MUTANT changes. `original` is what it imports the file by. Null for files that stay as they are.
 */
export function standIn(path: string, original: string): string | null {
  const file = active().find((mutant) => resolve(ROOT, mutant.file) === path)?.file;
  if (file === undefined) return null;
  const names = new Set(active().flatMap((mutant) => (mutant.file === file ? [mutant.export] : [])));
  return [
    `import * as original from ${JSON.stringify(original)};`,
    `import { mutated } from ${JSON.stringify(pathToFileURL(import.meta.filename).href)};`,
    `export * from ${JSON.stringify(original)};`,
    ...[...names].map((name) => `export const ${name} = mutated(${JSON.stringify(file)}, '${name}', original);`),
  ].join('\n');
}

/** What replaces an export. Throws when the module has no such export. */
export function mutated(file: string, name: string, module: Record<string, unknown>): unknown {
  if (!(name in module)) throw new Error(`${file} does not export ${name}, which a mutant replaces.`);
  const mutant = active().find((one) => one.file === file && one.export === name);
  return mutant && process.env.MUTANT !== CONTROL ? mutant.replace(module[name]) : module[name];
}

/** Puts stand-ins into modules that Vitest loads. */
export const mutantPlugin = () => ({
  name: 'mutant',
  enforce: 'pre' as const,
  load: (id: string): string | null => (id.includes('?') ? null : standIn(id, `${id}?original`)),
});
