import { Worker } from 'node:worker_threads';
import { StoreError } from '../../errors.ts';
import type { OpenStore, StoreListener } from '../open-store.ts';
import type { Store } from '../store.ts';
import { type Connection, openConnection } from './connection.ts';
import { realFile, stamp, whereBackups } from './folder.ts';
import { damageMessage, type FileIdentities, findChangeSoon, identify, isDamage, isSmall, REPLACED } from './health.ts';

/**
 * Which thread runs each method: the writer (`write`) or the reader (`read`). The reader sees every commit whose promise
 * has resolved. `read now` is a read that an event or a message waits for: it runs on the writer, because a report that
 * takes seconds on the reader would delay it.
 */
export const METHODS = {
  inbox: { append: 'write', answered: 'write', next: 'read now', usage: 'read now' },
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
  guilds: { settings: 'read', changeSettings: 'write', language: 'write', noteLocale: 'write' },
  audit: { record: 'write', page: 'read', forget: 'write' },
  confirmations: { ask: 'write', take: 'write' },
  projects: {
    ofGuild: 'read',
    all: 'read now',
    scopes: 'read',
    save: 'write',
    reseal: 'write',
    remove: 'write',
    tokens: 'read now',
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
  retention: { forget: 'write', forgetUnmatched: 'write', forgottenBefore: 'read now', setForgottenBefore: 'write' },
  workTime: { read: 'read now', record: 'write', lastIdentify: 'read now', noteIdentify: 'write' },
  erasure: { begin: 'write', removed: 'read now', beginRemoved: 'write', step: 'write', begun: 'read now' },
} as const satisfies { [Group in keyof Store]: Record<keyof Store[Group], 'read' | 'read now' | 'write'> };

/** How often the files on disk are compared with those that are open. */
const CHECK_MS = 3_000;

/** Opens the database in its own threads; rejects with a message for the operator when it cannot be opened. */
export async function openStore(
  file: string,
  { onLost = () => undefined, onUnusable = () => undefined, onProgress = () => undefined }: StoreListener = {},
): Promise<OpenStore> {
  const faults = watchFaults(file, onUnusable);
  const listener = { onLost, onError: faults.note, onProgress };
  const opening = openConnection({ file, reads: false }, Promise.resolve(), listener);
  // Its thread starts beside the writer's; the file can be read once the writer has created or migrated it.
  const openingReader = openConnection({ file, reads: true }, opening, listener);
  openingReader.catch(() => undefined); // When the writer fails, its error is the reason.
  const writer = await opening;
  const reader = await openingReader.catch(async (error: unknown) => {
    await writer.close();
    throw error;
  });
  faults.watch(writer);
  const threads = { read: reader, 'read now': writer, write: writer };
  const groups = Object.entries(METHODS).map(([group, methods]) => {
    const made = Object.entries(methods).map(([method, on]) => {
      const call = async (...args: unknown[]) => {
        faults.assertNone();
        return threads[on].call(group, method, args);
      };
      return [method, call] as const;
    });
    return [group, Object.fromEntries(made)] as const;
  });
  // The compiler checks that METHODS names every group and method of the port.
  const store = Object.fromEntries(groups) as unknown as Store;
  return {
    store,
    check: faults.check,
    syncMs: writer.syncMs,
    async close() {
      // The path now leads to another file: closing the open one would remove the log of the new one.
      if (!faults.stop()) return;
      // The last connection to close runs SQLite's checkpoint, so the writer comes last.
      await reader.close();
      await writer.close();
    },
  };
}

/** Detects that the file is damaged, removed or replaced, and then stops all reads and writes. */
function watchFaults(file: string, onUnusable: (error: Error) => void) {
  const opened: FileIdentities[] = [];
  let fault: StoreError | null = null;
  let writer: Connection | null = null;
  let timer: NodeJS.Timeout | undefined;
  let reading: Worker | undefined;

  /** Reports a call's error. */
  function note({ code, message }: StoreError): void {
    if (fault !== null) return;
    if (isDamage(code)) {
      fault = new StoreError(`The database ${damageMessage(file, message)}`, code);
      onUnusable(fault);
    }
    if (code === REPLACED) void replaced(message);
  }

  async function replaced(change: string): Promise<void> {
    if (fault !== null) return;
    const target = `${realFile(file)}.rescued-${stamp(Date.now())}`;
    const what = `${change} while the bot was running.`;
    const goOn = `To continue with it: npm run restore -- ${target}. To continue with the file at ${file}, start the bot.`;
    fault = new StoreError(`${what} What the bot had stored is being saved as ${target}. ${goOn}`, REPLACED);
    const saved = await writer!.call('file', 'copyTo', [target]).then(
      () => `What the bot had stored was saved as ${target}. ${goOn}`,
      ({ message }: Error) =>
        `What the bot had stored could not be saved (${message}). Restore the newest backup from ` +
        `${whereBackups(file)}: npm run restore -- <backup>`,
    );
    fault = new StoreError(`${what} ${saved}`, REPLACED);
    onUnusable(fault);
  }

  async function check(): Promise<string | null> {
    const change = fault === null && opened[0] ? await findChangeSoon(opened[0]) : null;
    if (change !== null) void replaced(change);
    return fault?.message ?? null;
  }

  return {
    note,
    check,
    assertNone(): void {
      if (fault !== null) throw fault;
    },
    /** Both connections are open now. */
    watch(connection: Connection): void {
      writer = connection;
      opened.push(identify(file));
      // A failed stat proves nothing about the file.
      timer = setInterval(() => void check().catch(() => undefined), CHECK_MS);
      timer.unref();
      if (isSmall(file)) return;
      reading = new Worker(new URL('./check-thread.ts', import.meta.url), { workerData: { file } });
      reading.unref();
      reading.on('error', () => undefined);
      reading.on('message', (found: string | null) => found && note(new StoreError(found, 'SQLITE_CORRUPT')));
    },
    /** Stops watching; false when the files must no longer be touched. */
    stop(): boolean {
      clearInterval(timer);
      void reading?.terminate();
      return fault?.code !== REPLACED;
    },
  };
}
