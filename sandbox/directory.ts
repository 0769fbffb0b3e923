import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

type Rows = Record<string, unknown>[];

const read = <Content>(path: string): Content =>
  JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as Content;

/** Writes the services' directory, with providers that try to deceive, and returns the file. */
export function writeDirectory(folder: string): string {
  const hostile = read<{ category: string; row: Rows[number] }[]>('hostile-providers.json');
  const categories = read<{ key: string; rows: Rows }[]>('../services/discovery/providers.json').map((category) => ({
    ...category,
    rows: [...category.rows, ...hostile.filter((provider) => provider.category === category.key).map(({ row }) => row)],
  }));
  const file = join(folder, 'providers.json');
  writeFileSync(file, JSON.stringify(categories));
  return file;
}
