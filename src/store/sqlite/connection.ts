import { Worker } from 'node:worker_threads';
import { ConfigError, StoreError } from '../../errors.ts';

/** A call that is posted to the thread. */
export interface Call {
  id: number;
  group: string;
  method: string;
  args: unknown[];
}

/** The result of a call. */
export interface Answer {
  id: number;
  result?: unknown;
  error?: { message: string; code?: string | undefined };
}

/** A message from a thread: the database is open, or the results of calls. `syncMs`: how long their commit took. */
export type Post =
  | { ready: true }
  | { details: object; message: string }
  | { answers: Answer[]; syncMs: number | null };

/** Calls that may share one transaction, and with it one wait for the disk. */
const SHARING = new Set(['inbox', 'routing', 'outbox']);
/** A commit that takes this long means a slow disk: waiting calls then share a transaction. */
const SLOW_SYNC_MS = 5;
/** Most calls that share a transaction. */
const MAX_SHARED = 64;

/** A thread that owns one connection. */
export interface Connection {
  call(group: string, method: string, args: unknown[]): Promise<unknown>;
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

/** Starts a thread that owns one connection; rejects when it cannot open the file. */
export async function openConnection(
  workerData: { file: string; reads: boolean },
  { onLost, onError, onProgress }: ConnectionListener,
): Promise<Connection> {
  const worker = new Worker(new URL('./thread.ts', import.meta.url), { workerData });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const queue = createCallQueue();
  let lastSyncMs = 0;
  /** When the calls in progress were posted. */
  let postedAt: number | null = null;
  let lastId = 0;
  let ended: Error | null = null;
  let isOpen = false;
  const closed = new Error('The database is closed.');
  /** Resolves once every call made before closing has its result. */
  let drained: (() => void) | null = null;

  const ready = Promise.withResolvers<void>();
  const end = (error: Error) => {
    ended ??= error;
    ready.reject(error);
    if (isOpen) onLost(error);
    isOpen = false;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
    drained?.();
  };
  // An error from another thread keeps its name and loses its class.
  worker.on('error', (error) => {
    const { name, message } = error as Error;
    end(name === 'ConfigError' ? new ConfigError(message) : (error as Error));
  });
  worker.on('exit', () => end(closed));
  const post = () => {
    if (postedAt !== null) return;
    const calls = queue.take(lastSyncMs >= SLOW_SYNC_MS);
    if (calls.length === 0) return;
    postedAt = performance.now();
    worker.postMessage(calls);
  };
  worker.on('message', (message: Post) => {
    if ('ready' in message) return ready.resolve();
    if ('details' in message) return onProgress(message.details, message.message);
    postedAt = null;
    if (message.syncMs !== null) lastSyncMs = message.syncMs;
    // The thread continues while this one processes the results.
    post();
    for (const { id, result, error: failure } of message.answers) {
      const call = waiting.get(id);
      waiting.delete(id);
      if (!failure) call?.resolve(result);
      else {
        const error = new StoreError(failure.message, failure.code);
        onError(error);
        call?.reject(error);
      }
    }
    if (waiting.size === 0) drained?.();
  });
  await ready.promise;
  isOpen = true;

  return {
    call: (group, method, args) =>
      new Promise((resolve, reject) => {
        if (ended || drained) return reject(ended ?? closed);
        const id = ++lastId;
        waiting.set(id, { resolve, reject });
        queue.add({ id, group, method, args });
        post();
      }),
    syncMs: () => Math.max(lastSyncMs, postedAt === null ? 0 : performance.now() - postedAt),
    async close() {
      if (ended) return;
      isOpen = false;
      await new Promise<void>((resolve) => {
        drained = resolve;
        if (waiting.size === 0) resolve();
      });
      const exited = new Promise((resolve) => worker.once('exit', resolve));
      worker.postMessage('close');
      await exited;
    },
  };
}

/** The calls that wait for the thread: deliveries first, then all others in order. */
function createCallQueue() {
  const deliveries: Call[] = [];
  const others: Call[] = [];
  /** The last turn took only deliveries. */
  let areOthersDue = false;

  const isSharing = (call: Call | undefined): boolean => call !== undefined && SHARING.has(call.group);

  return {
    add(call: Call): void {
      (call.method === 'append' ? deliveries : others).push(call);
    },
    /** The calls to run next; `shared`: several in one transaction, because each wait for the disk takes long. */
    take(shared: boolean): Call[] {
      if (deliveries.length === 0 || (areOthersDue && others.length > 0 && !(shared && isSharing(others[0])))) {
        areOthersDue = false;
        if (!shared || !isSharing(others[0])) return others.splice(0, 1);
      }
      const calls = deliveries.splice(0, MAX_SHARED);
      if (shared) while (calls.length < MAX_SHARED && isSharing(others[0])) calls.push(others.shift()!);
      areOthersDue = others.length > 0;
      return calls;
    },
  };
}
