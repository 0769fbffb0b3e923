import type { Store } from '../store.ts';

/** The thread that runs a method, and whether a delivery or a message waits for it. */
export type On = 'read' | 'read now' | 'write';

/**
 * Which thread runs each method: the writer (`write`) or the reader (`read`). The reader sees every commit whose promise
 * has resolved. `read now` is a read that a delivery or a message waits for: it runs on the writer, because a report that
 * takes seconds on the reader would delay it.
 */
export const METHODS = {
  inbox: { append: 'write', recordResponses: 'write', next: 'read now', usage: 'read' },
  quarantine: {
    sizes: 'read',
    list: 'read',
    get: 'read',
    replay: 'write',
    discard: 'write',
    replayAll: 'write',
    discardAll: 'write',
  },
  routing: { context: 'read now', commit: 'write' },
  outbox: {
    channelsWithWork: 'read now',
    claim: 'write',
    due: 'read now',
    alerts: 'read now',
    freeze: 'write',
    join: 'write',
    countAttempt: 'write',
    markNotSent: 'write',
    markSent: 'write',
    markEdited: 'write',
    markEditFailed: 'write',
    unfreeze: 'write',
    deadLetter: 'write',
    deadLetterUnrendered: 'write',
    expire: 'write',
    requestRerender: 'write',
    endLongHolds: 'write',
  },
  deadLetters: { list: 'read', get: 'read', replay: 'write', discard: 'write', discardAll: 'write' },
  channels: {
    setState: 'write',
    blocked: 'read',
    channelForNotices: 'read now',
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
  guilds: { settings: 'read', changeSettings: 'write', language: 'read now', recordLocale: 'write' },
  audit: { record: 'write', page: 'read', prune: 'write' },
  confirmations: { ask: 'write', take: 'write' },
  projects: {
    ofGuild: 'read',
    all: 'read',
    scopes: 'read',
    save: 'write',
    reseal: 'write',
    remove: 'write',
    tokens: 'read',
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
  retention: { prune: 'write', pruneUnmatched: 'write', prunedBefore: 'read', setPrunedBefore: 'write' },
  uptime: { read: 'read', record: 'write', lastIdentify: 'read', recordIdentify: 'write' },
  erasure: { begin: 'write', removed: 'read', beginRemoved: 'write', step: 'write', begun: 'read' },
} as const satisfies { [Group in keyof Store]: Record<keyof Store[Group], On> };

type Threads = typeof METHODS;

/** A method as a thread of the database runs it: the same, but synchronous. */
type Synchronous<Method> = Method extends (...args: infer A) => Promise<infer R> ? (...args: A) => R : never;

/** The port's methods that run on these, by group. */
export type MethodsOn<Chosen extends On> = {
  [Group in keyof Store as Chosen & Threads[Group][keyof Threads[Group]] extends never ? never : Group]: {
    [Method in keyof Store[Group] & keyof Threads[Group] as Threads[Group][Method] extends Chosen
      ? Method
      : never]: Synchronous<Store[Group][Method]>;
  };
};

/** Methods that only this process's other threads call. */
export interface FileMethods {
  /** Copies the open database to a new file. */
  copyTo(target: string): void;
}

type CallsOf<Groups> = {
  [Group in keyof Groups]: {
    [Method in keyof Groups[Group]]: {
      group: Group;
      method: Method;
      args: Groups[Group][Method] extends (...args: infer A) => unknown ? A : never;
    };
  }[keyof Groups[Group]];
}[keyof Groups];

/** A call of one method: each name goes with its own arguments. */
export type Call = CallsOf<Store & { file: FileMethods }>;

/** The port, whose methods make calls. */
export function portOver(call: (on: On, made: Call) => Promise<unknown>): Store {
  const groups = Object.entries(METHODS).map(([group, methods]) => {
    const made = Object.entries<On>(methods).map(([method, on]) => {
      // Names and arguments are those of the port's method, whose type the result gets below.
      return [method, (...args: unknown[]) => call(on, { group, method, args } as Call)] as const;
    });
    return [group, Object.fromEntries(made)] as const;
  });
  return Object.fromEntries(groups) as unknown as Store;
}
