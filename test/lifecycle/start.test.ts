import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { createManualClock, seed } from '../../sandbox/discord/index.ts';
import type { Backlog } from '../../src/domain/guild.ts';
import type { Store } from '../../src/store/store.ts';
import { registered } from '../app.ts';
import { newDelivery } from '../new-delivery.ts';
import { payment } from '../pipeline/harness.ts';
import { newAlert, routed, storedTransfer, txHash } from '../store/contract/given.ts';
import { isNewer, makeNewer, openStore, withStore } from '../store/sqlite/database-file.ts';
import { until } from '../until.ts';
import { AS_USER, accepted, startBot, startInVain, startStandIn, temporaryFile, WATCHING } from './bot.ts';

const ROWS = 60_000;
const CHANNEL = seed.harbor.alerts;

const makeEmpty = async (file: string): Promise<void> => (await openStore(file)).close();

it('refuses to start a second process on the same file, names the file, and lets the first one continue', async () => {
  const file = temporaryFile();
  const bot = await startBot(file);
  const { code, stderr } = await startInVain(file);
  expect(code).toBe(1);
  expect(stderr).toContain(`Another process is using ${file}.`);
  expect(stderr).toContain('DATABASE_URL');
  await accepted(() => bot.post('still here'));
});

it('refuses to start on a database of a newer version, and leaves it unchanged', async () => {
  const file = temporaryFile();
  await makeEmpty(file);
  const schema = makeNewer(file);
  const { code, stderr } = await startInVain(file);
  expect(code).toBe(78);
  expect(stderr).toContain(`${file} was written by a newer Ledgerbell (schema ${schema}`);
  expect(isNewer(file)).toBe(true);
});

it('logs at the start which services are off, which database it uses, and whether that is new', async () => {
  const file = temporaryFile();
  for (const beginning of [`no database found`, 'started']) {
    const bot = await startBot(file, { EXPLORER_API_URL: 'http://127.0.0.1:9' });
    expect(bot.log[0]).toMatchObject({ msg: expect.stringContaining(beginning), database: file });
    const started = bot.log.find(({ msg }) => msg === 'started');
    expect(started).toMatchObject({ off: ['NOTIFICATION_URL', 'DISCOVERY_URL'], database: file });
    bot.kill('SIGTERM');
    await bot.ended();
  }
});

it('warns of an explorer that cannot be linked, and uses it', async () => {
  const bot = await startBot(temporaryFile(), { EXPLORER_URL: 'http://explorer:4000' });
  await accepted(() => bot.post('any'));
  expect(bot.log.map(({ msg }) => msg)).toContainEqual(expect.stringMatching(/^EXPLORER_URL is not linked/));
});

it('continues the erasure of a server that a crash interrupted', async () => {
  const file = temporaryFile();
  await withStore(file, async ({ audit, erasure }) => {
    for (const guildId of ['gone', 'stays'])
      await audit.record({ guildId, userId: 'ada', action: 'x', detail: {}, at: 1 });
    await erasure.begin('gone');
  });
  await startBot(file);
  const entries = (guildId: string) => withStore(file, async ({ audit }) => (await audit.page(guildId, 0, 9)).total);
  await until('the removed server’s rows are erased', async () => (await entries('gone')) === 0);
  expect(await entries('stays')).toBe(1);
});

it('refuses to start on a foreign host or a file that is not a database, and names the variable to fix', async () => {
  const other = temporaryFile();
  writeFileSync(other, 'A file of somebody else, who would miss it.');
  mkdirSync(`${other}.folder`);
  const [nowhere, host, name, folder, text] = await Promise.all([
    startInVain('/proc/ledgerbell/x.sqlite'),
    startInVain(temporaryFile(), { OPS_HOST: '203.0.113.1' }),
    startInVain(temporaryFile(), { HOST: 'no.such.host.invalid' }),
    startInVain(`${other}.folder`),
    startInVain(other),
  ]);
  expect(host.stderr).toMatch(
    /^Ledgerbell cannot start: .*address not available 203\.0\.113\.1\. Set another OPS_PORT or OPS_HOST\./,
  );
  for (const { stderr } of [folder, text]) expect(stderr).toMatch(/cannot be used as the database: .*DATABASE_URL/);
  expect(nowhere.stderr).toMatch(/The folder of \/proc\/ledgerbell\/x\.sqlite cannot be made: .*DATABASE_URL/);
  expect(name.stderr).toMatch(/^Ledgerbell cannot start: .*no\.such\.host\.invalid.* HOST\b/);
  expect([nowhere, host, name, folder, text].map(({ code }) => code)).toEqual([78, 78, 78, 78, 78]);
  expect(readFileSync(other, 'utf8')).toContain('somebody else');
});

it('refuses to start on files that this user may not write or read, and names the variable to fix', async () => {
  const [readOnly, unreadable] = [temporaryFile(), temporaryFile()];
  await makeEmpty(readOnly);
  chmodSync(readOnly, 0o444);
  writeFileSync(join(dirname(unreadable), 'secrets.key'), 'secret', { mode: 0o000 });
  const [file, key] = await Promise.all([startInVain(readOnly, {}, AS_USER), startInVain(unreadable, {}, AS_USER)]);
  expect(file.stderr).toMatch(/cannot be used as the database: .*DATABASE_URL/);
  expect(key.stderr).toMatch(/the key file cannot be used: .*secrets\.key.* SECRETS_KEY/);
  const shut = temporaryFile();
  chmodSync(dirname(shut), 0o555);
  const place = await startInVain(shut, {}, AS_USER);
  chmodSync(dirname(shut), 0o755);
  expect(place.stderr).toMatch(/^\/.*cannot be used as the database: .*permission denied.*DATABASE_URL\.\n$/);
  expect([file.code, key.code, place.code]).toEqual([78, 78, 78]);
});

