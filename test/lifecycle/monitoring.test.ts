import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { beforeAll, describe, expect, it } from 'vitest';
import { startDiscord } from '../../sandbox/discord/index.ts';
import { systemClock } from '../../src/domain/clock.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { REFUSAL_REASONS } from '../../src/receiver/refusals.ts';
import { payment, startPipeline } from '../pipeline/harness.ts';
import { until } from '../until.ts';
import { CHANNEL, post, startHere } from './app.ts';

const NO_PROMTOOL = 'without promtool (Debian’s package prometheus) the rules and /metrics are not checked by it';
const HAS_PROMTOOL = spawnSync('promtool', ['--version']).status === 0;
if (!HAS_PROMTOOL && !process.env.CI) console.warn(NO_PROMTOOL);

const ALL_RULES = readFileSync('docs/monitoring/rules.yml', 'utf8');
/** Those of the services are compared with their series by a test of theirs. */
const [RULES = ''] = ALL_RULES.split('- name: ledgerbell-services');
const REFERENCE = readFileSync('docs/reference/metrics.md', 'utf8');
const DASHBOARD = JSON.parse(readFileSync('docs/monitoring/dashboard.json', 'utf8')) as {
  panels: { targets?: { expr: string; datasource: { uid: string } }[] }[];
};

let text: string;

beforeAll(async () => {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'monitoring-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const discord = stack.adopt(await startDiscord({ limits: 'none' }), (it) => it.close());
  const app = stack.adopt(
    await startHere(join(folder, 'bot.sqlite'), discord, systemClock, { RPC_URL: 'http://127.0.0.1:9' }),
    (it) => it.close(),
  );
  await post(app, JSON.stringify(payment()));
  await discord.until('the alert is posted', () => discord.messages(CHANNEL).length === 1);
  await until('the metrics show one posted alert', async () => {
    text = await (await request(`${app.ops}/metrics`)).body.text();
    return /^ledgerbell_alerts_posted_total 1$/m.test(text);
  });
});

it('counts the message, its alert, Discord’s response and the time since the delivery', () => {
  const values = new Map(text.split('\n').map((line) => line.split(' ') as [string, string]));
  expect({
    messages: values.get('ledgerbell_messages_sent_total{kind="create"}'),
    attempts: values.get('ledgerbell_discord_attempts_total{outcome="sent"}'),
    delays: values.get('ledgerbell_message_delay_seconds_count'),
    database: values.get('ledgerbell_database_ready'),
    shard: values.has('ledgerbell_shard_connected{shard="0"}'),
  }).toEqual({ messages: '1', attempts: '1', delays: '1', database: '1', shard: true });
  for (const name of ['file_bytes{file="database"}', 'file_bytes{file="wal"}', 'disk_free_bytes', 'last_sync_seconds'])
    expect(Number(values.get(`ledgerbell_${name}`)), name).toBeGreaterThan(0);
  expect(text).toMatch(/^ledgerbell_build_info\{version="\d+\.\d+\.\d+",schema="\d+",node="v24[.\d]+"\} 1$/m);
});

it('counts attempts by outcome, alerts that are shown, and the delay of those that did not wait on purpose', async () => {
  const { registry, attempted } = createMetrics([]);
  const sent = { kind: 'create', alerts: 3, outcome: { status: 'sent', messageId: '1' }, receivedAt: 1_000 } as const;
  const limited = { status: 'rate-limited', global: true, retryAfterMs: 1 } as const;
  attempted(sent, 3_500);
  attempted({ ...sent, kind: 'digest', alerts: 90 }, 300_000);
  attempted({ ...sent, kind: 'notice', alerts: 0 }, 300_000);
  attempted({ ...sent, receivedAt: null }, 300_000);
  attempted({ ...sent, kind: 'edit', outcome: { status: 'sent', messageId: null } }, 4_000);
  attempted({ ...sent, outcome: { ...limited, local: false } }, 4_000);
  attempted({ ...sent, outcome: { ...limited, local: true } }, 4_000);
  const shown = await registry.metrics();
  const counted = [...shown.matchAll(/^ledgerbell_(\w+(?:\{.*\})?) (\d[\d.]*)$/gm)].map(([, name, value]) => [
    name,
    value,
  ]);
  expect(Object.fromEntries(counted)).toMatchObject({
    message_delay_seconds_count: '1',
    message_delay_seconds_sum: '2.5',
    alerts_posted_total: '96',
    'messages_sent_total{kind="create"}': '2',
    'messages_sent_total{kind="digest"}': '1',
    'messages_sent_total{kind="edit"}': '0',
    'messages_sent_total{kind="notice"}': '1',
    'discord_attempts_total{outcome="sent"}': '5',
    'discord_attempts_total{outcome="rate-limited"}': '0',
    'discord_attempts_total{outcome="rate-limited-globally"}': '1',
  });
});

