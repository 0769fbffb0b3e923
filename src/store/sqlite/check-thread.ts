import { parentPort, workerData } from 'node:worker_threads';
import { openReader } from './database.ts';
import { findFault } from './health.ts';

/**
 * A thread that reads a large database through once, a table at a time, so that the log can be written back in between.
 * Posts the first fault, or null.
 */

const { file } = workerData as { file: string };
const { db, close } = openReader(file);
const tables = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all();
let fault: string | null = null;
for (const table of tables) fault ??= findFault(db, table);
close();
parentPort!.postMessage(fault);
