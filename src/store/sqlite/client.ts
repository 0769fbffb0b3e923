import { Worker } from 'node:worker_threads';
import { ConfigError, StoreError } from '../../errors.ts';
import type { Store } from '../store.ts';

type Answer = { ready: true } | { id: number; result?: unknown; error?: { message: string; code?: string } };

/**
 * Which thread runs each method: the one that writes, or the one that only reads. The reader sees every commit whose
 * promise has resolved. What an event or a message waits for stays on the writer, reads included: a report of some
 * seconds on the reader would hold it up.
 */
export const METHODS = {
  inbox: { append: 'write', next: 'write' },
  quarantine: {
    sizes: 'read',
    list: 'read',
    get: 'read',
    replay: 'write',
    discard: 'write',
    replayAll: 'write',
    discardAll: 'write',
  },
  routing: { context: 'write', commit: 'write' },
  outbox: {
    channelsWithWork: 'write',
    claim: 'write',
    due: 'write',
    alerts: 'write',
    freeze: 'write',
    join: 'write',
    countAttempt: 'write',
    markNotSent: 'write',
    markSent: 'write',
    markEdited: 'write',
    markEditFailed: 'write',
    unfreeze: 'write',
    deadLetter: 'write',
    expire: 'write',
    requestRerender: 'write',
    endLongHolds: 'write',
  },
  deadLetters: { list: 'read', get: 'read', replay: 'write', discard: 'write', discardAll: 'write' },
  channels: {
    setState: 'write',
    blocked: 'read',
    channelForNotices: 'write',
    postNotice: 'write',
    guildRemoved: 'write',
    guildReturned: 'write',
    syncGuilds: 'write',
    postponeErasure: 'write',
  },
  subscriptions: {
    add: 'write',
    list: 'read',
    get: 'read',
    change: 'write',
    importAll: 'write',
    mute: 'write',
    remove: 'write',
    tokenMutes: 'read',
    muteToken: 'write',
    watching: 'read',
  },
  labels: { list: 'read', set: 'write', remove: 'write' },
  guilds: { settings: 'read', changeSettings: 'write', language: 'write', noteLocale: 'write' },
  audit: { record: 'write' },
  confirmations: { ask: 'write', take: 'write' },
  projects: {
    ofGuild: 'read',
    all: 'write',
    scopes: 'read',
    save: 'write',
    reseal: 'write',
    remove: 'write',
    tokens: 'write',
    addToken: 'write',
    rotateToken: 'write',
    revokeToken: 'write',
    webhookNames: 'read',
    nameWebhook: 'write',
  },
  history: {
    transfers: 'read',
    transactionsOfMessage: 'read',
    activityChannels: 'read',
    decidedTransfers: 'read',
    postedIn: 'read',
    recentTransfers: 'read',
    messagesShowing: 'read',
    counterparties: 'read',
  },
  silence: { current: 'read', unreported: 'read', report: 'write' },
  tokens: { known: 'read' },
  metrics: { backlog: 'read', guild: 'read', stored: 'read' },
  retention: { forget: 'write' },
  erasure: { begin: 'write', removed: 'write', beginRemoved: 'write', step: 'write', begun: 'write' },
} as const satisfies { [Group in keyof Store]: Record<keyof Store[Group], 'read' | 'write'> };

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
export async function openStore(file: string, onLost: (error: Error) => void = () => undefined): Promise<OpenStore> {
  const writer = await openThread({ file, reads: false }, onLost);
  const reader = await openThread({ file, reads: true }, onLost).catch(async (error: unknown) => {
    await writer.close();
    throw error;
  });
  const threads = { read: reader, write: writer };
  const groups = Object.entries(METHODS).map(([group, methods]) => {
    const made = Object.entries(methods).map(([method, on]) => {
      return [method, (...args: unknown[]) => threads[on].call(group, method, args)] as const;
    });
    return [group, Object.fromEntries(made)] as const;
  });
  // The compiler holds METHODS to the port: every group and method is there.
  const store = Object.fromEntries(groups) as unknown as Store;
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
