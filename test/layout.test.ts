import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');

/** Rooms in the order of the arrows: a file may import its own room and the rooms named for it. */
const MAY_IMPORT: Record<string, string[]> = {
  'src/errors': [],
  'src/domain': ['src/errors'],
  'src/config': ['src/errors'],
  'src/secrets': ['src/errors'],
  // What crosses between these comes as arguments; types are the exception, as they vanish at run time.
  'src/receiver': ['src/domain', 'src/errors'],
  'src/pipeline': ['src/domain', 'src/errors'],
  'src/languages': [],
  'src/discord': ['src/domain', 'src/errors', 'src/languages'],
  'src/upstream': ['src/domain', 'src/errors'],
  'src/store': ['src/domain', 'src/errors'],
  // The part of the composition that commands see.
  'src/parts': ['src/discord', 'src/receiver', 'src/secrets', 'src/store', 'src/upstream'],
  'src/upkeep': ['src/domain', 'src/store'],
  // The operator's tools: each is a process edge of its own.
  'src/backup': ['src/store', 'src/config', 'src/errors'],
  'src/restore': ['src/store', 'src/config', 'src/errors'],
  'src/deadletters': ['src/domain', 'src/store', 'src/config', 'src/errors'],
  commands: ['src/domain', 'src/errors', 'src/languages'],
  services: ['src/domain'],
  sandbox: ['src/domain', 'services'],
};

const sources = ['src', 'commands', 'services', 'sandbox'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name)),
);

function roomOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  return top === 'src' ? `src/${second.replace(/\.ts$/, '')}` : top;
}

function importsOf(path: string): { target: string; typeOnly: boolean }[] {
  const text = readFileSync(join(root, path), 'utf8');
  const found = text.matchAll(
    /^(?:import|export)\s+(type\s)?[^'"]*?from\s+'(\.[^']+)'|(?:^|[^\w])import\('(\.[^']+)'\)|^import\s+'(\.[^']+)'/gms,
  );
  return [...found].map(([, type, from, dynamic, bare]) => ({
    target: relative(root, resolve(root, dirname(path), (from ?? dynamic ?? bare)!)),
    typeOnly: type !== undefined,
  }));
}

describe('imports point one way', () => {
  it('finds the sources', () => {
    expect(sources).toContain('src/domain/transfer.ts');
    expect(importsOf('src/main.ts').map(({ target }) => target)).toContain('src/app.ts');
  });

  it.each(sources.filter((path) => !['src/app.ts', 'src/main.ts'].includes(path)))('%s', (path) => {
    const room = roomOf(path);
    const allowed = [room, ...(MAY_IMPORT[room] ?? [])];
    const wrong = importsOf(path).filter(({ target, typeOnly }) => {
      const other = roomOf(target);
      if (allowed.includes(other)) return false;
      // Inside the bot a type may be named across rooms, except by the rules at the bottom.
      const insideTheBot = (name: string) => name.startsWith('src/') || name === 'commands';
      return !(typeOnly && insideTheBot(room) && insideTheBot(other) && room !== 'src/domain' && room !== 'src/errors');
    });
    expect(wrong).toEqual([]);
  });

  it('nothing but main imports app, and nothing imports main', () => {
    const importers = sources.filter((path) => importsOf(path).some(({ target }) => target === 'src/app.ts'));
    expect(importers.filter((path) => path !== 'src/main.ts')).toEqual([]);
    expect(sources.filter((path) => importsOf(path).some(({ target }) => target === 'src/main.ts'))).toEqual([]);
  });
});
