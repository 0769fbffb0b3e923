import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { Misconfigured } from '../config.ts';

const value = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())]);
const row = z.looseObject({ slug: z.string(), provider: z.string() }).catchall(value);
const schema = z.array(
  z.object({ key: z.string().regex(/^[a-z]+$/), name: z.string(), active: z.boolean(), rows: z.array(row) }),
);

export type Row = z.infer<typeof row>;
export type Category = z.infer<typeof schema>[number];

/** @throws {Misconfigured}; the message says where. */
export function readCategories(file: string | URL): Category[] {
  try {
    const parsed = schema.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (parsed.success) return parsed.data;
    throw new Error(`it must look like services/discovery/providers.json\n${z.prettifyError(parsed.error)}`);
  } catch (error) {
    throw new Misconfigured(`PROVIDERS_FILE ${file.toString()} cannot be read: ${(error as Error).message}`);
  }
}

export const filters = z.array(z.object({ id: z.string(), value: z.array(z.string()) }));
type Filter = z.infer<typeof filters>[number];

/** In the file's order; case does not matter. */
export function findRows(rows: readonly Row[], search: string, filters: readonly Filter[]): Row[] {
  const words = folded(search).split(/\s+/).filter(Boolean);
  return rows.filter((row) => {
    const text = folded(Object.values(row).flat().join(' '));
    return words.every((word) => text.includes(word)) && filters.every((filter) => passes(row, filter));
  });
}

function passes(row: Row, { id, value }: Filter): boolean {
  const held = Object.hasOwn(row, id) ? [row[id]].flat().map((value) => folded(String(value))) : [];
  return value.length === 0 || value.some((wanted) => held.includes(folded(wanted)));
}

function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