it('creates files for its user only, and closes what an older version left open to everybody', async () => {
  const file = temporaryFile();
  const folder = dirname(file);
  const key = join(folder, 'secrets.key');
  const old = [file, `${file}.lock`, `${file}.before-schema-2`, join(folder, 'backups/daily-2026.sqlite'), key];
  const others = [`${file}.before-restore-2026`, `${file}.notes`];
  await makeEmpty(file);
  mkdirSync(join(folder, 'backups'));
  for (const path of [...old, ...others]) {
    writeFileSync(path, path === key ? Buffer.alloc(32, 1).toString('base64') : '', { flag: 'a' });
    chmodSync(path, path === key ? 0o640 : 0o644);
  }
  // Somebody lets a group read this one.
  chmodSync(others[0]!, 0o640);
  const bot = await startBot(file);
  await accepted(() => bot.post('any'));
  const modes = (paths: string[]) => paths.map((path) => (statSync(path).mode & 0o777).toString(8));
  expect(modes(others)).toEqual(['640', '644']);
  expect(new Set(modes([...old, `${file}-wal`, `${file}-shm`]))).toEqual(new Set(['600']));

  const fresh = join(folder, 'new/bot.sqlite');
  const settings = join(folder, '.env');
  writeFileSync(settings, '');
  chmodSync(settings, 0o644);
  const second = await startBot(fresh, {}, ['sh', '-c', 'cd "$0" && exec "$@"', folder]);
  expect(second.log).toContainEqual(
    expect.objectContaining({ level: 40, file: settings, msg: expect.stringContaining('chmod o=') }),
  );
  expect(modes([settings])).toEqual(['644']);
  await accepted(() => second.post('any'));
  expect(modes([dirname(fresh)])).toEqual(['700']);
  const made = readdirSync(dirname(fresh)).map((name) => join(dirname(fresh), name));
  expect(made.length).toBeGreaterThan(4);
  expect(new Set(modes(made))).toEqual(new Set(['600']));
});

/** Its time stands still: a busy machine may take long to answer. */
const standIn = () => startStandIn({ clock: createManualClock(Date.now()) });

/** A database in which one channel watches the treasury; `add` stores the work of a thousand numbers at a time. */
const fill = (file: string, add: (store: Store, numbers: number[]) => Promise<unknown>): Promise<void> =>
  withStore(file, async (store) => {
    await store.subscriptions.add(WATCHING, 1);
    for (let first = 1; first <= ROWS; first += 1_000)
      await add(
        store,
        Array.from({ length: 1_000 }, (_, n) => first + n),
      );
  });

/** The first message goes out while much still waits: a start does not go through all of it. A digest takes 20,000 alerts. */
async function resumes(file: string, waiting: (backlog: Backlog) => number): Promise<void> {
  const { discord, environment } = await standIn();
  const bot = await startBot(file, environment);
  const delivered = accepted(() => bot.post('not understood'));
  await discord.until('the first alert is posted', () => discord.messages(CHANNEL).length > 0);
  expect(waiting(await withStore(file, ({ metrics }) => metrics.backlog(Date.now())))).toBeGreaterThan(ROWS / 5);
  await delivered;
}

it('posts the first of 60,000 deliveries that wait at the start at once', async () => {
  const file = temporaryFile();
  const event = payment();
  const receivedAt = Date.UTC(2026, 0, 1);
  await fill(file, ({ inbox }, numbers) => {
    const bodies = numbers.map((n) => JSON.stringify({ ...event, txHash: txHash(n) }));
    return inbox.append(bodies.map((body) => newDelivery(body, { receivedAt })));
  });
  await resumes(file, ({ inbox }) => inbox.waiting);
});

it('posts the first of 60,000 alerts that wait at the start at once', async () => {
  const file = temporaryFile();
  const place = { guildId: seed.harbor.id, channelId: CHANNEL };
  await fill(file, ({ routing }, numbers) =>
    routing.commit(
      routed({
        now: Date.UTC(2026, 0, 1),
        transfers: numbers.map((n) => storedTransfer(n)),
        alerts: numbers.map((n) => newAlert(n, place)),
      }),
    ),
  );
  await resumes(file, ({ alerts }) => alerts.due + alerts.held);
});

it('replies to every command at the moment of the connection, before any command is loaded', async () => {
  const file = temporaryFile();
  const { discord, environment } = await standIn();
  const first = await startBot(file, environment);
  await registered(discord);
  first.kill('SIGTERM');
  await first.ended();
  await discord.until('every session of the first bot is disconnected', ({ state }) =>
    state.sessions.every(({ connected }) => !connected),
  );
  const started = startBot(file, environment);
  await discord.until('the next bot is connected', ({ state }) => state.sessions.some(({ connected }) => connected));
  const used = await Promise.all(
    ['help', 'status', 'subscription list', 'webhook list', 'setup check'].map((name) =>
      discord.use({ kind: 'command', name, userId: seed.ada, channelId: CHANNEL, unchecked: true }),
    ),
  );
  const answered = await Promise.all(used.map((one) => one.final()));
  expect(answered.map(({ status, loading }) => ({ status, loading }))).toEqual(
    answered.map(() => ({ status: 'acknowledged', loading: false })),
  );
  const { log } = await started;
  expect(log.map(({ msg }) => msg)).not.toContain('command failed');
});
