import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Columns, compareDeclaredRows, endOfType, type FindDeclared } from '../declared-rows.ts';

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

/** Files whose statements are not the store's own, and why. */
const LEFT_OUT: Record<string, string> = {
  'open-for-copy.ts': 'reads any table, with the columns that it is given',
  'check-thread.ts': 'reads which tables the file has',
  'database.ts': 'reads which tables the file has',
};

const FOLDER = join(import.meta.dirname, '../../../src/store/sqlite');

/** The columns of the store's statements, by their place. */
function readColumns(): Record<string, Columns> {
  const printed = execFileSync(process.execPath, [join(import.meta.dirname, 'statements.ts')], { encoding: 'utf8' });
  return JSON.parse(printed) as Record<string, Columns>;
}

/** Where a file declares the row type of a statement, as `file:line`. */
function declaredIn(file: string): string[] {
  const source = readFileSync(join(FOLDER, file), 'utf8');
  const statements = [...source.matchAll(/prepare</g)].map(({ index }) => index);
  const declaring = statements.filter((at) => source[endOfType(source, at + 'prepare<'.length)] === ',');
  return declaring.map((at) => `${file}:${source.slice(0, at).split('\n').length}`);
}

it('looks at every statement that declares a row type', () => {
  const seen = new Set(Object.keys(readColumns()));
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.ts') && !(name in LEFT_OUT));
  expect(files.flatMap(declaredIn).filter((place) => !seen.has(place))).toEqual([]);
});

it('declares every statement’s row type with exactly the columns that SQLite returns', () => {
  const columnsAt = readColumns();
  const errors = compareDeclaredRows('sqlite', columnsAt, findDeclared);
  expect(errors, 'row types that differ from the columns of their statement').toBe('');
});
