import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { migrations } from '../src/store/sqlite/migrations.ts';

const root = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => join(folder, name));

/** Every page that people read about the project. */
const PAGES = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['docs', 'services', 'sandbox', 'bench'].flatMap((folder) => filesIn(folder, '.md')),
];
const ARCHITECTURE = read('docs/architecture.md');

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): Set<string> {
  const headings = read(page).matchAll(/^#{1,6} (.+)$/gm);
  return new Set(
    [...headings].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

it.each(PAGES)('every relative link in %s leads to a file and an anchor that exist', (page) => {
  const prose = read(page).replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, link]) => link!);
  const broken = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : relative(root, resolve(root, dirname(page), path));
    if (!existsSync(join(root, target))) return true;
    return anchor !== undefined && !anchorsOf(target).has(anchor);
  });
  expect(broken).toEqual([]);
});

it.each(PAGES)('every npm script that %s names exists', (page) => {
  const named = [...read(page).matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, script]) => script!);
  expect(named.filter((script) => !(script in packageJson.scripts))).toEqual([]);
});

it.each(PAGES)('every path in code style in %s exists', (page) => {
  const paths = [...read(page).matchAll(/`((?:src|commands|test|services|sandbox|bench|docs|data)\/[\w./-]*)`/g)];
  // Made when the bot or the bench runs.
  const made = /^(data\/.|bench\/results\.json$)/;
  const missing = paths.map(([, path]) => path!).filter((path) => !made.test(path) && !existsSync(join(root, path)));
  expect(missing).toEqual([]);
});

it('names exactly the variables of the configuration in .env.example', () => {
  const inSchema = [...read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm)].map(([, name]) => name!);
  const inExample = [...read('.env.example').matchAll(/^#? ?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name!);
  expect(inExample.toSorted()).toEqual(inSchema.toSorted());
});

/** A room, as the picture names it; what everything may import is left out of the picture. */
function roomOf(path: string): string | null {
  const [top = '', second = '', third = ''] = path.replace(/\.ts$/, '').split('/');
  if (top === 'commands') return 'commands';
  if (top !== 'src') return null;
  if (second === 'store') return third === 'store' ? 'store/store' : 'store/sqlite';
  return ROOMS.includes(second) ? second : null;
}
const ROOMS = ['main', 'app', 'receiver', 'routing', 'delivery', 'discord', 'upstream'];

it('draws every import between rooms in the picture of the rooms, and no other', () => {
  const sources = [...filesIn('src', '.ts'), ...filesIn('commands', '.ts')];
  const edges = new Set<string>();
  for (const path of sources) {
    for (const [, target] of read(path).matchAll(/from '(\.[^']+\.ts)'|import\('(\.[^']+\.ts)'\)/g)) {
      if (target === undefined) continue;
      const [from, to] = [roomOf(path), roomOf(relative(root, resolve(root, dirname(path), target)))];
      if (from !== null && to !== null && from !== to) edges.add(`${from} --> ${to}`);
    }
  }
  const picture = ARCHITECTURE.split('```mermaid')[1]!.split('```')[0]!;
  const drawn = [...picture.matchAll(/^ *(\w+)(?:\["[^"]*"\])? --> (\w+)(?:\["[^"]*"\])?$/gm)];
  const names = new Map([...picture.matchAll(/(\w+)\["([\w/]+)[^"]*"\]/g)].map(([, id, name]) => [id!, name!]));
  const name = (id: string) => names.get(id) ?? id;
  expect(drawn.map(([, from, to]) => `${name(from!)} --> ${name(to!)}`).toSorted()).toEqual([...edges].toSorted());
});

it('lists every table of the database, and no other', () => {
  const tables = new Set<string>();
  for (const sql of migrations) {
    for (const [, made, dropped, from, to] of sql.matchAll(
      /CREATE TABLE (\w+)|DROP TABLE (\w+)|ALTER TABLE (\w+) RENAME TO (\w+)/g,
    )) {
      if (made) tables.add(made);
      if (dropped ?? from) tables.delete((dropped ?? from)!);
      if (to) tables.add(to);
    }
  }
  const section = ARCHITECTURE.split('## Tables')[1]!.split('\n## ')[0]!;
  const listed = [...section.matchAll(/^\| `(\w+)` \|/gm)].map(([, table]) => table!);
  expect(listed.toSorted()).toEqual([...tables].toSorted());
});
