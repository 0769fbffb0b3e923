import { availableParallelism } from 'node:os';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { openDatabase, openReader } from './database.ts';

/**
 * A thread that owns one connection, the only one that writes or one that only reads: the event loop never waits for a
 * disk or a lock, and no writer for a long report.
 */

interface Call {
  id: number;
  group: string;
  method: string;
  args: unknown[];
}

const port = parentPort!;
/** The bell is rung after each call: a thread that sleeps by it wakes sooner than one that waits for its event loop. */
const { file, reads, bell } = workerData as { file: string; reads: boolean; bell: Int32Array };
/**
 * For how long the writer looks for its next call before it sleeps: an alert comes as a few calls in a row, and waking
 * a thread takes longer than most of them. Where there is one processor only the caller needs it meanwhile.
 */
const LOOK_MS = reads || availableParallelism() === 1 ? 0 : 0.2;
const { db, close } = reads ? openReader(file) : openDatabase(file);
// Each loads only its own: a thread's modules are in nobody else's memory.
const groups: object = reads
  ? (await import('./readings.ts')).openReadings(db)
  : (await import('./tables.ts')).openTables(db);
const tables = groups as Record<string, Record<string, (...args: unknown[]) => unknown>>;

function answer({ id, group, method, args }: Call): void {
  try {
    port.postMessage({ id, result: tables[group]![method]!(...args) });
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    port.postMessage({ id, error: { message, code } });
  }
}

/** Waits until the bell has been rung again. */
function listen(rung: number): void {
  const until = performance.now() + LOOK_MS;
  while (Atomics.load(bell, 0) === rung && performance.now() < until);
  Atomics.wait(bell, 0, rung);
}

port.postMessage({ ready: true });
for (;;) {
  const rung = Atomics.load(bell, 0);
  const received = receiveMessageOnPort(port) as { message: Call | 'close' } | undefined;
  if (received?.message === 'close') break;
  if (received) answer(received.message);
  else listen(rung);
}
close();
port.close();
