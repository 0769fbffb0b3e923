import { join } from 'node:path';
import { openForTest } from '../store/postgres/opened.ts';
import { isSound, openExistingStore } from '../store/sqlite/database-file.ts';
import type { OpenedStore } from './watched.ts';

const CALLS = [
  'inbox.next',
  'inbox.append',
  'routing.context',
  'routing.commit',
  'outbox.claim',
  'outbox.countAttempt',
  'outbox.freeze',
  'outbox.markSent',
  'outbox.join',
  'outbox.markEdited',
];

/**
 * Points on the way of an event at which a process can be ended. Those of a call to the database: `asked` and
 * `answered` in the main thread, `begun` and `done` in the database's thread, `uncommitted` before the commit.
 */
const THREAD_POINTS: readonly string[] = [
  ...CALLS.flatMap((call) => ['asked', 'begun', 'uncommitted', 'done', 'answered'].map((when) => `${call} ${when}`)),
  'lock taken',
  'journal mode set',
  'database ready',
];

const COMMIT_POINTS: readonly string[] = ['commit unsent', 'commit sent', 'commit answered'];

const EVENT_POINTS: readonly string[] = [
  'delivery arrived',
  '200 unwritten',
  '200 written',
  '200 finished',
  'message unsent',
  'message headers sent',
  'message sent',
  'message answered',
  'message answer read',
  'edit unsent',
  'edit answer read',
  'receiver listening',
];

const FIRST_POINTS: readonly string[] = ['lock taken', 'journal mode set', 'migration uncommitted', 'database ready'];

export interface CrashEngine {
  url: string;
  points: readonly string[];
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
