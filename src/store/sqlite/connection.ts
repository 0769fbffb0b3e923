import { Worker } from 'node:worker_threads';
import { ConfigError, StoreError } from '../../errors.ts';
import { createCallQueue, createPendingCalls } from './call-queue.ts';
import type { Call } from './methods.ts';
import type { Post } from './thread-messages.ts';

/** A commit that takes this long means a slow disk: waiting calls then share a transaction. */
const SLOW_SYNC_MS = 5;
const CLOSED = new StoreError('The database is closed.', 'LEDGERBELL_CLOSED');

/** A thread that owns one connection. */
export interface Connection {
  call(call: Call): Promise<unknown>;
  /** How long the disk took for the last commit, or has taken for the present one until now; in milliseconds. */
  syncMs(): number;
  close(): Promise<void>;
}

/** Callbacks of a connection. */
interface ConnectionListener {
  /** The thread ended without being closed. Every call fails from now on. */
  onLost(error: Error): void;
  /** A call failed. */
  onError(error: StoreError): void;
  /** A migration made progress. */
  onProgress(details: object, message: string): void;
}

/** Starts a thread that owns one connection, and opens the file once `before` resolves; rejects when either fails. */
export async function openConnection(
  workerData: { file: string; reads: boolean },
  before: Promise<unknown>,
  { onLost, onError, onProgress }: ConnectionListener,
): Promise<Connection> {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData });
  const queue = createCallQueue();
  const pending = createPendingCalls();
  const disk = createSyncTimer();
  const ready = Promise.withResolvers<void>();
  let ended: ConfigError | StoreError | null = null;
  let isOpen = false;

  function end(error: ConfigError | StoreError): void {
    ended ??= error;
    ready.reject(error);
    if (isOpen) onLost(error);
    isOpen = false;
    pending.rejectAll(error);
  }

  function post(): void {
    if (disk.isRunning()) return;
    const calls = queue.take(disk.lastMs() >= SLOW_SYNC_MS);
    if (calls.length === 0) return;
    disk.begin();
    worker.postMessage(calls);
  }

  // An error from another thread keeps its name and loses its class.
  worker.on('error', (error) => {
    const { name, message, code, stack } = error as NodeJS.ErrnoException;
    if (name === 'ConfigError') end(new ConfigError(message));
    else end(Object.assign(new StoreError(message, code), { stack }));
  });
  worker.on('exit', () => end(CLOSED));
  worker.on('message', (message: Post) => {
    if ('ready' in message) return ready.resolve();
    if ('details' in message) return onProgress(message.details, message.message);
    disk.end(message.syncMs);
    // The thread continues while this one processes the results.
    post();
    for (const { id, result, error: failure } of message.results) {
      if (!failure) pending.resolve(id, result);
      else {
        const error = new StoreError(failure.message, failure.code);
        onError(error);
        pending.reject(id, error);
      }
    }
    pending.checkDrained();
  });
  before.then(
    () => worker.postMessage('open'),
    () => worker.terminate(),
  );
  await ready.promise;
  isOpen = true;

  return {
    call: (call) =>
      new Promise((resolve, reject) => {
        if (ended || pending.isDraining()) return reject(ended ?? CLOSED);
        queue.add({ id: pending.add({ resolve, reject }), call });
        post();
      }),
    syncMs: disk.ms,
    async close() {
      if (ended) return;
      isOpen = false;
      await pending.drain();
      const exited = new Promise((resolve) => worker.once('exit', resolve));
      worker.postMessage('close');
      await exited;
    },
  };
}

/** Measures how long commits take. */
function createSyncTimer() {
  let lastMs = 0;
  let begunAt: number | null = null;
  return {
    isRunning: (): boolean => begunAt !== null,
    begin(): void {
      begunAt = performance.now();
    },
    /** Records that the calls ended; `syncMs`: how long their commit took, if they had one. */
    end(syncMs: number | null): void {
      begunAt = null;
      if (syncMs !== null) lastMs = syncMs;
    },
    lastMs: (): number => lastMs,
    /** How long the last commit took, or the present one has taken until now. */
    ms: (): number => Math.max(lastMs, begunAt === null ? 0 : performance.now() - begunAt),
  };
}
