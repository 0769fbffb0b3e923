import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { commands } from '../commands/index.ts';
import { COLUMNS } from '../commands/subscription/file.ts';
import { makeSite } from '../docs/site/make.ts';
import { anchorOf } from '../docs/site/page.ts';
import { referenceFiles } from '../docs/site/reference.ts';
import packageJson from '../package.json' with { type: 'json' };

const ROOT = resolve(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => join(folder, name));

/** Every page that people read about the project. */
const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...['docs', 'services', 'sandbox', 'bench'].flatMap((folder) => filesIn(folder, '.md')),
];

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(page: string): Set<string> {
  const headings = read(page).matchAll(/^#{1,6} (.+)$/gm);
  return new Set([...headings].map(([, heading]) => anchorOf(heading!)));
}

it.each(PAGES)('keeps every relative link in %s leading to a file and an anchor that exist', (page) => {
  const prose = read(page).replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
  const links = [...prose.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, link]) => link!);
  const broken = links.filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : relative(ROOT, resolve(ROOT, dirname(page), path));
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && !anchorsOf(target).has(anchor);
  });
  expect(broken).toEqual([]);
});

it.each(PAGES)('names only npm scripts that exist in %s', (page) => {
  const named = [...read(page).matchAll(/npm run ([a-z][\w:-]*)/g)].map(([, script]) => script!);
  expect(named.filter((script) => !(script in packageJson.scripts))).toEqual([]);
});

it.each(PAGES)('names only paths that exist in %s', (page) => {
  const paths = [...read(page).matchAll(/`((?:src|commands|test|services|sandbox|bench|docs|data)\/[\w./-]*)`/g)];
  // Made when the bot or the bench runs.
  const made = /^(data\/.|bench\/results\.json$)/;
  const missing = paths.map(([, path]) => path!).filter((path) => !made.test(path) && !existsSync(join(ROOT, path)));
  expect(missing).toEqual([]);
});

/** The source of everything that may read a variable. */
const SOURCES = [
  ...['src', 'services', 'sandbox', 'bench', 'test'].flatMap((folder) => filesIn(folder, '.ts')),
  'compose.yaml',
  'Dockerfile',
];

it('names only variables that are read somewhere', () => {
  const sources = SOURCES.map(read).join('\n');
  const unknown = PAGES.flatMap((page) =>
    [...read(page).matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9])(?:=[^`]*)?`/g)]
      .filter(([, name]) => name !== 'UPPER_CASE' && !new RegExp(`\\b${name}\\b`).test(sources))
      .map(([, name]) => `${page}: ${name}`),
  );
  expect(unknown).toEqual([]);
});

describe('slash commands', () => {
  interface Described {
    name: string;
    description?: string;
    options?: (Described & { type: number })[];
  }
  /** `/subscription add` and its options, for each command that has a description. */
  const defined = new Map<string, string[]>();
  for (const { data } of commands) {
    const { name, description, options = [] } = data.toJSON() as Described;
    if (description === undefined) continue;
    const subcommands = options.filter(({ type }) => type === 1);
    if (subcommands.length === 0)
      defined.set(
        `/${name}`,
        options.map((option) => option.name),
      );
    for (const one of subcommands)
      defined.set(
        `/${name} ${one.name}`,
        (one.options ?? []).map((option) => option.name),
      );
  }
  const groups = new Set([...defined.keys()].map((name) => name.split(' ')[0]!));
  const routes =
    /^\/(healthz|readyz|metrics|notification|explorer|discovery|state|events|messages|requests|interactions|world|faults|tmp)$/;
  const admins = read('docs/admins.md');

  it.each(PAGES)('names only slash commands that exist in %s', (page) => {
    const named = [...read(page).matchAll(/`(\/[a-z]+)(?: ([a-z]+)\b(?!:))?(?=[` ])/g)];
    const unknown = named.filter(([, group = '', subcommand]) => {
      if (!groups.has(group)) return !routes.test(group);
      const isPlain = defined.has(group) || subcommand === undefined;
      return !isPlain && !defined.has(`${group} ${subcommand}`);
    });
    expect(unknown.map(([text]) => text)).toEqual([]);
  });

  it('shows every slash command in a section and a picture of the page for admins', () => {
    const parts = admins.split(/^##+ /m);
    const lacking = [...defined.keys()].filter(
      (name) =>
        !parts.some(
          (part) => part.includes(`\`${name}\``) && new RegExp(`!\\[The [a-z]+ (to|of) ${name}\\]\\(`).test(part),
        ),
    );
    expect(lacking).toEqual([]);
  });

  it('lists exactly the options of subscriptions in the page for admins', () => {
    const optionsIn = (section: string): string[] =>
      [...section.split('\n### ')[0]!.matchAll(/^\| (`.+?`) \|/gm)].flatMap(([, cell]) =>
        cell!.split(', ').map((name) => name.replaceAll('`', '')),
      );
    const [, add = ''] = admins.split('### `/subscription add`');
    const [, edit = ''] = admins.split('### `/subscription edit`');
    const inAdd = defined.get('/subscription add')!.filter((name) => name !== 'address' && name !== 'channel');
    expect(optionsIn(add)).toEqual(inAdd);
    const more = defined.get('/subscription edit')!.filter((name) => !defined.get('/subscription add')!.includes(name));
    expect(optionsIn(edit)).toEqual(more.filter((name) => name !== 'subscription'));
  });
});

