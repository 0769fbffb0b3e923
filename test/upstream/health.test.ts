import pino from 'pino';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { createManualClock, type ManualClock } from '../../sandbox/discord/index.ts';
import { createMetrics, type Metrics } from '../../src/metrics/metrics.ts';
import { createDiscovery } from '../../src/upstream/discovery.ts';
import { createExplorer } from '../../src/upstream/explorer.ts';
import { createInterfaceHealth, type InterfaceHealth } from '../../src/upstream/health.ts';
import { createNotification } from '../../src/upstream/notification.ts';
import { type Given, startUpstream } from './server.ts';

const MINUTE = 60_000;
let clock: ManualClock;
let logged: Record<string, unknown>[];
let health: InterfaceHealth;
let errors: Metrics['interfaceErrors'];
beforeEach(() => {
  clock = createManualClock();
  logged = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void logged.push(JSON.parse(line)) });
  errors = createMetrics([]).interfaceErrors;
  health = createInterfaceHealth({ clock, log, errors });
  onTestFinished(() => health.close());
});

it('logs an outage once, however often the interface fails, and its end with how long it was', async () => {
  health.note('explorer', { status: 'timeout' });
  clock.advance(MINUTE);
  const failure = { status: 'broken', code: 502 } as const;
  health.note('explorer', failure);
  expect(health.outages().get('explorer')).toEqual({ since: clock.now() - MINUTE, failure });
  health.note('explorer', null);
  health.note('explorer', null);
  expect(health.outages().size).toBe(0);
  expect(logged).toEqual([
    { level: 40, interface: 'explorer', reason: 'timeout', msg: 'interface unavailable' },
    { level: 30, interface: 'explorer', forMs: MINUTE, msg: 'interface available again' },
  ]);
  expect((await errors.get()).values.filter(({ value }) => value > 0)).toEqual([
    { labels: { interface: 'explorer', reason: 'timeout' }, value: 1 },
    { labels: { interface: 'explorer', reason: 'broken' }, value: 1 },
  ]);
});

it('probes an unavailable interface every minute, whatever happens to another one, and a working one never', () => {
  let probes = 0;
  health.watch('discovery', async () => void probes++);
  health.note('discovery', { status: 'timeout' });
  clock.advance(3 * MINUTE);
  expect(probes).toBe(3);
  health.note('discovery', null);
  clock.advance(10 * MINUTE);
  expect(probes).toBe(3);
  health.note('discovery', { status: 'timeout' });
  for (let n = 0; n < 6; n++) {
    health.note('explorer', { status: 'timeout' });
    clock.advance(MINUTE / 2);
    health.note('explorer', null);
  }
  expect(probes).toBe(6);
});

it('probes every interface at once for a check', async () => {
  const asked: string[] = [];
  health.watch('discovery', async () => void asked.push('discovery'));
  health.watch('explorer', async () => void asked.push('explorer'));
  await health.check();
  expect(asked).toEqual(['discovery', 'explorer']);
});

async function reported(name: 'explorer' | 'discovery' | 'notification', given: Given): Promise<string> {
  const upstream = await startUpstream(() => given);
  onTestFinished(() => upstream.close());
  const outcomes: string[] = [];
  const options = {
    url: upstream.url,
    ...createManualClock(),
    // Only a missing response is to time out, however slow the machine is.
    timeoutMs: given === null ? 200 : 60_000,
    onResponse: (failure: { status: string } | null) => void outcomes.push(failure?.status ?? 'fine'),
  };
  const clients = {
    explorer: () => createExplorer({ ...options, addressParam: 'a', apiKey: undefined }).probe(),
    discovery: () => createDiscovery(options).probe(),
    notification: () => createNotification({ ...options, projectId: 'p', apiKey: 'k', apiSecret: 's' }).webhooks(),
  };
  await clients[name]();
  return outcomes.join();
}

it.each([
  ['explorer', { body: { status: '0', message: 'Contract address not found', result: null } }, 'fine'],
  ['explorer', { status: 403, body: {} }, 'forbidden'],
  ['explorer', { status: 404, body: 'nothing here' }, 'rejected'],
  ['explorer', null, 'timeout'],
  ['discovery', { body: ['wallets', 'apis'] }, 'fine'],
  ['discovery', { body: '<html>' }, 'unreadable'],
  ['discovery', { status: 404, body: '' }, 'rejected'],
  ['notification', { body: [] }, 'fine'],
  // The service works; it refuses one project.
  ['notification', { status: 403, body: {} }, 'fine'],
  ['notification', { status: 503, body: '' }, 'broken'],
  ['notification', { body: '<html>' }, 'unreadable'],
] as const)('reports the %s’s response %j as %s', async (name, given, outcome) => {
  expect(await reported(name, given)).toBe(outcome);
});