it('names only series that exist in rules and panels, and shows each of the bot’s in a panel and in the reference', () => {
  const expressions = [...RULES.matchAll(/^ +expr: (.+)$/gm)].map(([, expr]) => expr!);
  const all = DASHBOARD.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const queries = all.filter((expr) => !expr.includes('ledgerbell_services_'));
  expect(expressions.length).toBeGreaterThan(30);
  const namesIn = (texts: string[]) =>
    new Set(texts.flatMap((expr) => expr.match(/\b(?:ledgerbell|process|nodejs)_[a-z0-9_]+/g) ?? []));
  const there = new Set([...text.matchAll(/^([a-z0-9_]+)[ {]/gm)].map(([, name]) => name!));
  expect([...namesIn([...expressions, ...queries])].filter((name) => !there.has(name))).toEqual([]);
  const own = [...text.matchAll(/^# TYPE (ledgerbell_\w+) (\w+)$/gm)];
  const series = own.map(([, name, type]) => (type === 'histogram' ? `${name}_bucket` : name!));
  expect(series.filter((name) => !namesIn(queries).has(name))).toEqual([]);
  const listed = [...REFERENCE.matchAll(/`(ledgerbell_\w+)`/g)].map(([, name]) => name!);
  expect(listed.toSorted()).toEqual(own.map(([, name]) => name!).toSorted());
});

it('names only values of labels that the bot counts', () => {
  const valuesIn = (all: string, label: string) =>
    [...all.matchAll(new RegExp(`\\b${label}=~?"([^"]*)"`, 'g'))].flatMap(([, value]) => value!.split('|'));
  for (const label of ['reason', 'outcome', 'state', 'file', 'kind']) {
    const counted = new Set(valuesIn(text, label));
    const named = valuesIn(RULES + JSON.stringify(DASHBOARD).replaceAll('\\"', '"'), label);
    const unknown = named.filter((value) => ![...counted].some((one) => new RegExp(`^(?:${value})$`).test(one)));
    expect([label, unknown]).toEqual([label, []]);
  }
  const reasons = REFERENCE.split('| `reason` |')[1]!;
  const listed = [...reasons.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell]) => cell!.match(/[\w-]+/g)!);
  expect(REFUSAL_REASONS.filter((reason) => !listed.includes(reason))).toEqual([]);
});

it('responds without what is counted in the database when that fails, and shows that it fails', async () => {
  const fails = async () => {
    throw new Error('the database fails');
  };
  const pipeline = await startPipeline({ store: () => ({ metrics: { backlog: fails }, inbox: { next: fails } }) });
  const answer = await request(`${pipeline.app.ops}/metrics`);
  const shown = await answer.body.text();
  expect(answer.statusCode).toBe(200);
  expect(shown).toMatch(/^ledgerbell_database_ready 0$/m);
  expect(shown).toMatch(/^ledgerbell_received_total 0$/m);
  // No figure is better than a wrong one.
  expect(
    shown.match(/^ledgerbell_(inbox_waiting|quarantined|outbox_waiting|dead_letters|channels)[ {].*$/gm),
  ).toBeNull();
});

it('mounts files that exist, and names the job and the data source alike everywhere', () => {
  const mounted = [...readFileSync('compose.yaml', 'utf8').matchAll(/- \.\/(\S+?):/g)].map(([, path]) => path!);
  expect(mounted).toHaveLength(5);
  expect(mounted.filter((path) => !existsSync(path))).toEqual([]);
  expect(readFileSync('docs/monitoring/prometheus.yml', 'utf8')).toContain('job_name: ledgerbell\n');
  const uid = /uid: (\w+)/.exec(readFileSync('docs/monitoring/grafana-datasources.yml', 'utf8'))![1];
  expect(DASHBOARD.panels.flatMap(({ targets = [] }) => targets).filter((one) => one.datasource.uid !== uid)).toEqual(
    [],
  );
});

if (!HAS_PROMTOOL && process.env.CI)
  it('finds promtool in CI', () => {
    throw new Error(NO_PROMTOOL);
  });

describe.skipIf(!HAS_PROMTOOL)('promtool', () => {
  const promtool = (args: string[], input = '') => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  };

  it('finds nothing wrong in the configuration of Prometheus', () => {
    const { status, output } = promtool(['check', 'config', 'docs/monitoring/prometheus.yml']);
    expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS: 1 rule files found')]);
  });

  it('finds nothing wrong in /metrics', () => {
    expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, output: '' });
  });

  it('fires each alarm when its limit is passed, and none when all is well', () => {
    const fired = readFileSync('docs/monitoring/rules.test.yml', 'utf8').match(/alertname="\w+"/g);
    expect(fired).toEqual([...ALL_RULES.matchAll(/alert: (\w+)/g)].map(([, name]) => `alertname="${name}"`));
    const { status, output } = promtool(['test', 'rules', 'docs/monitoring/rules.test.yml']);
    expect([status, output]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});
