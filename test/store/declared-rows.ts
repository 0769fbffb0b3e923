import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');

/** Errors where a row's type lacks a column or null, or declares a column that does not exist. */
const CHECKED = `
type MayBeNull<Row> = { [Column in keyof Row]: null extends Row[Column] ? Column : never }[keyof Row];
type Checked<Row, _Columns extends keyof Row, _Declared extends _Columns, _Null extends MayBeNull<Row>> = Row;
`;

/** The columns that a statement returns, by their names; true: the column of a table that may be null there. */
export type Columns = Readonly<Record<string, boolean>>;

/** Columns of statements whose conditions leave out the rows in which they are null, by file. */
const NEVER_NULL: Readonly<Record<string, readonly string[]>> = {
  'activity.ts': ['messageId'],
  'claims.ts': ['payload'],
  'due.ts': ['lastAt'],
  'edits.ts': ['messageId', 'payload', 'requested'],
  'history.ts': ['kind'],
  'notices.ts': ['channelId'],
  'silence.ts': ['gapMs'],
};

/** Where a statement's row type is: from its first character to the one after its last. */
export interface Declared {
  from: number;
  to: number;
}

/**
 * Finds the row type of the statement whose line begins at `start`; null when it needs no comparison. Throws an Error
 * when the statement should have one.
 */
export type FindDeclared = (source: string, start: number, columns: readonly string[]) => Declared | null;

/** Where the type argument ends that begins at `from`: at a comma or bracket of its own level. */
export function endOfType(source: string, from: number): number {
  let depth = 0;
  for (let at = from; ; at++) {
    const character = source[at]!;
    if (depth === 0 && ',>'.includes(character)) return at;
    if ('<[{('.includes(character)) depth++;
    if ('>]})'.includes(character)) depth--;
  }
}

/**
 * What the compiler says when it compares the columns of an engine's statements, by their place (`file:line`), with the
 * row types that are declared there: an error with file and line for each that differs, so nothing when all are equal.
 */
export function compareDeclaredRows(
  engine: 'sqlite' | 'postgres',
  columnsAt: Readonly<Record<string, Columns>>,
  find: FindDeclared,
): string {
  const folder = mkdtempSync(join(tmpdir(), 'statements-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')) as {
    compilerOptions: object;
  };
  const inside = `src/store/${engine}`;
  const config = { compilerOptions: { ...compilerOptions, noUnusedParameters: false }, include: [inside] };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  const byFile = Map.groupBy(Object.entries(columnsAt), ([place]) => place.split(':')[0]!);
  for (const [file, statements] of byFile) {
    const path = join(folder, inside, file);
    // From the last one on, so that the lines before it stay where they are.
    const lines = statements.map(([place, columns]) => [Number(place.split(':')[1]), columns] as const);
    let source = readFileSync(path, 'utf8');
    for (const [line, columns] of lines.sort(([a], [b]) => b - a)) {
      try {
        source = withCheck(source, line, columns, NEVER_NULL[file] ?? [], find);
      } catch (error) {
        throw new Error(`${inside}/${file}:${line}: ${(error as Error).message}`);
      }
    }
    writeFileSync(path, source + CHECKED);
  }
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = [compiler, '-p', folder, '--pretty', 'false'];
  // There, so that it names the files as they are called here.
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  return stdout + stderr;
}

/** The source with the row type of the statement on a line compared with its columns. Its lines keep their numbers. */
function withCheck(
  source: string,
  line: number,
  columns: Columns,
  neverNull: readonly string[],
  find: FindDeclared,
): string {
  const start = source.split('\n', line - 1).join('\n').length;
  const names = Object.keys(columns);
  const declared = find(source, start, names);
  if (declared === null) return source;
  const row = source.slice(declared.from, declared.to).trim();
  const nullable = names.filter((name) => columns[name] && !neverNull.includes(name));
  const checked = `Checked<${row}, ${union(names)}, keyof (${row}), ${union(nullable)}>`;
  return source.slice(0, declared.from) + checked + source.slice(declared.to);
}

const union = (names: readonly string[]): string => names.map((name) => JSON.stringify(name)).join(' | ') || 'never';
