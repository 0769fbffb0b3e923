import Database from 'better-sqlite3';

/** A promise that is broken on purpose: an export of a module is replaced, and one of the tests must notice. */
export interface Mutant {
  name: string;
  file: string;
  export: string;
  /** Returns what replaces the export. */
  replace(real: unknown): unknown;
  tests: string[];
}

/** Mutants of one module, typed by it: the compiler checks that the exports exist and the replacements fit. */
const mutantsOf =
  <Module extends object>(file: string) =>
  <Name extends keyof Module & string>(
    name: string,
    exported: Name,
    replace: (real: Module[Name]) => Module[Name],
    tests: string[],
  ): Mutant => ({ name, file, export: exported, replace: replace as Mutant['replace'], tests });

const intake = mutantsOf<typeof import('../../src/receiver/intake.ts')>('src/receiver/intake.ts');
const database = mutantsOf<typeof import('../../src/store/sqlite/database.ts')>('src/store/sqlite/database.ts');
const lock = mutantsOf<typeof import('../../src/store/sqlite/lock.ts')>('src/store/sqlite/lock.ts');
const inbox = mutantsOf<typeof import('../../src/store/sqlite/inbox.ts')>('src/store/sqlite/inbox.ts');
const outbox = mutantsOf<typeof import('../../src/store/sqlite/outbox.ts')>('src/store/sqlite/outbox.ts');
const edits = mutantsOf<typeof import('../../src/store/sqlite/edits.ts')>('src/store/sqlite/edits.ts');
const pruning = mutantsOf<typeof import('../../src/store/sqlite/pruning.ts')>('src/store/sqlite/pruning.ts');
const projects = mutantsOf<typeof import('../../src/store/sqlite/projects.ts')>('src/store/sqlite/projects.ts');
const routing = mutantsOf<typeof import('../../src/store/sqlite/routing.ts')>('src/store/sqlite/routing.ts');
const identity = mutantsOf<typeof import('../../src/domain/identity.ts')>('src/domain/identity.ts');
const events = mutantsOf<typeof import('../../src/routing/decide-event.ts')>('src/routing/decide-event.ts');
const signals = mutantsOf<typeof import('../../src/routing/scam-signals.ts')>('src/routing/scam-signals.ts');
const sender = mutantsOf<typeof import('../../src/discord/sender.ts')>('src/discord/sender.ts');
const decisions = mutantsOf<typeof import('../../src/delivery/decide.ts')>('src/delivery/decide.ts');
const outcomes = mutantsOf<typeof import('../../src/delivery/apply-outcome.ts')>('src/delivery/apply-outcome.ts');
const errors = mutantsOf<typeof import('../../src/errors.ts')>('src/errors.ts');

const DAY = 86_400_000;
const SECOND_TRANSFER_MS = 10_000;

/** Replaces some methods of an object. */
const change = <T extends object>(thing: T, methods: Partial<T>): T => Object.assign(thing, methods);

/** Runs a commit that does not wait for the disk. */
function withoutSync<T>(db: Database.Database, commit: () => T): T {
  db.pragma('synchronous = NORMAL');
  try {
    return commit();
  } finally {
    db.pragma('synchronous = FULL');
  }
}

const acknowledgesEarly: Parameters<typeof intake<'createIntake'>>[2] = (createIntake) => (options) => {
  const real = createIntake(options);
  const { store } = real;
  return change(real, {
    store(ticket, body, onResult) {
      store(ticket, body, () => undefined);
      setImmediate(() => onResult('stored'));
    },
  });
};

