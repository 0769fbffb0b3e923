import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Discord, seed, startDiscord } from '../../sandbox/discord/index.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { backUp } from '../../src/store/sqlite/backup.ts';
import { backupFolder } from '../../src/store/sqlite/folder.ts';
import { blockChannels } from '../commands/stored.ts';
import { payment } from '../pipeline/harness.ts';
import { quarantine } from '../store/contract/given.ts';
import { until } from '../until.ts';
import { CHANNEL, post, startHere } from './app.ts';
import { accepted, temporaryFile } from './bot.ts';

const MESSAGES = '/channels/:channel/messages';

/** The whole bot, with one subscription, and what its operator's server responds. */
async function start(prepare: (discord: Discord) => void = () => undefined, clock = systemClock) {
  const file = temporaryFile();
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const discord: Discord = stack.adopt(await startDiscord({ limits: 'none' }), (it) => it.close());
  prepare(discord);
  const app = stack.adopt(await startHere(file, discord, clock), (it) => it.close());
  const get = async (path: string) => {
    const answer = await request(app.ops + path);
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  /** Every metric as `name{label}` → value. */
  const metrics = async (): Promise<Map<string, number>> => {
    const lines = (await get('/metrics')).text.split('\n').filter((line) => line.startsWith('ledgerbell_'));
    return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
  };
  return {
    file,
    store: app.internals.store,
    discord,
    get,
    metrics,
    post: (body: string, token?: string) => post(app, body, token),
    deliver: (body: string) => accepted(() => post(app, body)),
    /** Waits until a metric has a value; returns all metrics at that moment. */
    async reaches(name: string, value: number) {
      let now = new Map<string, number>();
      await until(`${name} is ${value}`, async () => {
        now = await metrics();
        return now.get(`ledgerbell_${name}`) === value;
      });
      return now;
    },
  };
}

it('keeps identity and order of deliveries when the clock is set back by a minute', async () => {
  let wrong = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + wrong };
  const { post, deliver, reaches, store } = await start(undefined, clock);
  await deliver('x');
  const [once, twice] = [payment(), payment({ value: '7000000' })];
  await deliver(JSON.stringify(once));
  wrong = -60_000;
  for (let n = 0; n < 2; n++) expect(await post(JSON.stringify(twice))).toBe(200);
  await deliver('y');
  await reaches('quarantined', 2);
  const [first, second] = await store.quarantine.list();
  expect(second!.receivedAt).toBeGreaterThanOrEqual(first!.receivedAt);
  const countOf = async (txHash: unknown) =>
    (await store.history.transfers(seed.harbor.id, String(txHash), 0, Date.now(), 9)).first.map(({ count }) => count);
  expect([await countOf(once.txHash), await countOf(twice.txHash)]).toEqual([[1], [2]]);
});

describe('the operator’s page', () => {
  const page = readFileSync('docs/operating.md', 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.startsWith('|---'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('**', '')),
    );

  it('explains each metric, reason and part once in the manual: when it alarms, what it means, what to do', async () => {
    const { metrics, get } = await start();
    const keys = [...(await metrics()).keys()];
    const names = new Set(keys.map((key) => key.replace(/(_bucket|_sum|_count)?(\{.*)?$/, '')));
    const reasons = keys.flatMap((key) => /refused_total\{reason="(.*)"\}/.exec(key)?.[1] ?? []);
    const parts = Object.keys((JSON.parse((await get('/readyz')).text) as { parts: object }).parts);
    expect(names.size).toBeGreaterThan(15);
    expect(reasons.length).toBeGreaterThan(5);
    expect(parts).toHaveLength(5);
    for (const word of [...names, ...reasons, ...parts]) {
      const entries = rows.filter(([first]) => first === `\`${word}\``);
      expect(entries, word).toHaveLength(1);
      expect(entries.flat(), word).not.toContain('');
    }
  });

  it('explains every warning and error of the log in the manual', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const source = files.map((name) => readFileSync(join('src', name), 'utf8')).join('\n');
    const calls = source.match(/\blog\??\.(?:warn|error)\((?:[^()]|\([^()]*\))*\)/g)!;
    const messages = calls.flatMap((call) => /'([^']+)',?\s*\)$/.exec(call)?.[1] ?? []);
    // The words of this one come from `configWarnings`.
    expect(calls.filter((call) => !/'[^']+',?\s*\)$/.test(call))).toEqual(['log.warn(warning)']);
    expect(messages.length).toBe(calls.length - 1);
    expect(messages.length).toBeGreaterThan(30);
    const isExplained = (message: string) => page.includes(`\`${message.replace(/[;:,.?].*/, '')}`);
    expect(messages.filter((message) => !isExplained(message))).toEqual([]);
  });

  it('documents no metric, state or reason that does not exist', async () => {
    const keys = [...(await (await start()).metrics()).keys()].join('\n');
    const named = page.match(/ledgerbell_(?!default\b)[a-z_]+|(?:state|reason)="[a-z-]+"/g)!;
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !keys.includes(name))).toEqual([]);
  });
});

