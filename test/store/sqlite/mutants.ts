import Database from 'better-sqlite3';
import { DAY } from '../../../src/domain/clock.ts';
import { change, type Mutant, mutantsOf } from '../../crash/mutant.ts';

const database = mutantsOf<typeof import('../../../src/store/sqlite/database.ts')>('src/store/sqlite/database.ts');
const lock = mutantsOf<typeof import('../../../src/store/sqlite/lock.ts')>('src/store/sqlite/lock.ts');
const inbox = mutantsOf<typeof import('../../../src/store/sqlite/inbox.ts')>('src/store/sqlite/inbox.ts');
const outbox = mutantsOf<typeof import('../../../src/store/sqlite/outbox.ts')>('src/store/sqlite/outbox.ts');
const edits = mutantsOf<typeof import('../../../src/store/sqlite/edits.ts')>('src/store/sqlite/edits.ts');
const retention = mutantsOf<typeof import('../../../src/store/sqlite/retention.ts')>('src/store/sqlite/retention.ts');
const projects = mutantsOf<typeof import('../../../src/store/sqlite/projects.ts')>('src/store/sqlite/projects.ts');
const routing = mutantsOf<typeof import('../../../src/store/sqlite/routing.ts')>('src/store/sqlite/routing.ts');

/** Runs a commit that does not wait for the disk. */
function withoutSync<T>(db: Database.Database, commit: () => T): T {
  db.pragma('synchronous = NORMAL');
  try {
    return commit();
  } finally {
    db.pragma('synchronous = FULL');
  }
}

/** Lost transfers, forgotten messages: whatever in the engine would lose an event or post it twice. */
export const SQLITE_MUTANTS: Mutant[] = [
  database(
    'commits with synchronous=NORMAL',
    'openDatabase',
    (openDatabase) =>
      (...args) => {
        const opened = openDatabase(...args);
        opened.db.pragma('synchronous = NORMAL');
        return opened;
      },
    ['test/store/sqlite/database.test.ts'],
  ),
  database(
    'lets a transfer have two alerts in a channel',
    'openDatabase',
    (openDatabase) =>
      (...args) => {
        const opened = openDatabase(...args);
        opened.db.exec('DROP INDEX alerts_transfer');
        return opened;
      },
    ['test/store/sqlite/contract.test.ts'],
  ),
  lock('takes no lock against a second process', 'takeLock', () => () => new Database(':memory:'), [
    'test/store/sqlite/database.test.ts',
  ]),
  inbox(
    'acknowledges a delivery before it is on the disk',
    'inboxTable',
    (inboxTable) => (db) => {
      const real = inboxTable(db);
      const { append } = real;
      return change(real, { append: (rows) => withoutSync(db, () => append(rows)) });
    },
    ['test/store/sqlite/database.test.ts'],
  ),
  outbox(
    'sends a message before it is on the disk',
    'outboxTable',
    (outboxTable) => (db) => {
      const real = outboxTable(db);
      const { freeze } = real;
      return change(real, { freeze: (batch, now) => withoutSync(db, () => freeze(batch, now)) });
    },
    ['test/store/sqlite/database.test.ts'],
  ),
  outbox(
    'renders the message in flight again after a restart',
    'outboxTable',
    (outboxTable) => (db) => {
      const real = outboxTable(db);
      const { claim } = real;
      return change(real, {
        claim(channelId, take, now) {
          const claimed = claim(channelId, take, now);
          if (claimed.next.status !== 'batch' || claimed.next.batch.kind === 'edit') return claimed;
          real.unfreeze(claimed.next.batch.id);
          return claim(channelId, take, now);
        },
      });
    },
    ['test/delivery/send.test.ts'],
  ),
  outbox(
    'never sends a frozen message',
    'outboxTable',
    (outboxTable) => (db) => {
      const real = outboxTable(db);
      const { claim } = real;
      return change(real, {
        claim(channelId, take, now) {
          const { head, next } = claim(channelId, take, now);
          const nothing = { status: 'nothing', until: null, change: false, burst: false } as const;
          return { head, next: next.status === 'batch' ? nothing : next };
        },
      });
    },
    ['test/delivery/send.test.ts'],
  ),
  routing(
    'forgets known transfers',
    'routingTable',
    (routingTable) => (db) => {
      const real = routingTable(db);
      const { context } = real;
      return change(real, { context: (queries, now) => ({ ...context(queries, now), transfers: [] }) });
    },
    ['test/routing/identity.test.ts'],
  ),
  projects('routes the operator’s project to every server', 'scopeLookUp', () => () => () => 0, [
    'test/routing/filters.test.ts',
  ]),
  edits(
    'leaves a posted digest as it is',
    'editTables',
    (editTables) => (db) => {
      const real = editTables(db);
      const { requestChange } = real;
      const inDigest = db.prepare<[number], 1>(
        "SELECT 1 FROM alerts a JOIN batches b ON b.id = a.batch_id WHERE a.transfer_id = ? AND b.kind = 'digest'",
      );
      return change(real, { requestChange: (id, now) => (inDigest.get(id) ? [] : requestChange(id, now)) });
    },
    ['test/delivery/edits.test.ts'],
  ),
  edits(
    'loses a change that is requested while another one is in flight',
    'editTables',
    (editTables) => (db) => {
      const real = editTables(db);
      const { requestChange } = real;
      const inFlight = db.prepare<[number], 1>(
        `SELECT 1 FROM alerts a JOIN batches b ON b.id = a.batch_id JOIN batches e ON e.reference = b.reference
         WHERE a.transfer_id = ? AND e.kind = 'edit' AND e.state = 'frozen'`,
      );
      return change(real, { requestChange: (id, now) => (inFlight.get(id) ? [] : requestChange(id, now)) });
    },
    ['test/delivery/edits.test.ts'],
  ),
  edits(
    'loses joining alerts when their message cannot be edited',
    'editTables',
    (editTables) => (db) => {
      const real = editTables(db);
      const { methods } = real;
      change(methods, { markEditFailed: (editId, _reason, now) => methods.markEdited(editId, now) });
      return real;
    },
    ['test/delivery/joining.test.ts'],
  ),
  edits(
    'counts joining alerts as posted before their message was edited',
    'editTables',
    (editTables) => (db) => {
      const real = editTables(db);
      const { join } = real.methods;
      const markSent = db.prepare<[number]>("UPDATE alerts SET state = 'sent' WHERE id = ?");
      change(real.methods, {
        join(channelId, to, alerts, payload, now) {
          const editId = join(channelId, to, alerts, payload, now);
          if (editId !== null) for (const { id } of alerts) markSent.run(id);
          return editId;
        },
      });
      return real;
    },
    ['test/delivery/joining.test.ts'],
  ),
  retention(
    'deletes transfers after a day',
    'retentionTable',
    (retentionTable) =>
      (...args) => {
        const real = retentionTable(...args);
        const { prune } = real;
        return change(real, { prune: (before, from) => prune(before + 29 * DAY, from) });
      },
    ['test/store/sqlite/contract.test.ts'],
  ),
];
