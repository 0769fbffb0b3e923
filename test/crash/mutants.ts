import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * `npm run test:mutants`: breaks one promise at a time in a copy of the sources and runs the tests that must notice.
 * Exit code 1 when one does not, 2 when a mutation's text is no longer in the sources.
 */

interface Mutant {
  name: string;
  file: string;
  /** Each text must be there exactly once. */
  changes: [from: string, to: string][];
  tests: string[];
}

const ROOT = resolve(import.meta.dirname, '../..');
const COPIED = ['src', 'commands', 'sandbox', 'services', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts'];

const MUTANTS: Mutant[] = [
  {
    name: 'answers 200 before the commit',
    file: 'src/receiver/server.ts',
    changes: [
      [
        'const result = await intake.store(request.ticket!, body);',
        "void intake.store(request.ticket!, body); const result: string = 'stored';",
      ],
    ],
    tests: ['test/receiver/server.test.ts'],
  },
  {
    name: 'answers 200 before the commit (and the process is killed)',
    file: 'src/receiver/server.ts',
    changes: [
      [
        'const result = await intake.store(request.ticket!, body);',
        "void intake.store(request.ticket!, body); const result: string = 'stored';",
      ],
    ],
    tests: ['test/crash/crash.test.ts'],
  },
  {
    name: 'synchronous=NORMAL',
    file: 'src/store/database.ts',
    changes: [
      ["db.pragma('synchronous = FULL');", "db.pragma('synchronous = NORMAL');"],
      ["!== 2) throw new Error('SQLite refuses synchronous=FULL.')", "!== 1) throw new Error('-')"],
    ],
    tests: ['test/store/database.test.ts'],
  },
  {
    name: 'no lock against a second process',
    file: 'src/store/database.ts',
    changes: [["lock.exec('BEGIN EXCLUSIVE');", '']],
    tests: ['test/store/database.test.ts'],
  },
  {
    name: 'no ledger of transfers',
    file: 'src/pipeline/route.ts',
    changes: [
      ['const seen = known.transfers.get(keys.transfer);', 'const seen = undefined as SeenTransfer | undefined;'],
    ],
    tests: ['test/pipeline/identity.test.ts'],
  },
  {
    name: 'no ledger of deliveries',
    file: 'src/domain/identity.ts',
    changes: [['if (!known) {', 'if (!known || known) {']],
    tests: ['test/pipeline/identity.test.ts'],
  },
  {
    name: 'a lost 200 is not owed',
    file: 'src/domain/identity.ts',
    changes: [['const owed = answeredAt === null;', 'const owed = false; answeredAt ??= receivedAt;']],
    tests: ['test/pipeline/identity.test.ts'],
  },
  {
    name: 'the message in flight is forgotten on restart',
    file: 'src/store/outbox.ts',
    changes: [
      [
        'const row = frozen.get(channelId);',
        'const old = frozen.get(channelId); if (old) thaw.immediate(old.id); const row = undefined as BatchRow | undefined;',
      ],
    ],
    tests: ['test/pipeline/deliver.test.ts'],
  },
  {
    name: 'what was frozen is never sent',
    file: 'src/store/outbox.ts',
    changes: [['const row = frozen.get(channelId);', 'const row = undefined as BatchRow | undefined;']],
    tests: ['test/pipeline/deliver.test.ts'],
  },
  {
    name: 'a repeat has a new nonce',
    file: 'src/pipeline/deliver.ts',
    changes: [['batch.nonce, batch.attachment', "randomBytes(8).toString('hex'), batch.attachment"]],
    tests: ['test/pipeline/deliver.test.ts'],
  },
  {
    name: 'no look for the reference after two minutes',
    file: 'src/pipeline/deliver.ts',
    changes: [['now - batch.firstSentAt > NONCE_MS', 'now - batch.firstSentAt > Number.POSITIVE_INFINITY']],
    tests: ['test/pipeline/deliver.test.ts'],
  },
];

const directory = mkdtempSync(join(tmpdir(), 'mutants-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
for (const name of COPIED) cpSync(join(ROOT, name), join(directory, name), { recursive: true });
symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));

function passes(tests: string[]): boolean {
  const { status } = spawnSync(process.execPath, [join(directory, 'node_modules/vitest/vitest.mjs'), 'run', ...tests], {
    cwd: directory,
    stdio: 'ignore',
    timeout: 180_000,
    killSignal: 'SIGKILL',
  });
  return status === 0;
}

const wanted = process.argv[2];
const chosen = MUTANTS.filter(({ name }) => !wanted || name.includes(wanted));
const broken = [...new Set(chosen.flatMap(({ tests }) => tests))].filter((test) => !passes([test]));
if (broken.length > 0) {
  process.stderr.write(`These tests fail without any mutation: ${broken.join(', ')}. Mend them first.\n`);
  process.exit(2);
}
let survivors = 0;
for (const { name, file, changes, tests } of chosen) {
  const path = join(directory, file);
  const original = readFileSync(path, 'utf8');
  let text = original;
  for (const [from, to] of changes) {
    if (text.split(from).length !== 2) {
      process.stderr.write(`"${name}": ${file} does not hold this text exactly once: ${from}\n`);
      process.exit(2);
    }
    text = text.replace(from, () => to);
  }
  writeFileSync(path, text);
  const survived = passes(tests);
  writeFileSync(path, original);
  if (survived) survivors++;
  process.stdout.write(`${survived ? 'SURVIVED' : 'caught  '}  ${name}  (${tests.join(', ')})\n`);
}
process.stdout.write(`${chosen.length} mutants, ${survivors} survived\n`);
process.exit(survivors > 0 ? 1 : 0);
