import { Worker } from 'node:worker_threads';
import { ConfigError, StoreError } from '../../errors.ts';
import type { Call } from '../queries/index.ts';
import type { MigrationReport } from '../schema.ts';
import type { Mode } from '../sql.ts';
import { REPLACED } from './files.ts';
import type { Post } from './worker.ts';

/** A thread that owns one connection and runs one call at a time. */
export interface Thread {
  call(call: Call, mode: Mode): Promise<unknown>;
  syncMs(): number;
  /** The thread ended without being closed, or its files were removed or replaced. */
  lost: Promise<StoreError>;
  /** Runs the calls made before, then closes the connection. */
  close(): Promise<void>;
}

interface Waiting {
  call: Call;
  mode: Mode;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const CLOSED = new StoreError('The database is closed.', 'LEDGERBELL_CLOSED');

export async function startThread(
  workerData: { file: string; isReader: boolean },
  report: MigrationReport,
): Promise<Thread> {
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
    worker.postMessage({ call: waiting.call, mode: waiting.mode });
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
    call: (call, mode) =>
      new Promise((resolve, reject) => {
        if (ended || isClosing) return reject(ended ?? CLOSED);
        (mode === 'receive' ? deliveries : others).push({ call, mode, resolve, reject });
        next();
      }),
    syncMs: () => Math.max(lastSyncMs, running ? performance.now() - running.begunAt : 0),
    async close() {
      if (isClosing || ended) return;
      isClosing = true;
      next();
      await exited;
    },
  };
}
