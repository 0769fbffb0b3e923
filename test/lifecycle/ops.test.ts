import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createManualClock, type Discord, seed } from '../../sandbox/discord/index.ts';
import { freePorts } from '../../sandbox/ports.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { respondWhileWaiting } from '../../src/operator/ops.ts';
import { backUp } from '../../src/store/sqlite/backup.ts';
import { backupFolder } from '../../src/store/sqlite/files.ts';
import { configOf } from '../app.ts';
import { blockChannels } from '../commands/stored.ts';
import { payment } from '../pipeline/harness.ts';
import { until } from '../until.ts';
import { CHANNEL, MESSAGES, startWhole } from './app.ts';

it('keeps identity and order of deliveries when the clock is set back by a minute', async () => {
  let wrong = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + wrong };
  const { post, deliver, reaches, store } = await startWhole({ clock });
  await deliver('x');
  const [once, twice] = [payment(), payment({ value: '7000000' })];
  await deliver(once);
  wrong = -60_000;
  for (let n = 0; n < 2; n++) expect(await post(twice)).toBe(200);
  await deliver('y');
  await reaches('quarantined', 2);
  const bodies = (await store.quarantine.list()).map(async ({ id }) =>
    Buffer.from((await store.quarantine.get(id))!.body!).toString(),
  );
  expect(await Promise.all(bodies)).toEqual(['x', 'y']);
  const countOf = async (txHash: unknown) =>
    (
      await store.history.transfers({ guildId: seed.harbor.id, txHash: String(txHash), ownScopes: [0] }, Date.now(), 9)
    ).first.map(({ count }) => count);
  expect([await countOf(once.txHash), await countOf(twice.txHash)]).toEqual([[1], [2]]);
});

it.each([
  ['work', 'standby'],
  ['receive', 'receiving'],
])('names the role %s and what the process waits for while there is no database', async (roles, role) => {
  const [PORT, OPS_PORT] = (await freePorts(2)) as [number, number];
  const config = configOf({ token: 'x', apiUrl: 'http://127.0.0.1:9' }, 'x', {
    ROLES: roles,
    DATABASE_URL: 'postgres://127.0.0.1/x',
  });
  const ready = Promise.withResolvers<void>();
  const clock = createManualClock();
  const waiting = respondWhileWaiting({ ...config, PORT, OPS_PORT }, ready.promise, clock);
  clock.advance(1_000);
  const look = (path: string) => fetch(`http://127.0.0.1:${OPS_PORT}${path}`).catch(() => null);
  await until('it responds', async () => (await look('/healthz'))?.status === 200);
  const response = (await look('/readyz'))!;
  expect([response.status, await response.json()]).toEqual([
    503,
    { ok: false, role, parts: { database: { ready: false, detail: 'waiting for the database' } } },
  ]);
  ready.resolve();
  await waiting;
});

