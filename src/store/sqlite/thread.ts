import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { isDelivery } from './call-queue.ts';
import { setCheckpoints } from './checkpoints.ts';
import { openDatabase, openReader } from './database.ts';
import { findChange, identify, REPLACED } from './health.ts';
import { type Call, type FileMethods, METHODS, type On } from './methods.ts';
import type { CallResult, Post, PostedCall } from './thread-messages.ts';

/**
 * A thread that owns one connection: the only writer, or a reader. So the event loop never waits for a disk or a lock,
 * and no write waits for a long report.
 */

const port = parentPort!;
const { file, reads } = workerData as { file: string; reads: boolean };
// Each loads only its own modules: threads do not share them in memory.
const openGroups: (db: Database) => object = reads
  ? (await import('./read-methods.ts')).openReadMethods
  : (await import('./tables.ts')).openTables;
await once(port, 'message'); // 'open'
const { db, close } = reads
  ? openReader(file)
  : openDatabase(file, (details, message) => port.postMessage({ details, message } satisfies Post));
const maintenance: FileMethods = { copyTo: (target) => void db.prepare('VACUUM INTO ?').run(target) };
/** A call names a method together with its arguments, which the compiler cannot follow through an index. */
const tables = { ...openGroups(db), file: maintenance } as unknown as Record<
  Call['group'],
  Record<Call['method'], (...args: unknown[]) => unknown>
>;
const opened = identify(file);
/** How often the thread checks whether Litestream has begun to copy the database. The bot's clock stays in its thread. */
const CHECK_EVERY_MS = 2_000;
const looking = reads ? undefined : setInterval(look, CHECK_EVERY_MS);

port.on('message', (calls: PostedCall[] | 'close') => {
  if (calls === 'close') {
    clearInterval(looking);
    close();
    port.close();
    return;
  }
  port.postMessage(calls.some(isDelivery) || calls.length > 1 ? together(calls) : alone(calls));
});
port.postMessage({ ready: true } satisfies Post);

function look(): void {
  try {
    setCheckpoints(db);
  } catch {
    // The next call reports what is wrong with the file.
  }
}

const alone = (calls: PostedCall[]): Post => ({ results: calls.map(run), syncMs: null });

/** Runs calls in one transaction, so that they wait for the disk once. Each call fails on its own. */
function together(calls: PostedCall[]): Post {
  const results: CallResult[] = [];
  let syncMs: number | null = null;
  try {
    db.exec('BEGIN IMMEDIATE');
    for (const call of calls) {
      results.push(run(call));
      // A full or failing disk has rolled back the transaction and the earlier calls in it.
      if (!db.inTransaction) throw results.at(-1)!.error;
    }
    const began = performance.now();
    db.exec('COMMIT');
    syncMs = performance.now() - began;
    // A delivery in a file that was removed or replaced must not be acknowledged.
    const change = findChange(opened);
    if (change !== null) throw Object.assign(new Error(change), { code: REPLACED });
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    const { message, code } = error as Error & { code?: string };
    return { results: calls.map(({ id }) => ({ id, error: { message, code } })), syncMs };
  }
  return { results, syncMs };
}

/** Lets a read on the writer see one moment, too, although the operator's tools may write in the meantime. */
const atOneMoment = db.transaction((read: () => unknown) => read());

const isReadNow = ({ group, method }: Call): boolean =>
  group !== 'file' && (METHODS[group] as Record<string, On>)[method] === 'read now';

function run({ id, call }: PostedCall): CallResult {
  const { group, method, args } = call;
  const made = () => tables[group][method](...args);
  try {
    return { id, result: isReadNow(call) ? atOneMoment(made) : made() };
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    return { id, error: { message, code } };
  }
}
