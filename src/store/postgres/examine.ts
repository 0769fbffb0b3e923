import { connect } from './connection.ts';
import { WORKING } from './leadership.ts';
import { SCHEMA_VERSION, versionOf } from './schema.ts';

/** The state of a database: its server's version, its schema (0: none) and this program's, and whether a process works. */
export interface Examination {
  server: string;
  schema: number;
  newest: number;
  isWorking: boolean;
}

/** Looks at a database without changing it; rejects with a `StoreError` when it cannot be reached. */
export async function examine(url: string): Promise<Examination> {
  await using stack = new AsyncDisposableStack();
  const { reads } = stack.adopt(connect(url), ({ close }) => close());
  const server = await reads.get<{ version: string }>(
    `SELECT split_part(current_setting('server_version'), ' ', 1) AS version`,
  );
  const working = await reads.get<{ held: boolean }>(`SELECT EXISTS (${WORKING}) AS held`);
  return { server: server!.version, schema: await versionOf(reads), newest: SCHEMA_VERSION, isWorking: working!.held };
}
