import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compareDeclaredRows, endOfType, type FindDeclared } from '../declared-rows.ts';

/** The second type argument of `prepare`. */
const findDeclared: FindDeclared = (source, start, columns) => {
  const open = source.indexOf('prepare<', start) + 'prepare<'.length;
  const comma = endOfType(source, open);
  if (source[comma] !== ',') throw new Error('a statement that returns rows declares no row type.');
  const end = endOfType(source, comma + 1);
  const isScalar = /^\s*,?\s*>\(\s*(`[^`]*`|'[^']*'|"[^"]*"),?\s*\)\s*\.pluck\(\)/.test(source.slice(end));
  if (isScalar && columns.length !== 1) throw new Error('a plucked statement has several columns.');
  return isScalar ? null : { from: comma + 1, to: end };
};

it('declares every statement’s row type with exactly the columns that SQLite returns', () => {
  const program = join(import.meta.dirname, 'statements.ts');
  const printed = execFileSync(process.execPath, [program], { encoding: 'utf8' });
  const columnsAt = JSON.parse(printed) as Record<string, string[]>;
  expect(Object.keys(columnsAt).length).toBeGreaterThan(80);
  const errors = compareDeclaredRows('sqlite', columnsAt, findDeclared);
  expect(errors, 'row types that differ from the columns of their statement').toBe('');
});
