import { existsSync, statSync } from 'node:fs';
import Database from 'better-sqlite3';
import { ConfigError, StoreError } from '../../errors.ts';
import type { Copyable } from '../copy.ts';
import type { OpenStore } from '../open.ts';
import { type Call, portOver, runCall } from '../queries/index.ts';
import { type MigrationReport, SCHEMA_VERSION } from '../schema.ts';
import type { Mode } from '../sql.ts';
import type { Store } from '../store.ts';
import { connectExisting, disposable, openDatabase, takeLock, versionOf } from './database.ts';
import { damageMessage, isDamage, REPLACED, whereBackups } from './files.ts';
import { transactions } from './sql.ts';
import { startThread, type Thread } from './thread.ts';

export async function openSqlite(file: string, report: MigrationReport = () => undefined): Promise<OpenStore> {
  await using stack = new AsyncDisposableStack();
  // The last connection to close writes the log back to the file, so the writer closes last.
  const writer = stack.adopt(await startThread({ file, isReader: false }, report), ({ close }) => close());
  let reader: Promise<Thread> | null = null;
  stack.defer(async () => {
    const started = reader;
    // The writer refuses what is asked later.
    reader = Promise.resolve(writer);
    await (await started)?.close();
  });
  const failed = Promise.withResolvers<Error>();
  let fault: Error | null = null;

  function fail(error: Error): void {
    fault ??= error;
    failed.resolve(fault);
  }

  function note({ code, message }: { code?: string | undefined; message: string }): void {
    if (isDamage(code)) fail(new ConfigError(`The database ${damageMessage(file, message)}`));
    if (code === REPLACED)
      fail(
        new ConfigError(
          `${message} while the bot was running. Put it back, or restore the newest backup from ` +
            `${whereBackups(file)} (npm run restore -- <backup>), then start the bot.`,
        ),
      );
  }

  /** Starts with the first report: an idle bot does without the thread's 20 MiB. */
  function readerThread(): Promise<Thread> {
    if (reader) return reader;
    reader = startThread({ file, isReader: true }, report);
    void reader.then(({ lost }) => lost.then(fail), fail);
    return reader;
  }

  async function make(call: Call, mode: Mode): Promise<unknown> {
    if (fault !== null) throw new StoreError(fault.message, REPLACED);
    try {
      const thread = mode === 'report' ? await readerThread() : writer;
      return await thread.call(call, mode);
    } catch (error) {
      note(error as StoreError);
      throw error;
    }
  }

  void writer.lost.then((error) => {
    note(error);
    fail(error);
  });
  const store = portOver(make);
  const opened = stack.move();
  return {
    store,
    ready: Promise.resolve(),
    lock: null,
    failed: failed.promise,
    syncMs: writer.syncMs,
    async close() {
      // The path may lead to another file now: closing the open one would remove the log of the new one.
      if (fault === null) await opened.disposeAsync();
    },
  };
}

/** For tools, in this thread, also while a bot runs. Throws an Error with a message for the operator. */
export function openExisting(file: string): { store: Store; close(): void } {
  const db = connectExisting(file);
  const { run } = transactions(db);
  let last: Promise<unknown> = Promise.resolve();
  const make = (call: Call, mode: Mode): Promise<unknown> => {
    const made = last.then(() => run(mode, (sql) => runCall(sql, call)));
    last = made.catch(() => undefined);
    return made.catch((error: Error & { code?: string }) => {
      throw new StoreError(error.message, error.code);
    });
  };
  return { store: portOver(make), close: () => void db.close() };
}

/** Throws an Error with a message for the operator while a bot uses the file. */
export function openFileForCopy(file: string, { isSource }: { isSource: boolean }): Copyable {
  if (isSource && !existsSync(file)) throw new Error(`There is no database at ${file}.`);
  const { db, close } = openDatabase(file);
  return { name: file, run: transactions(db).run, [Symbol.asyncDispose]: async () => close() };
}

export type Examination =
  | { status: 'absent' }
  /** `schema` is the file's, `newest` this program's; `inUse`: a bot runs on it. */
  | { status: 'sound'; bytes: number; schema: number; newest: number; inUse: boolean }
  | { status: 'damaged' | 'unusable'; reason: string };

/** Changes nothing, also while a bot uses the file. Large files take minutes. */
export function examine(file: string): Examination {
  if (!existsSync(file)) return { status: 'absent' };
  try {
    using db = disposable(new Database(file, { readonly: true, fileMustExist: true }));
    const schema = versionOf(db);
    const found = String(db.pragma('quick_check(1)', { simple: true }));
    if (found !== 'ok') return { status: 'damaged', reason: found };
    return { status: 'sound', bytes: statSync(file).size, schema, newest: SCHEMA_VERSION, inUse: isInUse(file) };
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string };
    return { status: isDamage(code) ? 'damaged' : 'unusable', reason: message };
  }
}

function isInUse(file: string): boolean {
  try {
    takeLock(file).close();
    return false;
  } catch {
    return true;
  }
}
