import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { importsOf, LEVELS, roomOf } from './levels.ts';

/** docs/architecture.md, compared with the imports of the sources. */

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const filesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));
const ARCHITECTURE = read('docs/architecture.md');

/** A line of the picture of the rooms: what it names, and its box, counted from the top. */
interface Line {
  rooms: string[];
  box: number;
}

const PICTURE = ARCHITECTURE.split('```mermaid\n')[1]!.split('```')[0]!;
const DRAWN = [...PICTURE.matchAll(/^ {2}(\w+)\["(.+)"\]$/gm)].map(([, id, text]) => ({ id: id!, text: text! }));
// Each line of a box has names and, behind a colon, their job. One that ends in a comma goes on in the next.
const LINES: Line[] = DRAWN.flatMap(({ text }, box) =>
  text
    .replaceAll(',<br>', ', ')
    .split('<br>')
    .map((line) => ({ rooms: line.split(': ')[0]!.split(', '), box })),
);
const nameOf = (room: string): string => room.replace(/^src\//, '');
const lineOf = (path: string): Line => LINES.find(({ rooms }) => rooms.includes(nameOf(roomOf(path))))!;
const SOURCES = [...filesIn('src'), ...filesIn('commands')];
/** Every import of a room's file. */
const IMPORTS = SOURCES.flatMap((path) =>
  importsOf(path).map((target) => ({ path, target, from: lineOf(path), to: lineOf(target) })),
);

it('draws every room in the picture of the rooms', () => {
  expect(LINES.flatMap(({ rooms }) => rooms).toSorted()).toEqual(LEVELS.flat().map(nameOf).toSorted());
});

it('draws the rooms so that every import leads to a lower box', () => {
  const upward = IMPORTS.filter(({ path, target, from, to }) => roomOf(path) !== roomOf(target) && from.box >= to.box);
  expect(upward.map(({ path, target }) => `${path} imports ${target}`)).toEqual([]);
  expect(PICTURE, 'one arrow from each box to the next').toContain(`  ${DRAWN.map(({ id }) => id).join(' --> ')}\n`);
});

it('lists in the table of the rooms exactly what each of them imports', () => {
  const forAll = DRAWN.findIndex(({ text }) => text.endsWith(': for every room'));
  const table = ARCHITECTURE.split('| room |')[1]!.split('\n\n')[0]!.split('\n').slice(2);
  const namedIn = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
  const listed = table.map((line) => {
    const [, paths, , imported] = line.split('|');
    const rooms = new Set(namedIn(paths).map((path) => lineOf(path).rooms[0]!));
    return [[...rooms].join(), namedIn(imported).toSorted()];
  });
  const imported = LINES.map((line) => {
    const others = IMPORTS.filter(({ from, to }) => from === line && to !== line && to.box < forAll);
    return [line.rooms[0]!, [...new Set(others.map(({ to }) => to.rooms[0]!))].toSorted()];
  });
  expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(imported));
});

it('names in the path of an event only files that the bot loads, and methods that the port has', () => {
  const [, section = ''] = /^## The path of an event$(.*?)^## /ms.exec(ARCHITECTURE)!;
  const loaded = new Set(['src/main.ts']);
  for (const path of loaded) for (const target of importsOf(path)) loaded.add(target);
  const files = section.split(/^\d\. /m).flatMap((step) => {
    const paths = [...step.matchAll(/`([\w/-]+\.ts)`/g)].map(([, path]) => path!);
    // A name without a folder is in that of the step's first file.
    return paths.map((path) => (path.includes('/') ? path : join(dirname(paths[0]!), path)));
  });
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((path) => !loaded.has(path))).toEqual([]);

  const port = read('src/store/store.ts');
  const membersOf = (name: string): string =>
    new RegExp(`^export interface ${name} \\{\\n(.*?)^\\}`, 'ms').exec(port)?.[1] ?? '';
  const isMethod = (group: string, method: string): boolean => {
    const type = new RegExp(`^  ${group}: (\\w+);`, 'm').exec(membersOf('Store'))?.[1] ?? 'nothing';
    return new RegExp(`^  ${method}\\(`, 'm').test(membersOf(type));
  };
  const methods = [...section.matchAll(/\b([a-z]+)\.(?!ts\b)([a-z]\w+)/gi)];
  expect(methods.length).toBeGreaterThan(5);
  expect(methods.filter(([, group, method]) => !isMethod(group!, method!)).map(([name]) => name)).toEqual([]);
});
