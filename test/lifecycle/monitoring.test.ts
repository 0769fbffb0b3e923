import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { monitoringFiles } from '../../docs/monitoring/make.ts';
import { SECTIONS } from '../../docs/monitoring/panels.ts';
import { startDiscord } from '../../sandbox/discord/index.ts';
import { createCounts } from '../../src/metrics/counts.ts';
import { PROCESS } from '../../src/metrics/machine.ts';
import { REASONS } from '../../src/metrics/receiving.ts';
import type { Rule } from '../../src/metrics/row.ts';
import { METRICS } from '../../src/metrics/table.ts';
import { payment, startPipeline } from '../pipeline/harness.ts';
import { until } from '../until.ts';
import { CHANNEL, post, startHere } from './app.ts';

const NO_PROMTOOL = 'without promtool (Debian’s package prometheus) the rules and /metrics are not checked by it';
const HAS_PROMTOOL = spawnSync('promtool', ['--version']).status === 0;
if (!HAS_PROMTOOL && !process.env.CI) console.warn(NO_PROMTOOL);

const ROWS = [...Object.values(METRICS), ...Object.values(REASONS), ...Object.values(PROCESS)];
const RULES: Rule[] = ROWS.flatMap((row) => ('rules' in row ? row.rules : []));

/** The text of /metrics after one alert was posted. */
let text: string;

beforeAll(async () => {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'monitoring-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const discord = stack.adopt(await startDiscord({ limits: 'none' }), (it) => it.close());
  const app = stack.adopt(await startHere(join(folder, 'bot.sqlite'), discord), (it) => it.close());
  await post(app, JSON.stringify(payment()));
  await discord.until('the alert is posted', () => discord.messages(CHANNEL).length === 1);
  await until('the metrics show one posted alert', async () => {
    text = await (await request(`${app.ops}/metrics`)).body.text();
    return /^ledgerbell_alerts_posted_total 1$/m.test(text);
  });
});

