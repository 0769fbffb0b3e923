import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * The rooms, from the bottom to the top. A file may import its own room and the rooms on lower levels, types included;
 * rooms on one level never import each other. What crosses between them is passed by `app.ts`, in domain types.
 */
export const LEVELS = [
  ['src/errors'],
  ['src/domain', 'src/languages', 'src/secrets', 'src/log'],
  ['src/config', 'src/limits', 'src/listen'],
  ['src/metrics'],
  ['src/store'],
  ['src/store/queries'],
  [
    'src/store/sqlite',
    'src/store/postgres',
    'src/receiver',
    'src/routing',
    'src/delivery',
    'src/discord',
    'src/upstream',
    'src/completeness',
    'src/maintenance',
  ],
  ['commands'],
  ['src/operator'],
  ['src/app'],
  ['src/start'],
  ['src/main'],
];

export function roomOf(path: string): string {
  const [top = '', second = '', third = '', file] = path.replace(/\.ts$/, '').split('/');
  if (top !== 'src') return top;
  // The port is one room, the queries another, and each engine one more.
  return second === 'store' && file !== undefined ? `src/store/${third}` : `src/${second}`;
}

export function importsOf(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const found = text.matchAll(
    /^(?:import|export)\s+(?:type\s)?[^'"]*?from\s+'(\.[^']+)'|(?:^|[^\w])import\('(\.[^']+)'\)|^import\s+'(\.[^']+)'/gms,
  );
  return [...found]
    .map(([, from, dynamic, bare]) => relative(ROOT, resolve(ROOT, dirname(path), (from ?? dynamic ?? bare)!)))
    .filter((target) => target.endsWith('.ts'));
}
