import { readFileSync } from 'node:fs';

/** A database's columns in their tables; true: the column may be null. */
export type Tables = Record<string, Record<string, boolean>>;

const ONLY_ON_POSTGRES = 'only on Postgres';

/** What docs/tables.md says of an engine: its tables and columns, and whether a description says what null means. */
export function documentedTables(engine: 'sqlite' | 'postgres'): Tables {
  const [shared, own] = readFileSync('docs/tables.md', 'utf8').split('## Only on Postgres');
  const text = engine === 'postgres' ? shared! + own! : shared!;
  const sections = text.split('\n### ').slice(1);
  return Object.fromEntries(
    sections.map((section) => {
      const rows = [...section.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)];
      const kept = rows.filter(([, , holds]) => engine === 'postgres' || !holds!.startsWith(ONLY_ON_POSTGRES));
      const columns = kept.map(([, column, holds]) => [column!, /\bnull\b/.test(holds!)]);
      return [/^`(\w+)`/.exec(section)![1]!, Object.fromEntries(columns) as Tables[string]];
    }),
  );
}
