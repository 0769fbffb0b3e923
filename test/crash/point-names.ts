/** Calls to the database on an event's path; each is one transaction. */
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
export const THREAD_POINTS: readonly string[] = [
  ...CALLS.flatMap((call) => ['asked', 'begun', 'uncommitted', 'done', 'answered'].map((when) => `${call} ${when}`)),
  'lock taken',
  'journal mode set',
  'database ready',
];

/** The points on Postgres: around each commit. */
export const COMMIT_POINTS: readonly string[] = ['commit unsent', 'commit sent', 'commit answered'];

/** Points that need no database. */
export const EVENT_POINTS: readonly string[] = [
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

/** Points that only the very first start passes. */
export const FIRST_POINTS: readonly string[] = [
  'lock taken',
  'journal mode set',
  'migration uncommitted',
  'database ready',
];
