import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { ConfigError, StoreError } from '../../errors.ts';
import type { OpenStore, StoreLog } from '../open.ts';
import { type Method, portOver } from '../queries/index.ts';
import type { MigrationReport } from '../schema.ts';
import type { Mode } from '../sql.ts';
import { damageMessage, isDamage, prepareFolder, REPLACED, whereBackups } from './files.ts';
import type { Call, Post } from './worker.ts';

export async function openSqlite(file: string, log?: StoreLog): Promise<OpenStore> {
  const report: MigrationReport = (details, message) => log?.info(details, message);
  const isNew = !existsSync(file);
  prepareFolder(file);
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

  async function make({ group, name, mode }: Method, ...args: unknown[]): Promise<unknown> {
    if (fault !== null) throw new StoreError(fault.message, REPLACED);
    try {
      const thread = mode === 'report' ? await readerThread() : writer;
      return await thread.call({ group, name, args }, mode);
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
  // With a wrong path the bot would run without any subscription: it would accept every delivery and alert nobody.
  if (isNew)
    log?.warn({ database: file }, 'no database found, creating an empty one; if you expected one, check DATABASE_URL');
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

/** A thread that owns one connection and runs one call at a time. */
interface Thread {
  call(call: Call, mode: Mode): Promise<unknown>;
  syncMs(): number;
  /** The thread ended without being closed, or its files were removed or replaced. */
  lost: Promise<StoreError>;
  /** Runs the calls made before, then closes the connection. */
  close(): Promise<void>;
}

interface Waiting {
  call: Call;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const CLOSED = new StoreError('The database is closed.', 'LEDGERBELL_CLOSED');

async function startThread(workerData: { file: string; isReader: boolean }, report: MigrationReport): Promise<Thread> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData });
  const deliveries: Waiting[] = [];
  const others: Waiting[] = [];
  const [ready, lost] = [Promise.withResolvers<void>(), Promise.withResolvers<StoreError>()];
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  let running: (Waiting & { begunAt: number }) | null = null;
  let wasDelivery = false;
  let lastSyncMs = 0;
  let ended: Error | null = null;
  let isClosing = false;

  /** Deliveries come first, and take turns with the others when both wait. */
  function next(): void {
    if (running) return;
    const queue = deliveries.length > 0 && !(wasDelivery && others.length > 0) ? deliveries : others;
    const waiting = queue.shift();
    if (!waiting) {
      if (isClosing) worker.postMessage('close');
      return;
    }
    wasDelivery = queue === deliveries;
    running = { ...waiting, begunAt: performance.now() };
    worker.postMessage(waiting.call);
  }

  function end(error: Error): void {
    if (ended) return;
    ended = error;
    ready.reject(error);
    if (!isClosing) lost.resolve(error as StoreError);
    for (const { reject } of [...(running ? [running] : []), ...deliveries, ...others]) reject(error);
  }

  worker.on('message', (message: Post) => {
    if ('ready' in message) return ready.resolve();
    if ('details' in message) return report(message.details, message.message);
    if ('change' in message) return lost.resolve(new StoreError(message.change, REPLACED));
    const { resolve, reject } = running!;
    running = null;
    lastSyncMs = message.syncMs;
    // The thread continues while this one takes the result.
    next();
    if ('error' in message) reject(new StoreError(message.error.message, message.error.code));
    else resolve(message.result);
  });
  // An error from another thread keeps its name and loses its class.
  worker.on('error', (error) => {
    const { name, message, code } = error as NodeJS.ErrnoException;
    end(name === 'ConfigError' ? new ConfigError(message) : new StoreError(message, code));
  });
  worker.on('exit', () => end(CLOSED));
  await ready.promise;

  return {
    lost: lost.promise,
    call(call, mode) {
      if (ended || isClosing) return Promise.reject(ended ?? CLOSED);
      const { promise, resolve, reject } = Promise.withResolvers();
      (mode === 'receive' ? deliveries : others).push({ call, resolve, reject });
      next();
      return promise;
    },
    syncMs: () => Math.max(lastSyncMs, running ? performance.now() - running.begunAt : 0),
    async close() {
      if (isClosing || ended) return;
      isClosing = true;
      next();
      await exited;
    },
  };
}
