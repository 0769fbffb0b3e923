import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/domain/clock.ts';
import { BARE_ENVIRONMENT, ledgerbell } from '../bare-environment.ts';
import { shownIn } from '../discord/shown.ts';
import { ALICE, HARBOR, payment, TREASURY } from '../pipeline/harness.ts';
import { freeze, newAlert, quarantine, routed, storedTransfer } from '../store/contract/given.ts';
import { rewriteQuarantine } from '../store/sqlite/database-file.ts';
import { until } from '../until.ts';
import { CHANNEL, startWhole, type Whole } from './app.ts';
import { temporaryFile } from './bot.ts';

const MINUTE = 60_000;
const OWN_TOKEN = 'path-token-of-the-server';

let whole: Whole;
/** Lets the minute pass that the bot waits between two reads of the database. */
let minute: () => void;

beforeEach(async () => {
  const looks: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    after(ms, run) {
      if (ms !== MINUTE) return systemClock.after(ms, run);
      looks.push(run);
      return () => undefined;
    },
  };
  minute = () => {
    for (const look of looks.splice(0)) look();
  };
  whole = await startWhole({ clock });
});

const store = () => whole.store;

async function backlog() {
  const { deadLetters, quarantine: kept, inbox } = await store().metrics.backlog(Date.now());
  return { deadLetters, quarantine: kept.rows, inbox: inbox.waiting };
}
const backlogBecomes = (wanted: Partial<Awaited<ReturnType<typeof backlog>>>) =>
  until(`the backlog is ${JSON.stringify(wanted)}`, async () => {
    const present = await backlog();
    return Object.entries(wanted).every(([kind, n]) => present[kind as keyof typeof present] === n);
  });

const deadletters = (...args: string[]) => run(args, whole.file);

const run = (args: string[], file: string) => ledgerbell(['deadletters', ...args], { DATABASE_URL: `sqlite:${file}` });

/** Discord refuses every message until the fault is lifted; one line becomes a dead letter. Returns its transaction. */
async function makeDeadLetter(): Promise<string> {
  whole.discord.fault({
    fault: { kind: 'error', status: 400, code: 50035, message: 'Invalid Form Body' },
    method: 'POST',
    channelId: CHANNEL,
  });
  const body = payment({ from: ALICE });
  await whole.deliver(body);
  await backlogBecomes({ deadLetters: 1 });
  whole.discord.clearFaults();
  return String(body.txHash);
}