describe('the figures', () => {
  it('shows in the metrics what arrived, what was refused, and what could not be understood', async () => {
    const { post, deliver, reaches, metrics, file } = await start();
    await deliver('xyz');
    expect(await post('x', 'another-token')).toBe(404);
    const now = await reaches('quarantined', 1);
    const expected = {
      received_total: 1,
      routed_total: 1,
      quarantined_bytes: 3,
      inbox_commits_total: 1,
      inbox_waiting: 0,
    };
    for (const [name, value] of Object.entries(expected))
      expect([name, now.get(`ledgerbell_${name}`)]).toEqual([name, value]);
    expect(now.get('ledgerbell_refused_total{reason="token"}')).toBe(1);
    expect(now.get('ledgerbell_last_backup_timestamp_seconds')).toBe(0);
    await backUp(file, join(backupFolder(file), 'mine.sqlite'));
    expect((await metrics()).get('ledgerbell_last_backup_timestamp_seconds')).toBeGreaterThan(1e9);
  });

  it('shows a blocked channel and its alerts in the metrics, while the bot stays ready', async () => {
    const { deliver, reaches, discord, get, store } = await start();
    discord.act({ do: 'channel.forbid', channelId: CHANNEL });
    await deliver(JSON.stringify(payment()));
    // A channel with no subscription and no waiting alert is not counted.
    await blockChannels(store, 'g', { gone: 'unreachable' });
    const now = await reaches('channels{state="parked"}', 1);
    expect(now.get('ledgerbell_channels{state="unreachable"}')).toBe(0);
    expect(now.get('ledgerbell_invalid_requests')).toBe(1);
    // Discord has responded to the message that was refused.
    expect(now.get('ledgerbell_outbox_waiting{state="closed"}')).toBe(1);
    expect(now.get('ledgerbell_outbox_frozen')).toBe(0);
    // Alerts for a blocked channel do not count as due: no operator can do anything about them.
    expect([now.get('ledgerbell_outbox_waiting{state="due"}'), now.get('ledgerbell_outbox_oldest_seconds')]).toEqual([
      0, 0,
    ]);
    await discord.until('the commands are registered', ({ state }) =>
      state.commands.some(({ commands }) => commands.length > 0),
    );
    expect((await get('/readyz')).status).toBe(200);
  });

  it.each([
    ['breaker_open', 1, { kind: 'cloudflare', status: 403 }, 'held back after refusals'],
    ['authorized', 0, { kind: 'error', status: 401, code: 0 }, 'Discord refuses the token'],
  ] as const)(
    'shows that sending stopped (%s) while the bot keeps receiving and is not ready',
    async (name, value, fault, detail) => {
      const { deliver, reaches, discord, get } = await start();
      discord.fault({ fault, path: MESSAGES });
      await deliver(JSON.stringify(payment()));
      await reaches(name, value);
      const { status, text } = await get('/readyz');
      expect([status, JSON.parse(text)]).toMatchObject([
        503,
        { ok: false, parts: { sending: { ready: false, detail } } },
      ]);
      await deliver(JSON.stringify(payment()));
      expect((await get('/healthz')).status).toBe(200);
      // A load balancer goes on sending deliveries here.
      expect([(await get('/readyz?part=database')).status, (await get('/readyz?part=other')).status]).toEqual([
        200, 503,
      ]);
      const now = await reaches('outbox_waiting{state="due"}', 1);
      expect(now.get('ledgerbell_outbox_oldest_seconds')).toBeGreaterThan(0);
    },
  );

  it('shows that the operator’s quarantine is full', async () => {
    const { post, deliver, get, store } = await start();
    const database = async () =>
      (JSON.parse((await get('/readyz')).text) as { parts: Record<string, unknown> }).parts.database;
    await quarantine(store, Array<string>(9_999).fill('x'));
    expect(await database()).toEqual({ ready: true });
    await deliver('x');
    await until('a delivery is refused', async () => (await post('x')) === 503);
    expect((await get('/readyz')).status).toBe(503);
    expect(await database()).toEqual({ ready: false, detail: expect.stringContaining('quarantine of unreadable') });
  });

  it('shows how long a channel’s only alert has waited for Discord', async () => {
    const { deliver, discord, metrics } = await start();
    discord.fault({ fault: { kind: 'error', status: 503 }, path: MESSAGES });
    await deliver(JSON.stringify(payment()));
    await until(
      'the metrics show 1 frozen message',
      async () => (await metrics()).get('ledgerbell_outbox_frozen') === 1,
    );
    await until(
      'the metrics show how long an alert waits',
      async () => (await metrics()).get('ledgerbell_outbox_oldest_seconds') !== 0,
    );
  });

  it('shows that the gateway is down from the start, while alerts are posted and commands are not', async () => {
    const { deliver, discord, get } = await start((standIn) => void standIn.fault({ fault: { kind: 'gateway-down' } }));
    await deliver(JSON.stringify(payment()));
    await discord.until('the alert is posted', () => discord.messages(CHANNEL).length === 1);
    const { status, text } = await get('/readyz');
    expect([status, JSON.parse(text)]).toMatchObject([
      503,
      { parts: { discord: { ready: false }, sending: { ready: true } } },
    ]);
  });

  it('shows that the gateway refuses the token until a message is sent', async () => {
    const refused = { fault: { kind: 'error', status: 401, code: 0 }, path: '/gateway/bot' } as const;
    const { deliver, reaches, get } = await start((standIn) => void standIn.fault(refused));
    await reaches('authorized', 0);
    const parts = async () => (JSON.parse((await get('/readyz')).text) as { parts: object }).parts;
    const discord = { ready: false, detail: 'unauthorized' };
    expect(await parts()).toMatchObject({ discord, sending: { ready: false, detail: 'Discord refuses the token' } });
    await deliver(JSON.stringify(payment()));
    await reaches('authorized', 1);
    expect(await parts()).toMatchObject({ discord, sending: { ready: true } });
  });

  it('shows dead letters in the metrics', async () => {
    const { deliver, reaches, discord } = await start();
    discord.fault({ fault: { kind: 'error', status: 400, code: 50035, message: 'Invalid' }, path: MESSAGES });
    await deliver(JSON.stringify(payment()));
    await reaches('dead_letters', 1);
  });

  it('names its three routes in a 404 for any other path', async () => {
    const { status, text } = await (await start()).get('/');
    expect([status, text]).toEqual([404, '{"ok":false,"error":"Here are /healthz, /readyz and /metrics."}']);
  });
});
