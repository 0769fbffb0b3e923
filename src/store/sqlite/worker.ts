import { on } from 'node:events';
import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { QUERIES } from '../queries/index.ts';
import { openDatabase, openReader, setCheckpoints, transactions } from './database.ts';
import { REPLACED, realFile } from './files.ts';

/** The only writer, or the reader of reports: the event loop never waits for a disk, nor a delivery for a report. */

/** A call of the port's method with this name. */
export interface Call {
  group: string;
  name: string;
  args: unknown[];
}

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
const connection = transactions(db);

const real = realFile(file);
/** The database file, its log and the log's index, and which file each was at first (null: none). */
const opened = new Map([file, real, `${real}-wal`, `${real}-shm`].map((path) => [path, identityOf(path)]));

const LOOK_MS = 2_000;
if (!isReader) setInterval(look, LOOK_MS).unref();
post({ ready: true });

for await (const [message] of on(port, 'message') as AsyncIterable<[Call | 'close']>) {
  if (message === 'close') break;
  try {
    const { mode, run } = QUERIES[message.group]![message.name]!;
    const result = await connection.run(mode, run, ...message.args);
    // What is in a file that was removed or replaced must not be acknowledged.
    const change = findChange();
    if (change !== null) throw Object.assign(new Error(change), { code: REPLACED });
    post({ result, syncMs: connection.syncMs });
  } catch (error) {
    const { message: text, code } = error as Error & { code?: string };
    post({ error: { message: text, code }, syncMs: connection.syncMs });
  }
}
close();
port.close();

function look(): void {
  try {
    const change = findChange();
    if (change !== null) post({ change });
    setCheckpoints(db);
  } catch {
    // The next call reports what is wrong with the file.
  }
}

/** null: nothing was removed or replaced. */
function findChange(): string | null {
  for (const [path, identity] of opened) {
    const now = identityOf(path);
    if (now !== identity) return `${path} was ${now === null ? 'removed' : 'replaced'}`;
  }
  return null;
}

function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}