/** Early responses, lost ledgers, forgotten messages: whatever would lose an event or post it twice. */
export const MUTANTS: Mutant[] = [
  intake('acknowledges before the commit', 'createIntake', acknowledgesEarly, ['test/receiver/server.test.ts']),
  intake('acknowledges before the commit (and the process is killed)', 'createIntake', acknowledgesEarly, [
    'test/crash/crash.test.ts',
  ]),
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
  identity(
    'counts a retry as another transfer',
    'judge',
    (judge) =>
      (known, transferKnown, keys, receipt, ...rest) => {
        const judged = judge(known, transferKnown, keys, receipt, ...rest);
        if (!known || known.owed || known.answeredAt === null || judged.verdict !== 'repeat') return judged;
        if (Math.abs(receipt.receivedAt - known.answeredAt) >= SECOND_TRANSFER_MS) return judged;
        return { verdict: 'second', delivery: { ...judged.delivery, count: known.count + 1 } };
      },
    ['test/domain/identity.test.ts'],
  ),
  identity(
    'forgets known deliveries',
    'judge',
    (judge) =>
      (_known, ...rest) =>
        judge(undefined, ...rest),
    ['test/routing/identity.test.ts'],
  ),
  identity(
    'counts a lost 200 as received',
    'judge',
    (judge) =>
      (known, transferKnown, keys, { receivedAt, answeredAt }, ...rest) =>
        judge(known, transferKnown, keys, { receivedAt, answeredAt: answeredAt ?? receivedAt }, ...rest),
    ['test/routing/identity.test.ts'],
  ),
  identity(
    'counts repeats as second transfers after the clock was set back',
    'judge',
    (judge) =>
      (known, transferKnown, keys, receipt, ...rest) => {
        const receivedAt = Math.max(receipt.receivedAt, known?.answeredAt ?? 0);
        return judge(known, transferKnown, keys, { ...receipt, receivedAt }, ...rest);
      },
    ['test/delivery/clock-jumps.test.ts'],
  ),
  signals(
    'learns counterparties from look-alikes',
    'counterpartyToLearn',
    (counterpartyToLearn) =>
      (watcher, transfer, warnings, ...rest) =>
        counterpartyToLearn(
          watcher,
          transfer,
          warnings.filter(({ kind }) => kind !== 'look-alike'),
          ...rest,
        ),
    ['test/pipeline/guard.test.ts'],
  ),
  events(
    'returns to an abandoned block',
    'decideEvent',
    (decideEvent) => (item, ackedAt, state) => {
      const transfers = new Map(state.transfers);
      const seen = transfers.get(item.keys.transfer);
      if (seen) transfers.set(seen.key, { ...seen, transfer: { ...seen.transfer, left: [] } });
      return decideEvent(item, ackedAt, { ...state, transfers });
    },
    ['test/routing/identity.test.ts'],
  ),
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
  pruning(
    'forgets transfers after a day',
    'pruningTable',
    (pruningTable) =>
      (...args) => {
        const real = pruningTable(...args);
        const { forget } = real;
        return change(real, { forget: (before, from) => forget(before + 29 * DAY, from) });
      },
    ['test/store/sqlite/memory.test.ts'],
  ),
  sender(
    'repeats a message with a new nonce',
    'createSender',
    (createSender) => (options) => {
      const real = createSender(options);
      const { create } = real;
      return change(real, {
        create: (channelId, payload, _nonce, csv) => create(channelId, payload, String(Math.random()), csv),
      });
    },
    ['test/delivery/send.test.ts'],
  ),
  sender(
    'never searches for a message that may be posted',
    'createSender',
    (createSender) => (options) => change(createSender(options), { find: async () => ({ status: 'absent' }) }),
    ['test/delivery/send.test.ts'],
  ),
  decisions(
    'trusts the response to a repeat about the first attempt',
    'decide',
    (decide) => (outcome, batch, situation) => decide(outcome, { ...batch, certain: true }, situation),
    ['test/delivery/send.test.ts'],
  ),
  errors(
    'mistakes a failing database for an alert that cannot be rendered',
    'StoreError',
    (StoreError) =>
      class extends StoreError {
        static override [Symbol.hasInstance] = () => false;
      },
    ['test/delivery/unrenderable.test.ts'],
  ),
  outcomes(
    'blocks a channel with an alert that cannot be rendered',
    'createOutcomes',
    (createOutcomes) => (options) =>
      change(createOutcomes(options), { unrenderable: (_channel, _alerts, error) => Promise.reject(error) }),
    ['test/delivery/unrenderable.test.ts'],
  ),
];