describe('commands while a bot runs', () => {
  it('lists, shows and replays a dead letter, which is then posted', async () => {
    const txHash = await makeDeadLetter();
    const listed = await deadletters('list');
    expect(listed.stdout).toMatch(
      new RegExp(`^Dead letters .*: 1\nd1 {2}\\d{4}-\\d\\d-\\S+ {2}channel ${CHANNEL} {2}\\S.*\nQuarantine .*: 0\n$`),
    );
    const shown = await deadletters('show', 'd1');
    expect(shown.stdout).toContain(`channel  ${CHANNEL}`);
    const [, transfer] = /^transfer (.+)$/m.exec(shown.stdout)!;
    expect(JSON.parse(transfer!)).toMatchObject({ txHash, to: TREASURY });
    expect(whole.discord.messages(CHANNEL)).toEqual([]);

    expect(await deadletters('replay', 'd1')).toMatchObject({ code: 0, stderr: '' });
    minute();
    await whole.posted(1);
    expect(await backlog()).toMatchObject({ deadLetters: 0 });
    expect((await deadletters('replay', 'd1')).stderr).toMatch(/^d1: not queued again\. It is not in the list/);
  });

  it('lists, shows and replays an edit that Discord refused, without posting the alert again', async () => {
    const body = payment({ from: ALICE });
    whole.discord.fault({
      fault: { kind: 'error', status: 400, code: 50035, message: 'Invalid Form Body' },
      method: 'PATCH',
      channelId: CHANNEL,
    });
    await whole.deliver(body);
    await whole.posted(1);
    expect(await whole.post(body)).toBe(200);
    await backlogBecomes({ deadLetters: 1 });
    whole.discord.clearFaults();
    expect((await deadletters('list')).stdout).toMatch(/^d1 .* change of a sent message: \S/m);
    const { stdout } = await deadletters('show', 'd1');
    expect(stdout).toContain('d1: a sent message that could not be changed');
    expect(stdout).toContain(TREASURY);
    expect((await deadletters('replay', 'd1')).stdout).toContain('d1: queued again.');
    minute();
    const shown = () => whole.discord.messages(CHANNEL).map(({ message }) => JSON.stringify(message));
    await whole.discord.until('a message shows ×2', () => shown().some((message) => message.includes('×2')));
    expect(shown()).toEqual([expect.stringContaining('×2')]);
    expect(await backlog()).toMatchObject({ deadLetters: 0 });
  });

  it('shows a quarantined delivery with control characters escaped, and routes it when replayed', async () => {
    const hostile = Buffer.from([...Buffer.from('{"a":"\u001b[2J\r\n\u202e'), 0xff, 0x00]);
    const project = { guildId: '4242', projectId: 'p', sealed: Buffer.alloc(1) };
    const scope = await store().projects.save(project, OWN_TOKEN);
    await whole.restart();
    await whole.deliver(hostile, OWN_TOKEN);
    await backlogBecomes({ quarantine: 1 });
    await whole.deliver('\u001b]0;title\u0007 {é');
    await backlogBecomes({ quarantine: 2 });

    const listed = await deadletters('list');
    expect(listed.stdout).toContain('Quarantine (deliveries that could not be read): 2\nq1  ');
    const [broken, text] = [await deadletters('show', 'q1'), await deadletters('show', 'q2')];
    expect(broken.stdout).toContain('{"a":"\\u{1b}[2J\\u{d}\n\\u{202e}�\\u{0}');
    expect(text.stdout).toContain('\\u{1b}]0;title\\u{7} {é');
    for (const { stdout } of [listed, broken, text]) expect(stdout).not.toMatch(/[^\n\P{Cc}]/u);
    expect(listed.stdout).toMatch(/q1 .* server 4242 /);
    expect(listed.stdout).toMatch(/q2 .* operator /);
    expect(broken.stdout).toContain('url      server 4242');
    await store().projects.remove('4242');
    expect((await deadletters('list')).stdout).toContain(`removed project ${scope} `);

    // A later version can read it: the same row with the body that it should have had.
    const body = Buffer.from(JSON.stringify(payment({ from: ALICE })));
    rewriteQuarantine(whole.file, (before, id) => (id === 2 ? body : before));
    expect((await deadletters('replay', 'q2')).code).toBe(0);
    minute();
    await whole.posted(1);
    expect((await deadletters('replay', 'all')).stdout).toContain('0 dead letters and 1 delivery.');
    await backlogBecomes({ inbox: 1 });
    minute();
    await backlogBecomes({ quarantine: 1, inbox: 0 });
  });

  it.each([
    ['10,000 deliveries', 10_000, 1],
    ['50 MB', 50, 1_050_000],
  ])(
    'accepts deliveries while the quarantine holds %s, whose oldest gives up its bytes, until it is emptied',
    async (_, rows, bytes) => {
      await quarantine(store(), Array<Buffer>(rows).fill(Buffer.alloc(bytes)));
      await whole.restart();
      await whole.deliver('x'.repeat(1_000_000));
      await backlogBecomes({ quarantine: rows + 1, inbox: 0 });
      minute();
      await until('q1 has lost its bytes', async () => /^q1 .* \(deleted\) /m.test((await deadletters('list')).stdout));
      expect(await whole.post(payment())).toBe(200);
      expect(await whole.post('also unreadable')).toBe(200);
      expect((await deadletters('show', 'q1')).stdout).toMatch(/full; SHA-256 [0-9a-f]{64}\n$/);
      expect((await deadletters('replay', 'q1')).stderr).toMatch(/^q1: not queued again\. .* its bytes were deleted/);
      expect((await deadletters('discard', 'q1')).stdout).toBe('q1: deleted.\n');
      await backlogBecomes({ quarantine: rows + 1, inbox: 0 });
      expect((await deadletters('discard', 'all')).stdout).toContain(`Deleted ${rows + 1} deliveries. `);
      expect(await backlog()).toMatchObject({ quarantine: 0 });
    },
  );

  it('ends without an error when the reader of a long list stops early', async () => {
    await quarantine(store(), Array<string>(5_000).fill('x'));
    const env = { ...BARE_ENVIRONMENT, NODE: process.execPath, DATABASE_URL: `sqlite:${whole.file}` };
    const cut = await promisify(execFile)('sh', ['-c', '"$NODE" src/main.ts deadletters list | head -1'], {
      env,
    });
    expect(cut).toEqual({ stdout: 'Dead letters (alerts that could not be sent): 0\n', stderr: '' });
  });

  it('discards dead letters by ID, and keeps them in the history of their transfers', async () => {
    const refused = await makeDeadLetter();
    const txHash = `0x${'5'.repeat(64)}`;
    const numbers = [2, 3];
    await store().routing.commit(
      routed({
        now: 1,
        transfers: numbers.map((n) => storedTransfer(n, { transfer: { txHash } })),
        alerts: numbers.map((n) => newAlert(n, { guildId: 'g', channelId: '77' })),
      }),
    );
    await store().outbox.deadLetter(await freeze(store(), { channelId: '77' }, 1), 'r', 1);
    expect((await deadletters('discard', 'all')).stdout).toContain('0 deliveries');
    const before = Date.now();
    expect(await deadletters('discard', 'd1', 'd9', 'd2')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^d1, d2: deleted\. d9: not deleted\./),
    });
    expect((await deadletters('list')).stdout).toMatch(/sent\): 1\nd3 /);
    expect((await deadletters('discard', 'd3')).stdout).toBe('d3: deleted.\n');
    const { history } = store();
    const { first } = await history.transfers({ guildId: 'g', txHash }, Date.now(), 9);
    const { first: own } = await history.transfers({ guildId: HARBOR, txHash: refused }, Date.now(), 1);
    const gone = [...first, ...own].flatMap(({ alerts }) => alerts).filter(({ discardedAt }) => discardedAt !== null);
    expect(gone).toHaveLength(3);
    expect(gone.filter(({ state, discardedAt }) => state !== 'dead' || discardedAt! < before)).toEqual([]);
    // The bot posts nothing again at a rescan, nor with later alerts.
    minute();
    const later = JSON.stringify(payment({ from: ALICE }));
    await whole.deliver(later);
    await whole.discord.until('the alert is posted', () => whole.discord.messages(CHANNEL).length > 0);
    expect(whole.discord.messages(CHANNEL).flatMap(({ message }) => shownIn(message))).toHaveLength(1);
  });
});

describe('arguments', () => {
  it.each([[[]], [['replay']], [['everything']], [['show', 'd1', 'd2']]])(
    'prints the usage and fails on the arguments %j',
    async (args) => {
      const { code, stderr } = await deadletters(...args);
      expect(code).toBe(1);
      expect(stderr).toContain('Usage: ledgerbell deadletters');
    },
  );

  it.each(['12', 'd-1', '\u001b[2J'])('refuses %j, which is not an ID', async (id) => {
    const { code, stderr } = await deadletters('show', id);
    expect(code).toBe(1);
    expect(stderr).toContain('is not an ID. IDs look like d12 or q3');
    expect(stderr).not.toContain('\u001b');
  });

  it('names a file that is not a database of the bot', async () => {
    const text = temporaryFile();
    writeFileSync(text, 'A file of somebody else, who would miss it.');
    const { code, stderr } = await run(['list'], text);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/bot\.sqlite cannot be used: .*DATABASE_URL/)]);
  });
});