describe('the operator’s pages', () => {
  const page = ['operating.md', 'reference/log.md'].map((name) => readFileSync(join('docs', name), 'utf8')).join('\n');
  it('explains each part of /readyz', async () => {
    const parts = Object.keys(await (await startWhole()).parts());
    expect(parts).toHaveLength(5);
    expect(parts.filter((part) => !page.includes(`| \`${part}\` |`))).toEqual([]);
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
});

describe('the figures', () => {
  it('shows in the metrics what arrived, what was refused, and what could not be understood', async () => {
    const { post, deliver, reaches, metrics, file } = await startWhole();
    await deliver('xyz');
    expect(await post('x', 'another-token')).toBe(404);
    const now = await reaches('quarantined', 1);
    const expected = {
      received_total: 1,
      routed_total: 1,
      quarantined_bytes: 3,
      inbox_waiting: 0,
    };
    for (const [name, value] of Object.entries(expected)) expect([name, now.get(`${name}`)]).toEqual([name, value]);
    expect(now.get('refused_total{reason="token"}')).toBe(1);
    expect(now.get('last_backup_timestamp_seconds')).toBe(0);
    await backUp(file, join(backupFolder(file), 'mine.sqlite'));
    expect((await metrics()).get('last_backup_timestamp_seconds')).toBeGreaterThan(1e9);
  });

  it('shows a blocked channel and its alerts in the metrics, while the bot stays ready', async () => {
    const { deliver, reaches, discord, get, registered, store } = await startWhole();
    discord.act({ do: 'channel.forbid', channelId: CHANNEL });
    await deliver(payment());
    // A channel with no subscription and no waiting alert is not counted.
    await blockChannels(store, 'g', { gone: 'unreachable' });
    const now = await reaches('channels{state="parked"}', 1);
    expect(now.get('channels{state="unreachable"}')).toBe(0);
    expect(now.get('invalid_requests')).toBe(1);
    // Discord has responded to the message that was refused.
    expect(now.get('outbox_waiting{state="closed"}')).toBe(1);
    expect(now.get('outbox_frozen')).toBe(0);
    // Alerts for a blocked channel do not count as due: no operator can do anything about them.
    expect([now.get('outbox_waiting{state="due"}'), now.get('outbox_oldest_seconds')]).toEqual([0, 0]);
    await registered();
    expect((await get('/readyz')).status).toBe(200);
  });

  it.each([
    ['breaker_open', 1, { kind: 'cloudflare', status: 403 }, 'held back after refusals'],
    ['authorized', 0, { kind: 'error', status: 401, code: 0 }, 'Discord refuses the token'],
  ] as const)(
    'shows that sending stopped (%s) while the bot keeps receiving and is not ready',
    async (name, value, fault, detail) => {
      const { deliver, reaches, discord, get } = await startWhole();
      discord.fault({ fault, path: MESSAGES });
      await deliver(payment());
      await reaches(name, value);
      const { status, text } = await get('/readyz');
      expect([status, JSON.parse(text)]).toMatchObject([
        503,
        { ok: false, parts: { sending: { ready: false, detail } } },
      ]);
      await deliver(payment());
      expect((await get('/healthz')).status).toBe(200);
      // A load balancer goes on sending deliveries here.
      expect([(await get('/readyz?part=database')).status, (await get('/readyz?part=other')).status]).toEqual([
        200, 503,
      ]);
      const now = await reaches('outbox_waiting{state="due"}', 1);
      expect(now.get('outbox_oldest_seconds')).toBeGreaterThan(0);
    },
  );

  it('shows that the gateway is down from the start, while alerts are posted and commands are not', async () => {
    const prepare = (discord: Discord) => void discord.fault({ fault: { kind: 'gateway-down' } });
    const { deliver, posted, get } = await startWhole({ prepare });
    await deliver(payment());
    await posted(1);
    const { status, text } = await get('/readyz');
    expect([status, JSON.parse(text)]).toMatchObject([
      503,
      { parts: { discord: { ready: false }, sending: { ready: true } } },
    ]);
  });

  it('shows that the gateway refuses the token', async () => {
    const refused = { fault: { kind: 'error', status: 401, code: 0 }, path: '/gateway/bot' } as const;
    const prepare = (standIn: Discord) => void standIn.fault(refused);
    const { parts } = await startWhole({ prepare });
    await until('the gateway is unauthorized', async () => JSON.stringify(await parts()).includes('unauthorized'));
    const discord = { ready: false, detail: 'unauthorized' };
    expect(await parts()).toMatchObject({ discord, sending: { ready: true } });
  });

  it('shows for how long PUBLIC_URL has not been reachable, while the bot stays ready', async () => {
    let late = 0;
    const clock = { ...systemClock, now: () => systemClock.now() + late };
    const { services, metrics, parts, registered } = await startWhole({
      clock,
      environment: { PUBLIC_URL: 'http://127.0.0.1:9' },
    });
    await registered();
    expect((await metrics()).get('public_url_unreachable_seconds')).toBe(0);
    await services.probeReceiver();
    late = 90_000;
    expect((await metrics()).get('public_url_unreachable_seconds')).toBeGreaterThanOrEqual(90);
    const detail = expect.stringMatching(/^not reachable from here for \d+ s: refused$/);
    expect(await parts()).toMatchObject({ publicUrl: { ready: true, detail } });
  });

  it('shows dead letters in the metrics', async () => {
    const { deliver, reaches, discord } = await startWhole();
    discord.fault({ fault: { kind: 'error', status: 400, code: 50035, message: 'Invalid' }, path: MESSAGES });
    await deliver(payment());
    await reaches('dead_letters', 1);
  });
});
