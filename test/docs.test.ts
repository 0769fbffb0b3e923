import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COLUMNS } from '../commands/subscription/file.ts';
import packageJson from '../package.json' with { type: 'json' };
import { defined } from './commands/defined.ts';

/** Everything that the pages name must exist: files, anchors, scripts, variables, commands, columns. */

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const filesIn = (...patterns: string[]): string[] =>
  globSync(patterns, { cwd: ROOT, exclude: ['**/node_modules', 'site'] });

const PAGES = filesIn('*.md', '.github/*.md', '{docs,services,sandbox,bench,test}/**/*.md');

function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

it.each(PAGES)('names only files, anchors, paths and npm scripts that exist in %s', (page) => {
  const text = read(page);
  const prose = text.replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, link]) => link!);
  const broken = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path));
    return !existsSync(join(ROOT, target)) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
  });
  const paths = [...text.matchAll(/`((?:src|commands|test|services|sandbox|bench|docs|\.ci)\/[\w./-]*)`/g)];
  const missing = paths.filter(([, path]) => !existsSync(join(ROOT, path!)));
  const scripts = [...text.matchAll(/npm run ([a-z][\w:-]*)/g)].filter(([, name]) => !(name! in packageJson.scripts));
  expect([broken, missing.map(([path]) => path), scripts.map(([script]) => script)]).toEqual([[], [], []]);
});

it('names only variables that are read somewhere', () => {
  const files = [...filesIn('{src,services,sandbox,bench,test}/**/*.ts', '.ci/*'), 'compose.yaml'];
  const sources = files.map(read).join('\n');
  const unknown = PAGES.flatMap((page) =>
    [...read(page).matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])(?:=[^`]*)?`/g)]
      .filter(([, name]) => name !== 'UPPER_CASE' && !new RegExp(`\\b${name}\\b`).test(sources))
      .map(([, name]) => `${page}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

describe('slash commands', () => {
  /** `/subscription add` and its options, for each command that is typed. */
  const named = new Map([...defined].map(([name, { options }]) => [`/${name}`, options.map((option) => option.name)]));

  it.each(filesIn('README.md', 'docs/**/*.md'))('names only slash commands that exist in %s', (page) => {
    const groups = new Set([...named.keys()].map((name) => name.split(' ')[0]!));
    const found = [...read(page).matchAll(/`(\/[a-z]+)(?: ([a-z]+)\b(?!:))?(?=[` ])/g)];
    const unknown = found.filter(([, group = '', subcommand]) => {
      if (!groups.has(group)) return !/^\/(healthz|readyz|metrics)$/.test(group);
      return subcommand !== undefined && !named.has(group) && !named.has(`${group} ${subcommand}`);
    });
    expect(unknown.map(([text]) => text)).toEqual([]);
  });

  it('shows every slash command in a section and a picture of the page for admins', () => {
    const parts = read('docs/admins.md').split(/^##+ /m);
    const isShown = (name: string): boolean =>
      parts.some(
        (part) => part.includes(`\`${name}\``) && /!\[The [a-z]+ (to|of) \//.test(part) && part.includes(`${name}]`),
      );
    expect([...named.keys()].filter((name) => !isShown(name))).toEqual([]);
  });

  it('lists exactly the options of subscriptions in the page for admins', () => {
    const optionsIn = (command: string): string[] =>
      [
        ...read('docs/admins.md')
          .split(`### \`${command}\``)[1]!
          .split('\n### ')[0]!
          .matchAll(/^\| (`.+?`) \|/gm),
      ].flatMap(([, cell]) => cell!.replaceAll('`', '').split(', '));
    const add = named.get('/subscription add')!;
    const more = named.get('/subscription edit')!.filter((name) => ![...add, 'subscription'].includes(name));
    expect(optionsIn('/subscription add')).toEqual(add.filter((name) => name !== 'address' && name !== 'channel'));
    expect(optionsIn('/subscription edit')).toEqual(more);
  });
});

it('shows the tested example in the README of the Discord stand-in', () => {
  const [, example] = read('test/discord-stand-in/example.test.ts').split(
    /(?<=README\.md, which shows exactly this file\. \*\/\n)/,
  );
  expect(read('sandbox/discord/README.md')).toContain(example);
});

it('lists exactly the columns of each CSV file', () => {
  const [, ...sections] = read('docs/reference/csv.md').split(/^## /m);
  const columns = sections.map((section) => [...section.matchAll(/^\| `(.+?)` \|/gm)].map(([, name]) => name!));
  const heads = [...read('src/discord/render/csv.ts').matchAll(/'(received,[^']+)'/g)].map(([, head]) =>
    head!.split(','),
  );
  expect(columns).toEqual([COLUMNS, ...heads]);
});
