import { Worker } from 'node:worker_threads';
import { ConfigError, StoreError } from '../../errors.ts';
import type { Store } from './tables.ts';

type Answer = { ready: true } | { id: number; result?: unknown; error?: { message: string; code?: string } };

/** The groups that only read: a thread of their own serves them. */
const READS: (keyof Store)[] = ['reports', 'ledger', 'figures'];
/** How long that thread stays when nobody asks: it is needed rarely, and costs a heap of its own. */
const READER_IDLE_MS = 120_000;

/** What does a step of its work and tells whether there is more; others can write between two steps. */
const STEPS = ['rhythms.count', 'epochs.takeDown'];

/** Does all of it, as everybody wants who asks for it. */
const toTheEnd = (step: () => Promise<unknown>) => async (): Promise<false> => {
  while (await step());
  return false;
};

type Call = (group: string, method: string, args: unknown[]) => Promise<unknown>;

/** The database, and its end. */
export interface OpenStore {
  store: Store;
  close(): Promise<void>;
}

/** A thread that owns one connection. */
interface Thread {
  call: Call;
  close(): Promise<void>;
}

/**
 * Opens the database in threads of its own; rejects with a message for the operator when that cannot be done. `onLost`
 * is called when a thread ends that nobody closed: every call fails from then on.
 */
export async function openStore(
  file: string,
  onLost: (error: Error) => void = () => undefined,
  readerIdleMs = READER_IDLE_MS,
): Promise<OpenStore> {
  const writer = await openThread({ file, reads: false }, onLost);
  const reader = onDemand(() => openThread({ file, reads: true }, onLost), readerIdleMs);
  const methodsOf = (group: string, call: Call) =>
    new Proxy(
      {},
      {
        get(_, method: string) {
          const once = (...args: unknown[]) => call(group, method, args);
          return STEPS.includes(`${group}.${method}`) ? toTheEnd(once) : once;
        },
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

/** Opens a thread with the first call, and ends it when there was none for so long. */
function onDemand(open: () => Promise<Thread>, idleMs: number): Thread {
  let thread: Promise<Thread> | null = null;
  let calls = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function end(): Promise<void> {
    clearTimeout(timer);
    const ending = thread;
    thread = null;
    // One that could not be opened has nothing to close.
    await ending?.then((opened) => opened.close()).catch(() => undefined);
  }

  return {
    async call(...call) {
      if (isClosed) throw new Error('The database is closed.');
      clearTimeout(timer);
      calls++;
      thread ??= open();
      const used = thread;
      used.catch(() => {
        if (thread === used) thread = null;
      });
      try {
        return await (await used).call(...call);
      } finally {
        calls--;
        if (calls === 0) timer = setTimeout(() => void end(), idleMs).unref();
      }
    },
    close() {
      isClosed = true;
      return end();
    },
  };
}

/** Starts a thread that owns one connection; rejects when it cannot open the file. */
async function openThread(
  workerData: { file: string; reads: boolean },
  onLost: (error: Error) => void,
): Promise<Thread> {
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
  // An error that comes from another thread has kept its name and lost its class.
  worker.on('error', (error) => {
    const { name, message } = error as Error;
    end(name === 'ConfigError' ? new ConfigError(message) : (error as Error));
  });
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
