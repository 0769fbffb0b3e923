/** A promise that is broken on purpose, and the tests of which one must notice. */
export interface Mutant {
  name: string;
  file: string;
  /** Each text must be there exactly once. */
  changes: [from: string, to: string][];
  tests: string[];
}

/** Early answers, lost ledgers, forgotten messages: whatever would lose an event or tell it twice. */
export const MUTANTS: Mutant[] = [
  {
    name: 'answers 200 before the commit',
    file: 'src/receiver/server.ts',
    changes: [
      [
        'intake.store(ticket, body, (result) => {',
        "intake.store(ticket, body, () => {}); setImmediate((result: string = 'stored') => {",
      ],
    ],
    tests: ['test/receiver/server.test.ts'],
  },
  {
    name: 'answers 200 before the commit (and the process is killed)',
    file: 'src/receiver/server.ts',
    changes: [
      [
        'intake.store(ticket, body, (result) => {',
        "intake.store(ticket, body, () => {}); setImmediate((result: string = 'stored') => {",
      ],
    ],
    tests: ['test/crash/crash.test.ts'],
  },
  {
    name: 'synchronous=NORMAL',
    file: 'src/store/sqlite/database.ts',
    changes: [
      ["on disk.\n    db.pragma('synchronous = FULL');", "\n    db.pragma('synchronous = NORMAL');"],
      ["!== 2) throw new Error('SQLite refuses synchronous=FULL.')", "!== 1) throw new Error('-')"],
    ],
    tests: ['test/store/sqlite/database.test.ts'],
  },
  {
    name: 'a delivery is answered before it is on the disk',
    file: 'src/store/sqlite/inbox.ts',
    changes: [
      [
        '=> append.immediate(rows)',
        "=> { db.exec('PRAGMA synchronous = NORMAL'); try { return append.immediate(rows); } finally { db.exec('PRAGMA synchronous = FULL'); } }",
      ],
    ],
    tests: ['test/store/sqlite/database.test.ts'],
  },
  {
    name: 'a message is sent before it is on the disk',
    file: 'src/store/sqlite/outbox.ts',
    changes: [['=> freeze.immediate(batch, now)', '=> unsynced(db, () => freeze.immediate(batch, now))']],
    tests: ['test/store/sqlite/database.test.ts'],
  },
  {
    name: 'no lock against a second process',
    file: 'src/store/sqlite/database.ts',
    changes: [["lock.exec('BEGIN EXCLUSIVE');", '']],
    tests: ['test/store/sqlite/database.test.ts'],
  },
  {
    name: 'no ledger of transfers',
    file: 'src/store/sqlite/routing.ts',
    changes: [['transfer.get({ key, txHash: query.transfer.txHash }) ?? []', '[]']],
    tests: ['test/routing/identity.test.ts'],
  },
  {
    name: 'lets a transfer have two alerts in a channel',
    file: 'src/store/sqlite/migrations/08-posted-once.ts',
    changes: [['CREATE UNIQUE INDEX alerts_transfer', 'CREATE INDEX alerts_transfer']],
    tests: ['test/store/sqlite/contract.test.ts'],
  },
  {
    name: 'takes a retry for another transfer',
    file: 'src/domain/identity.ts',
    changes: [['if (soon && known.count < minute.least)', 'if (soon)']],
    tests: ['test/domain/identity.test.ts'],
  },
  {
    name: 'leaves a digest as it was told',
    file: 'src/store/sqlite/edits.ts',
    changes: [["b.kind IN ('create', 'digest') AND b.state IN", "b.kind IN ('create') AND b.state IN"]],
    tests: ['test/delivery/edits.test.ts'],
  },
  {
    name: 'a server hears of every project',
    file: 'src/store/sqlite/routing.ts',
    changes: [['scopeOf(guildId) === query.scope', 'scopeOf(guildId) >= 0']],
    tests: ['test/routing/filters.test.ts'],
  },
  {
    name: 'an impostor makes itself known',
    file: 'src/routing/decide-event.ts',
    changes: [['[...ofToken, ...alike], signals', 'ofToken, signals']],
    tests: ['test/pipeline/guard.test.ts'],
  },
  {
    name: 'no ledger of deliveries',
    file: 'src/domain/identity.ts',
    changes: [['if (!known) {', 'if (!known || known) {']],
    tests: ['test/routing/identity.test.ts'],
  },
  {
    name: 'a lost 200 is not owed',
    file: 'src/domain/identity.ts',
    changes: [['const owed = answeredAt === null;', 'const owed = false; answeredAt ??= receivedAt;']],
    tests: ['test/routing/identity.test.ts'],
  },
  {
    name: 'the message in flight is forgotten on restart',
    file: 'src/store/sqlite/claims.ts',
    changes: [
      [
        'const row = frozen.get(channelId, take.mayChange ? 0 : 1);',
        `const old = frozen.get(channelId, take.mayChange ? 0 : 1); if (old) db.prepare("UPDATE alerts SET state = 'waiting', batch_id = NULL WHERE batch_id = ?").run(old.id); if (old) db.prepare('DELETE FROM batches WHERE id = ?').run(old.id); const row = undefined as BatchRow | undefined;`,
      ],
    ],
    tests: ['test/delivery/send.test.ts'],
  },
  {
    name: 'what was frozen is never sent',
    file: 'src/store/sqlite/claims.ts',
    changes: [
      ['const row = frozen.get(channelId, take.mayChange ? 0 : 1);', 'const row = undefined as BatchRow | undefined;'],
    ],
    tests: ['test/delivery/send.test.ts'],
  },
  {
    name: 'a repeat has a new nonce',
    file: 'src/delivery/send.ts',
    changes: [['batch.nonce, batch.attachment', 'String(Math.random()), batch.attachment']],
    tests: ['test/delivery/send.test.ts'],
  },
  {
    name: 'no look for the reference after two minutes',
    file: 'src/delivery/send.ts',
    changes: [['Math.abs(now - batch.firstSentAt) > NONCE_MS', 'now - batch.firstSentAt > Number.POSITIVE_INFINITY']],
    tests: ['test/delivery/send.test.ts'],
  },
  {
    name: 'what was to join a message is forgotten when the message cannot be changed',
    file: 'src/store/sqlite/edits.ts',
    changes: [['releaseJoined.run(editId);', 'markJoinedSent.run(editId);']],
    tests: ['test/delivery/joining.test.ts'],
  },
  {
    name: 'what joins a message counts as told before the message was changed',
    file: 'src/store/sqlite/edits.ts',
    changes: [["UPDATE alerts SET state = 'frozen', batch_id = ?", "UPDATE alerts SET state = 'sent', batch_id = ?"]],
    tests: ['test/delivery/joining.test.ts'],
  },
  {
    name: 'an answer to a repeat takes away the doubt of the first try',
    file: 'src/delivery/send.ts',
    changes: [['certain: !unsure, isUpdate', 'certain: true, isUpdate']],
    tests: ['test/delivery/send.test.ts'],
  },
  {
    name: 'a failing database is taken for a line that cannot be rendered',
    file: 'src/delivery/send.ts',
    changes: [['if (error instanceof StoreError) throw error;', '']],
    tests: ['test/delivery/unrenderable.test.ts'],
  },
  {
    name: 'a change that is asked for while another one is under way is lost',
    file: 'src/store/sqlite/edits.ts',
    changes: [['AND attempts = 0\n       AND edit_kind IN', 'AND edit_kind IN']],
    tests: ['test/delivery/edits.test.ts'],
  },
  {
    name: 'a twin of a left block brings it back',
    file: 'src/routing/decide-event.ts',
    changes: [[' && !left.includes(newHash)', '']],
    tests: ['test/routing/identity.test.ts'],
  },
  {
    name: 'a clock that was set back makes second transfers',
    file: 'src/domain/identity.ts',
    changes: [['Math.abs(receivedAt - known.answeredAt)', '(receivedAt - known.answeredAt)']],
    tests: ['test/delivery/clock-jumps.test.ts'],
  },
  {
    name: 'a line that cannot be rendered holds its channel',
    file: 'src/delivery/send.ts',
    changes: [['.catch((error: unknown) => unrenderable(channel, next.alerts, error))', '']],
    tests: ['test/delivery/unrenderable.test.ts'],
  },
  {
    name: 'what was seen is forgotten after a day',
    file: 'src/upkeep.ts',
    changes: [['const MEMORY_MS = 30 * DAY;', 'const MEMORY_MS = DAY;']],
    tests: ['test/store/sqlite/memory.test.ts'],
  },
];
