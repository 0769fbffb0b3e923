import { join } from 'node:path';
import { openForTest } from '../store/postgres/opened.ts';
import { isSound, openExistingStore } from '../store/sqlite/database-file.ts';
import { COMMIT_POINTS, EVENT_POINTS, FIRST_POINTS, THREAD_POINTS } from './point-names.ts';
import type { OpenedStore } from './watched.ts';

/** The database of a bot that is killed. */
export interface CrashEngine {
  url: string;
  /** Points at which the bot can be ended. */
  points: readonly string[];
  /** Points that only its very first start passes. */
  firstPoints: readonly string[];
  /** Opens the data while a bot may be running; creates it if there is none. */
  open(): Promise<OpenedStore>;
  isSound(): boolean;
}

export function sqliteEngine(folder: string): CrashEngine {
  const file = join(folder, 'bot.sqlite');
  return {
    url: `sqlite:${file}`,
    points: [...THREAD_POINTS, ...EVENT_POINTS],
    firstPoints: FIRST_POINTS,
    open: async () => openExistingStore(file),
    isSound: () => isSound(file),
  };
}

/** `url`: an empty database. Its server is not killed, so it stays sound. */
export const postgresEngine = (url: string): CrashEngine => ({
  url,
  points: [...COMMIT_POINTS, ...EVENT_POINTS],
  firstPoints: [],
  open: () => openForTest(url),
  isSound: () => true,
});
