import { parentPort, workerData } from 'node:worker_threads';
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
const { file, reads } = workerData as { file: string; reads: boolean };
const { db, close } = reads ? openReader(file) : openDatabase(file);
// Each loads only its own: a thread's modules are in nobody else's memory.
const groups: object = reads
  ? (await import('./readings.ts')).openReadings(db)
  : (await import('./tables.ts')).openTables(db);
const tables = groups as Record<string, Record<string, (...args: unknown[]) => unknown>>;

port.on('message', (call: Call | 'close') => {
  if (call === 'close') {
    close();
    port.close();
    return;
  }
  try {
    port.postMessage({ id: call.id, result: tables[call.group]![call.method]!(...call.args) });
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    port.postMessage({ id: call.id, error: { message, code } });
  }
});
port.postMessage({ ready: true });
