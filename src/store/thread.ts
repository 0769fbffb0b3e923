import { parentPort, workerData } from 'node:worker_threads';
import { openDatabase } from './database.ts';
import { openTables } from './tables.ts';

/** The thread that owns the only write connection: the event loop never waits for a disk or a lock. */

interface Call {
  id: number;
  group: string;
  method: string;
  args: unknown[];
}

const port = parentPort!;
const { db, close } = openDatabase((workerData as { file: string }).file);
const tables = openTables(db) as unknown as Record<string, Record<string, (...args: unknown[]) => unknown>>;

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