it('shows the tested example in the README of the Discord stand-in', () => {
  const [, example] = read('test/discord-stand-in/example.test.ts').split(
    /(?<=README\.md, which shows exactly this file\. \*\/\n)/,
  );
  expect(read('sandbox/discord/README.md')).toContain(example);
});

it('lists exactly the columns of each CSV file', () => {
  const [, subscriptions, digests, activity] = read('docs/reference/csv.md').split(/^## /m);
  const columnsIn = (section = ''): string[] => [...section.matchAll(/^\| `(.+?)` \|/gm)].map(([, name]) => name!);
  const [digestHead, activityHead] = [...read('src/discord/csv.ts').matchAll(/'(received,[^']+)'/g)].map(([, head]) =>
    head!.split(','),
  );
  expect(columnsIn(subscriptions)).toEqual(COLUMNS);
  expect(columnsIn(digests)).toEqual(digestHead);
  expect(columnsIn(activity)).toEqual(activityHead);
});

it('keeps the generated pages of the reference up to date (otherwise: npm run docs)', async () => {
  for (const [path, content] of Object.entries(await referenceFiles())) expect(read(path), path).toBe(content);
});

describe('the site', () => {
  const folder = mkdtempSync(join(tmpdir(), 'site-'));
  const files = makeSite(folder);
  const html = (file: string): string => readFileSync(join(folder, file), 'utf8');
  afterAll(() => rmSync(folder, { recursive: true }));

  it('contains every page of the documentation in the site, with links that lead somewhere', () => {
    const paths = PAGES.filter((page) => page.startsWith('docs/')).map((page) =>
      page.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html'),
    );
    expect(files).toEqual(expect.arrayContaining(paths));
    const broken: string[] = [];
    for (const file of files.filter((name) => name.endsWith('.html'))) {
      const links = html(file).matchAll(/(?:href|src)="(?!https?:|mailto:|data:)([^"#]*)(?:#([^"]*))?"/g);
      for (const [, path = '', anchor = ''] of links) {
        const target = path === '' ? file : relative(folder, resolve(folder, dirname(file), path));
        const isThere = files.includes(target) && (anchor === '' || html(target).includes(`id="${anchor}"`));
        if (!isThere) broken.push(`${file}: ${path}#${anchor}`);
      }
    }
    expect(broken, 'links that lead nowhere').toEqual([]);
  });

  it('draws each Mermaid diagram with all its words, and loads nothing from elsewhere', () => {
    const pages = PAGES.filter((page) => page.startsWith('docs/') && read(page).includes('```mermaid'));
    const codes = pages
      .flatMap((page) => read(page).split('```mermaid\n').slice(1))
      .map((rest) => rest.split('```')[0]!);
    const drawn = files.filter((name) => name.endsWith('.svg') && /-\d+\.svg$/.test(name)).map(html);
    expect(codes.length).toBeGreaterThan(1);
    expect(drawn).toHaveLength(codes.length);
    const labels = codes.join('\n').matchAll(/\["([^"]+)"\]|participant \w+ as (.+)/g);
    for (const label of [...labels].flatMap(([, box, participant]) => (box ?? participant!).split('<br>'))) {
      expect(
        drawn.some((svg) => svg.includes(`>${label}<`)),
        label,
      ).toBe(true);
    }
    expect(drawn.join('').match(/https?:[^"')]*/g)).toEqual(drawn.map(() => 'http://www.w3.org/2000/svg'));
  });
});

it('names every folder of the repository in a README above it, or in the map', () => {
  const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
  const folders = new Set(files.map((path) => dirname(path)).filter((path) => path !== '.'));
  const maps = ['README.md', 'CONTRIBUTING.md', 'docs/architecture.md'].map(read).join('\n');
  const isNamed = (folder: string): boolean => {
    if (maps.includes(`${folder}/`) || files.includes(join(folder, 'README.md'))) return true;
    const above = files.filter(
      (path) => basename(path) === 'README.md' && !relative(dirname(path), folder).startsWith('..'),
    );
    return above.some((path) => read(path).includes(`${basename(folder)}/`));
  };
  // The parts of what is named: a command, a language, a picture's folder, the data of a test.
  const isPart = (folder: string) =>
    /^(commands|src\/languages|test|docs\/pictures)\/./.test(folder) && isNamed(dirname(folder));
  expect([...folders].filter((folder) => !isNamed(folder) && !isPart(folder))).toEqual([]);
});
