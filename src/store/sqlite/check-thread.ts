import { parentPort, workerData } from 'node:worker_threads';
import { openReader } from './database.ts';
import { findFault } from './health.ts';

/**
 * A thread that checks a large database once. It reads one table at a time, so that checkpoints can run in between.
 * Posts the first fault, or null.
 */

const { file } = workerData as { file: string };
const { db, close } = openReader(file);
const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
let fault: string | null = null;
for (const table of tables) fault ??= findFault(db, table);
close();
parentPort!.postMessage(fault);
