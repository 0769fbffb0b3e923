import { resolve } from 'node:path';
import { systemClock } from '../domain/clock.ts';
import { restore } from '../store/sqlite/backup.ts';
import { progressBar } from './progress.ts';

/** Replaces a stopped bot's database with a backup; returns what to print. */
export async function restoreFrom(database: string, backup: string): Promise<string> {
  const bar = progressBar(process.stderr);
  const { kept } = await restore(database, resolve(backup), systemClock.now(), bar.draw).finally(bar.end);
  const restored = `Restored ${resolve(backup)} to ${database}.`;
  if (kept === null) return restored;
  return `${restored}\nThe previous database was kept as ${kept}. Delete it when you no longer need it.`;
}
