import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { type Call, runCall } from '../queries/index.ts';
import type { Mode } from '../sql.ts';
import { openDatabase, openReader, setCheckpoints } from './database.ts';
import { REPLACED, realFile } from './files.ts';
import { transactions } from './sql.ts';

/** The only writer, or the reader of reports: the event loop never waits for a disk, nor a delivery for a report. */

export type Post =
  | { ready: true }
  | { details: object; message: string }
  | { change: string }
  | { result: unknown; syncMs: number }
  | { error: { message: string; code?: string | undefined }; syncMs: number };

const port = parentPort!;
const post: (message: Post) => void = port.postMessage.bind(port);
const { file, isReader } = workerData as { file: string; isReader: boolean };

const { db, close } = isReader
  ? openReader(file)
  : openDatabase(file, (details, message) => post({ details, message }));
const { run, syncMs } = transactions(db);
const opened = identify(file);

async function answer({ call, mode }: { call: Call; mode: Mode }): Promise<void> {
  try {
    const result = await run(mode, (sql) => runCall(sql, call));
    // What is in a file that was removed or replaced must not be acknowledged.
    const change = findChange(opened);
    if (change !== null) throw Object.assign(new Error(change), { code: REPLACED });
    post({ result, syncMs: syncMs() });
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    post({ error: { message, code }, syncMs: syncMs() });
  }
}

port.on('message', (message: { call: Call; mode: Mode } | 'close') => {
  if (message !== 'close') return void answer(message);
  close();
  port.close();
});

const LOOK_MS = 2_000;
if (!isReader) setInterval(look, LOOK_MS).unref();
post({ ready: true });

function look(): void {
  try {
    const change = findChange(opened);
    if (change !== null) post({ change });
    setCheckpoints(db);
  } catch {
    // The next call reports what is wrong with the file.
  }
}

/** The database file, its log and the log's index; `identity` null: there is no such file. */
type FileIdentity = { path: string; identity: string | null };

function identify(path: string): FileIdentity[] {
  const real = realFile(path);
  const paths = new Set([path, real, `${real}-wal`, `${real}-shm`]);
  return [...paths].map((each) => ({ path: each, identity: identityOf(each) }));
}

/** null: nothing was removed or replaced. */
function findChange(files: readonly FileIdentity[]): string | null {
  for (const { path, identity } of files) {
    const now = identityOf(path);
    if (now !== identity) return `${path} was ${now === null ? 'removed' : 'replaced'}`;
  }
  return null;
}

function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
