import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Errors where a row's type does not declare a column, or declares a column that does not exist. */
const CHECKED = `
type Checked<Row, _Columns extends keyof Row, _Declared extends _Columns> = Row;
`;

/** Where the type argument ends that begins at `from`: at a comma or bracket of its own level. */
function endOfType(source: string, from: number): number {
  let depth = 0;
  for (let at = from; ; at++) {
    const character = source[at]!;
    if (depth === 0 && ',>'.includes(character)) return at;
    if ('<[{('.includes(character)) depth++;
    if ('>]})'.includes(character)) depth--;
  }
}

/** The source with the row type of the statement that is prepared on a line compared with its columns. */
function withCheck(source: string, line: number, columns: string[]): string {
  const start = source.split('\n', line - 1).join('\n').length;
  const open = source.indexOf('prepare<', start) + 'prepare<'.length;
  const comma = endOfType(source, open);
  if (source[comma] !== ',') throw new Error(`Line ${line}: a statement that returns rows declares no row type.`);
  const end = endOfType(source, comma + 1);
  const row = source.slice(comma + 1, end).trim();
  const isScalar = /^\s*,?\s*>\(\s*(`[^`]*`|'[^']*'|"[^"]*"),?\s*\)\s*\.pluck\(\)/.test(source.slice(end));
  if (isScalar && columns.length !== 1) throw new Error(`Line ${line}: a plucked statement has several columns.`);
  const names = columns.map((column) => JSON.stringify(column)).join(' | ');
  // Its lines keep their numbers.
  const check = isScalar ? row : `Checked<${row}, ${names}, keyof (${row})>`;
  return `${source.slice(0, comma + 1)} ${check}${source.slice(end)}`;
}

it('declares every statement’s row type with exactly the columns that SQLite returns', () => {
  const printed = execFileSync(process.execPath, [join(ROOT, 'test/store/sqlite/statements.ts')], { encoding: 'utf8' });
  const places = Object.entries(JSON.parse(printed) as Record<string, string[]>);
  expect(places.length).toBeGreaterThan(80);
  const folder = mkdtempSync(join(tmpdir(), 'statements-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: object;
  };
  const config = { compilerOptions: { ...compilerOptions, noUnusedParameters: false }, include: ['src/store/sqlite'] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const byFile = Map.groupBy(places, ([place]) => place.split(':')[0]!);
  for (const [file, statements] of byFile) {
    const path = join(folder, 'src/store/sqlite', file);
    // From the last one on, so that the lines before it stay where they are.
    const lines = statements.map(([place, columns]) => [Number(place.split(':')[1]), columns] as const);
    let source = readFileSync(path, 'utf8');
    for (const [line, columns] of lines.sort(([a], [b]) => b - a)) source = withCheck(source, line, columns);
    writeFileSync(path, source + CHECKED);
  }
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], { encoding: 'utf8' });
  expect(stdout, 'row types that differ from the columns of their statement').toBe('');
});
