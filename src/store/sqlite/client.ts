import { Worker } from 'node:worker_threads';
import { type Clock, systemClock } from '../../domain/clock.ts';
import { repeat } from '../../domain/repeat.ts';
import { StoreError } from '../../errors.ts';
import type { OpenStore, StoreListener } from '../open-store.ts';
import { type Connection, openConnection } from './connection.ts';
import { realFile, stamp, whereBackups } from './folder.ts';
import {
  damageMessage,
  type FileIdentities,
  findChangeAsync,
  identify,
  isDamage,
  isSmall,
  REPLACED,
} from './health.ts';
import { type Call, type On, portOver } from './methods.ts';

/** How often the files on disk are compared with those that are open. */
const CHECK_MS = 3_000;

/** Opens the database in its own threads; rejects with a message for the operator when it cannot be opened. */
export async function openStore(
  file: string,
  {
    onLost = () => undefined,
    onUnusable = () => undefined,
    onUnchecked = () => undefined,
    onProgress = () => undefined,
    clock = systemClock,
  }: StoreListener & { clock?: Clock } = {},
): Promise<OpenStore> {
  const faults = watchFaults(file, clock, { onUnusable, onUnchecked });
  const listener = { onLost, onError: faults.note, onProgress };
  const opening = openConnection({ file, reads: false }, Promise.resolve(), listener);
  // Its thread starts along with the writer's; the file can be read once the writer has created or migrated it.
  const openingReader = openConnection({ file, reads: true }, opening, listener);
  openingReader.catch(() => undefined); // When the writer fails, its error is the reason.
  await using stack = new AsyncDisposableStack();
  // The last connection to close runs SQLite's checkpoint, so the writer closes last.
  const writer = stack.adopt(await opening, ({ close }) => close());
  const reader = stack.adopt(await openingReader, ({ close }) => close());
  faults.watch(writer);
  const opened = stack.move();
  const threads = { read: reader, 'read now': writer, write: writer };
  async function call(on: On, made: Call): Promise<unknown> {
    faults.assertNone();
    return threads[on].call(made);
  }
  return {
    store: portOver(call),
    check: faults.check,
    syncMs: writer.syncMs,
    async close() {
      // The path now leads to another file: closing the open one would remove the log of the new one.
      if (faults.stop()) await opened.disposeAsync();
    },
  };
}

/** Detects that the file is damaged, removed or replaced, and then stops all reads and writes. */
function watchFaults(
  file: string,
  clock: Clock,
  { onUnusable, onUnchecked }: Required<Pick<StoreListener, 'onUnusable' | 'onUnchecked'>>,
) {
  let opened: FileIdentities | null = null;
  let fault: StoreError | null = null;
  let writer: Connection | null = null;
  let stopChecking = (): void => undefined;
  let checking: Worker | undefined;

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
    const target = `${realFile(file)}.rescued-${stamp(clock.now())}`;
    const what = `${change} while the bot was running.`;
    const goOn = `To continue with it: npm run restore -- ${target}. To continue with the file at ${file}, start the bot.`;
    fault = new StoreError(`${what} What the bot had stored is being saved as ${target}. ${goOn}`, REPLACED);
    const saved = await writer!.call({ group: 'file', method: 'copyTo', args: [target] }).then(
      () => `What the bot had stored was saved as ${target}. ${goOn}`,
      ({ message }: Error) =>
        `What the bot had stored could not be saved (${message}). Restore the newest backup from ` +
        `${whereBackups(file)}: npm run restore -- <backup>`,
    );
    fault = new StoreError(`${what} ${saved}`, REPLACED);
    onUnusable(fault);
  }

  async function check(): Promise<string | null> {
    const change = fault === null && opened ? await findChangeAsync(opened) : null;
    if (change !== null) void replaced(change);
    return fault?.message ?? null;
  }

  return {
    note,
    check,
    assertNone(): void {
      if (fault !== null) throw fault;
    },
    /** Begins to watch, once both connections are open. */
    watch(connection: Connection): void {
      writer = connection;
      opened = identify(file);
      // A failed stat proves nothing about the file.
      stopChecking = repeat(clock, CHECK_MS, () => void check().catch(() => undefined));
      if (isSmall(file)) return;
      checking = new Worker(new URL('./check-thread.ts', import.meta.url), { workerData: { file } });
      checking.unref();
      checking.on('error', (error) => onUnchecked(error as Error));
      checking.on('message', (found: string | null) => found && note(new StoreError(found, 'SQLITE_CORRUPT')));
    },
    /** Stops watching; false when the files must no longer be touched. */
    stop(): boolean {
      stopChecking();
      void checking?.terminate();
      return fault?.code !== REPLACED;
    },
  };
}