it.each(Object.entries(monitoringFiles()))('keeps %s as `npm run monitoring` makes it', (path, content) => {
  expect(readFileSync(path, 'utf8')).toBe(content);
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

it('counts attempts by outcome, alerts that are shown, and the delay of those that did not wait on purpose', () => {
  const delays: number[] = [];
  const counts = createCounts([], (seconds) => delays.push(seconds));
  const sent = { kind: 'create', alerts: 3, outcome: { status: 'sent', messageId: '1' }, receivedAt: 1_000 } as const;
  const limited = { status: 'rate-limited', global: true, retryAfterMs: 1 } as const;
  counts.attempted(sent, 3_500);
  counts.attempted({ ...sent, kind: 'digest', alerts: 90 }, 300_000);
  counts.attempted({ ...sent, kind: 'notice', alerts: 0 }, 300_000);
  counts.attempted({ ...sent, receivedAt: null }, 300_000);
  counts.attempted({ ...sent, kind: 'edit', outcome: { status: 'sent', messageId: null } }, 4_000);
  counts.attempted({ ...sent, outcome: { ...limited, local: false } }, 4_000);
  counts.attempted({ ...sent, outcome: { ...limited, local: true } }, 4_000);
  expect(delays).toEqual([2.5]);
  expect(counts).toMatchObject({
    alertsPosted: 96,
    sent: { create: 2, digest: 1, edit: 0, notice: 1 },
    attempts: { sent: 5, 'rate-limited': 0, 'rate-limited-globally': 1 },
  });
});

it('names only metrics that exist in rules and panels, and shows each of the bot’s in a panel', () => {
  const queries = SECTIONS.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(([expr]) => expr)));
  const namesIn = (exprs: string[]) =>
    new Set(exprs.flatMap((expr) => expr.match(/\b(?:ledgerbell|process|nodejs)_[a-z0-9_]+/g) ?? []));
  const there = new Set([...text.matchAll(/^([a-z0-9_]+)[ {]/gm)].map(([, name]) => name!));
  const named = namesIn([...queries, ...RULES.map(({ expr }) => expr), ...Object.keys(PROCESS)]);
  expect([...named].filter((name) => !there.has(name))).toEqual([]);
  const drawn = namesIn(queries);
  const isDrawn = (name: string) => drawn.has(`ledgerbell_${name}`) || drawn.has(`ledgerbell_${name}_bucket`);
  expect(Object.keys(METRICS).filter((name) => !isDrawn(name))).toEqual([]);
  const about = SECTIONS.flatMap(({ panels }) => panels.map((panel) => panel.about)).filter(Boolean);
  const known = [...Object.keys(METRICS).map((name) => `ledgerbell_${name}`), ...Object.keys(PROCESS)];
  expect(about.filter((name) => !known.includes(name))).toEqual([]);
});

it('responds without what is counted in the database when that fails, and shows that it fails', async () => {
  const fails = async () => {
    throw new Error('the database fails');
  };
  const pipeline = await startPipeline({
    store: (real) => ({ ...real, metrics: { ...real.metrics, backlog: fails }, inbox: { ...real.inbox, next: fails } }),
  });
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

it('shows no negative ages after the clock was set back', async () => {
  const { app } = await startPipeline({
    store: (real) => ({
      ...real,
      metrics: {
        ...real.metrics,
        async backlog(now) {
          const backlog = await real.metrics.backlog(now);
          return { ...backlog, inbox: { waiting: 1, oldest: now + 60_000 } };
        },
      },
    }),
  });
  const shown = await (await request(`${app.ops}/metrics`)).body.text();
  expect(shown).toMatch(/^ledgerbell_inbox_oldest_seconds 0$/m);
});

it('mounts files that exist, and names the job and the data source alike everywhere', () => {
  const mounted = [...readFileSync('compose.yaml', 'utf8').matchAll(/- \.\/(\S+?):/g)].map(([, path]) => path!);
  expect(mounted).toHaveLength(5);
  expect(mounted.filter((path) => !existsSync(path))).toEqual([]);
  expect(readFileSync('docs/monitoring/prometheus.yml', 'utf8')).toContain('job_name: ledgerbell\n');
  const uid = /uid: (\w+)/.exec(readFileSync('docs/monitoring/grafana-datasources.yml', 'utf8'))![1];
  expect(monitoringFiles()['docs/monitoring/dashboard.json']).toContain(`"uid": "${uid}"`);
});

it('names each rule once', () => {
  const names = RULES.map(({ alert }) => alert);
  expect(names.length).toBeGreaterThan(30);
  expect(new Set(names).size).toBe(names.length);
});

it('lays out the panels of the dashboard side by side, each with a title and the words of the manual', () => {
  const { panels } = JSON.parse(monitoringFiles()['docs/monitoring/dashboard.json']!) as {
    panels: {
      id: number;
      type: string;
      title: string;
      description?: string;
      gridPos: Record<'x' | 'y' | 'w' | 'h', number>;
    }[];
  };
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(Math.max(...panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  const graphs = panels.filter(({ type, title }) => type !== 'row' && title !== 'Alarms');
  expect(graphs.filter(({ title, description }) => !title || !description?.includes('What to do'))).toEqual([]);
});

/**
 * For each rule a series that makes it fire (`bad`), one value per minute, and values with which it keeps still (`good`).
 * `at`: when the rule is evaluated, by default after half an hour.
 */
const EXAMPLES: Record<string, { series: string; bad: string; good: string; at?: string }> = {
  ...limits({
    LedgerbellInboxLarge: ['ledgerbell_inbox_waiting', 10_001, 10_000],
    LedgerbellRoutingStuck: ['ledgerbell_inbox_oldest_seconds', 61, 60],
    LedgerbellQuarantine: ['ledgerbell_quarantined', 1, 0],
    LedgerbellQuarantineAlmostFull: ['ledgerbell_quarantined', 8_001, 8_000],
    LedgerbellOutboxLarge: ['ledgerbell_outbox_waiting{state="due"}', 5_001, 5_000],
    LedgerbellAlertsStuck: ['ledgerbell_outbox_oldest_seconds', 601, 600],
    LedgerbellMessagesUnconfirmed: ['ledgerbell_outbox_frozen', 41, 40],
    LedgerbellDeadLetters: ['ledgerbell_dead_letters', 1, 0],
    LedgerbellInvalidRequests: ['ledgerbell_invalid_requests', 251, 250],
    LedgerbellSendingPaused: ['ledgerbell_breaker_open', 1, 0],
    LedgerbellTokenRejected: ['ledgerbell_authorized', 0, 1],
    LedgerbellGatewayAway: ['ledgerbell_shard_connected{shard="3"}', 0, 1],
    LedgerbellDatabaseDown: ['ledgerbell_database_ready', 0, 1],
    LedgerbellNobodyWorks: ['ledgerbell_working', 0, 1],
    LedgerbellDiskSlow: ['ledgerbell_last_sync_seconds', 0.6, 0.5],
    LedgerbellInterfaceAway: ['ledgerbell_interface_unavailable_seconds{interface="explorer"}', 601, 600],
    LedgerbellDown: ['up{job="ledgerbell"}', 0, 1],
    LedgerbellBusy: ['nodejs_eventloop_lag_p99_seconds{job="ledgerbell"}', 0.6, 0.5],
    LedgerbellServersHeld: ['ledgerbell_held_guilds', 1, 0, '25h'],
    LedgerbellWalLarge: ['ledgerbell_file_bytes{file="wal"}', 300e6, 200e6, '2h'],
    LedgerbellNoBackup: ['ledgerbell_last_backup_timestamp_seconds', 0, 1, '25h'],
    LedgerbellBackupOld: ['ledgerbell_last_backup_timestamp_seconds', 60, 36_000, '28h'],
    LedgerbellDiskFilling: ['ledgerbell_disk_free_bytes', 9e8, 9e9, '1h'],
  }),
  ...rising('token', 'LedgerbellUnknownUrl', 3),
  ...rising('source', 'LedgerbellUnknownSource'),
  ...rising('signature', 'LedgerbellBadSignature'),
  ...rising('too-large', 'LedgerbellBodyTooLarge'),
  ...rising('broken-off', 'LedgerbellBodyBrokenOff'),
  ...rising('connections', 'LedgerbellTooManyConnections'),
  ...rising('overload', 'LedgerbellOverload'),
  ...rising('busy', 'LedgerbellDatabaseBusy'),
  ...rising('late', 'LedgerbellStoringTooSlow'),
  ...rising('quarantine-full', 'LedgerbellQuarantineFull'),
  ...rising('disk-reserve', 'LedgerbellDiskReserve'),
  LedgerbellAlertsLate: {
    series: 'ledgerbell_message_delay_seconds_bucket{le="60"}',
    bad: '0+9x120',
    good: '0+10x120',
    at: '1h',
  },
  LedgerbellRateLimited: {
    series: 'ledgerbell_discord_attempts_total{outcome="rate-limited-globally"}',
    bad: '0+6x120',
    good: '0+4x120',
    at: '1h',
  },
  LedgerbellDiscordFailing: {
    series: 'ledgerbell_discord_attempts_total{outcome="unsure"}',
    bad: '0+3x120',
    good: '0+1x120',
  },
  LedgerbellInterfaceErrors: {
    series: 'ledgerbell_interface_errors_total{interface="explorer",reason="timeout"}',
    bad: '0+2x120',
    good: '0+0x120',
    at: '1h',
  },
  LedgerbellElections: { series: 'ledgerbell_elections_total', bad: '0+0.2x120', good: '1+0x120', at: '1h' },
  LedgerbellRestarts: {
    series: 'process_start_time_seconds{job="ledgerbell"}',
    bad: '0+60x120',
    good: '5+0x120',
  },
  LedgerbellFilesAlmostUsedUp: {
    series: 'process_open_fds{job="ledgerbell"}',
    bad: '900+0x120',
    good: '100+0x120',
  },
};

/** Examples of gauges with a constant value. */
function limits(of: Record<string, [series: string, bad: number, good: number, at?: string]>) {
  const entries = Object.entries(of).map(([alert, [series, bad, good, at]]) => {
    const steady = (value: number) => `${value}+0x1800`;
    return [alert, { series, bad: steady(bad), good: steady(good), ...(at && { at }) }] as const;
  });
  return Object.fromEntries(entries);
}

/** The example of a counter of rejections that rises. */
function rising(reason: string, alert: string, perMinute = 1) {
  const series = `ledgerbell_refused_total{reason="${reason}"}`;
  return { [alert]: { series, bad: `0+${perMinute}x120`, good: '7+0x120', at: '1h' } };
}

it('has an example for each rule', () => {
  expect(Object.keys(EXAMPLES).toSorted()).toEqual(RULES.map(({ alert }) => alert).toSorted());
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

  it('fires each rule when it should, and none when all is well', () => {
    const folder = mkdtempSync(join(tmpdir(), 'rules-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const severity = new Map(RULES.map(({ alert, page }) => [alert, page ? 'critical' : 'warning']));
    const tests = Object.entries(EXAMPLES).flatMap(([alertname, { series, bad, good, at = '30m' }]) => {
      const labels = [...series.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label!, value!]);
      const shown = Object.fromEntries(labels.filter(([label]) => !dropped(alertname).includes(label!)));
      // Other series that the rules compare it with.
      const others = [
        ['process_max_fds{job="ledgerbell"}', '1000+0x120'],
        ['ledgerbell_message_delay_seconds_bucket{le="+Inf"}', '0+10x120'],
        ['ledgerbell_message_delay_seconds_bucket{le="300"}', '0+10x120'],
      ].map(([other, values]) => ({ series: other, values }));
      return [bad, good].map((values) => ({
        interval: '1m',
        input_series: [{ series, values }, ...others],
        alert_rule_test: [
          {
            eval_time: at,
            alertname,
            exp_alerts: values === bad ? [{ exp_labels: { ...shown, severity: severity.get(alertname) } }] : [],
          },
        ],
      }));
    });
    const file = join(folder, 'rules.test.yml');
    // Without the annotations, which promtool would compare, too.
    const bare = readFileSync('docs/monitoring/rules.yml', 'utf8').replaceAll(
      /^ {8}annotations:\n(?: {10}.*\n)+/gm,
      '',
    );
    writeFileSync(join(folder, 'rules.yml'), bare);
    // JSON is YAML. Evaluated rarely, because days of minutes take long.
    writeFileSync(file, JSON.stringify({ rule_files: ['rules.yml'], evaluation_interval: '10m', tests }));
    expect(promtool(['test', 'rules', file])).toEqual({ status: 0, output: expect.stringContaining('SUCCESS') });
  });
});

/** Labels that a rule sums over. */
const dropped = (alert: string): string[] =>
  ({
    LedgerbellAlertsLate: ['le'],
    LedgerbellRateLimited: ['outcome'],
    LedgerbellDiscordFailing: ['outcome'],
    LedgerbellInterfaceErrors: ['reason'],
  })[alert] ?? [];
