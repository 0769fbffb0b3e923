import { Worker } from 'node:worker_threads';
import { StoreError } from '../errors.ts';
import type { Store } from './tables.ts';

type Answer = { ready: true } | { id: number; result?: unknown; error?: { message: string; code?: string } };

/** What only reads has a thread of its own. */
const READS: (keyof Store)[] = ['reports', 'ledger', 'figures'];

type Call = (group: string, method: string, args: unknown[]) => Promise<unknown>;

/**
 * Opens the database in threads of its own; rejects with a message for the operator when that cannot be done. `onLost`
 * is called when a thread ends that nobody closed: every call fails from then on.
 */
export async function openStore(
  file: string,
  onLost: (error: Error) => void = () => undefined,
): Promise<{ store: Store; close(): Promise<void> }> {
  const writer = await openThread({ file, reads: false }, onLost);
  let reader: Awaited<ReturnType<typeof openThread>>;
  try {
    reader = await openThread({ file, reads: true }, onLost);
  } catch (error) {
    await writer.close();
    throw error;
  }
  const methodsOf = (group: string, call: Call) =>
    new Proxy(
      {},
      {
        get:
          (_, method: string) =>
          (...args: unknown[]) =>
            call(group, method, args),
      },
    );
  const groups = new Map<string, object>();
  const store = new Proxy({} as Store, {
    get(_, group: string) {
      const { call } = READS.includes(group as keyof Store) ? reader : writer;
      if (!groups.has(group)) groups.set(group, methodsOf(group, call));
      return groups.get(group);
    },
  });
  return {
    store,
    async close() {
      // The last connection to close tidies up the file, so the writer comes last.
      await reader.close();
      await writer.close();
    },
  };
}

/** Starts a thread that owns one connection; rejects when it cannot open the file. */
async function openThread(
  workerData: { file: string; reads: boolean },
  onLost: (error: Error) => void,
): Promise<{ call: Call; close(): Promise<void> }> {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  let ended: Error | null = null;
  let isOpen = false;

  const ready = Promise.withResolvers<void>();
  const end = (error: Error) => {
    ended ??= error;
    ready.reject(error);
    if (isOpen) onLost(error);
    isOpen = false;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.on('error', (error) => end(error as Error));
  worker.on('exit', () => end(new Error('The database is closed.')));
  worker.on('message', (answer: Answer) => {
    if ('ready' in answer) return ready.resolve();
    const call = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (answer.error) call?.reject(new StoreError(answer.error.message, answer.error.code));
    else call?.resolve(answer.result);
  });
  await ready.promise;
  isOpen = true;

  return {
    call: (group, method, args) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(ended);
        const id = ++lastId;
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, group, method, args });
      }),
    async close() {
      if (ended) return;
      isOpen = false;
      const exited = new Promise((resolve) => worker.once('exit', resolve));
      worker.postMessage('close');
      await exited;
    },
  };
}
