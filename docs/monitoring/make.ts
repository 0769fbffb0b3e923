import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PROCESS } from '../../src/metrics/machine.ts';
import { REASONS } from '../../src/metrics/receiving.ts';
import type { Manual, Rule } from '../../src/metrics/row.ts';
import { METRICS } from '../../src/metrics/table.ts';
import { type Panel, SECTIONS } from './panels.ts';

/**
 * `npm run monitoring` makes the Prometheus rules, the Grafana dashboard and the tables of the manual from the table in
 * `src/metrics/`.
 */

const ROOT = resolve(import.meta.dirname, '../..');
const MANUAL = 'docs/operating.md';

/** The entries of each table of the manual, by the metric's full name or by the reason. */
const GROUPS: Record<string, [string, Manual][]> = {
  metrics: Object.entries(METRICS).map(([name, row]) => [`ledgerbell_${name}`, row]),
  reasons: Object.entries(REASONS),
  process: Object.entries(PROCESS),
};
const ENTRIES = Object.values(GROUPS).flat();

/** A text in YAML, where JSON's strings are valid. */
const text = (value: string): string => JSON.stringify(value);

function ruleOf(rule: Rule, name: string, { means, todo }: Manual): string {
  return [
    `      - alert: ${rule.alert}`,
    `        expr: ${text(rule.expr)}`,
    ...(rule.for ? [`        for: ${rule.for}`] : []),
    `        labels: { severity: ${rule.page ? 'critical' : 'warning'} }`,
    '        annotations:',
    `          summary: ${text(`${name}: ${means}`)}`,
    `          description: ${text(`What to do: ${todo}`)}`,
    `          manual: ${text(`${MANUAL}#health-and-metrics`)}`,
  ].join('\n');
}

function rules(): string {
  const all = ENTRIES.flatMap(([name, row]) => (row.rules ?? []).map((rule) => ruleOf(rule, name, row)));
  return [
    '# Made by `npm run monitoring` from src/metrics/. severity critical: somebody should look at once.',
    'groups:',
    '  - name: ledgerbell',
    '    rules:',
    ...all,
    '',
  ].join('\n');
}

/** The manual with its tables between their marks. */
function manual(page: string): string {
  const cell = (value: string) => value.replaceAll('|', '\\|');
  const rowOf = ([name, row]: [string, Manual]) => {
    const { rules: its = [], alarm, means, todo } = row;
    const title = its.some(({ page: isUrgent }) => isUrgent) ? `**\`${name}\`**` : `\`${name}\``;
    const alerts = its.map(({ alert }) => `\`${alert}\``).join(', ');
    const when = alerts === '' ? alarm : `${alarm} (${alerts})`;
    return `| ${[title, when, means, todo].map(cell).join(' | ')} |`;
  };
  let made = page;
  for (const [group, rows] of Object.entries(GROUPS)) {
    const first = group === 'reasons' ? '`reason`' : 'metric';
    const table = [`| ${first} | alarm when | it means | do |`, '|---|---|---|---|', ...rows.map(rowOf)].join('\n');
    const marks = new RegExp(`(<!-- ${group}: made by npm run monitoring -->\n)[^]*?(\n<!-- end -->)`);
    if (!marks.test(made)) throw new Error(`${MANUAL} has no marks for ${group}.`);
    made = made.replace(marks, (_, begin: string, end: string) => begin + table + end);
  }
  return made;
}

const DATASOURCE = { type: 'prometheus', uid: 'prometheus' };
const WIDTH = 24;

/** The number that a metric's first rule of the form `metric > number` compares it with; null without such a rule. */
function limitOf(name: string): number | null {
  const its = ENTRIES.find(([of]) => of === name)?.[1].rules ?? [];
  const limits = its.flatMap(({ expr }) => /^[a-z_0-9]+(?:\{[^}]*\})? > ([\d.e]+)$/.exec(expr)?.[1] ?? []);
  return limits.length === 0 ? null : Number(limits[0]);
}

/** What a panel shows, in the words of the manual. */
function describe({ about }: Panel): string {
  const row = ENTRIES.find(([name]) => name === about)?.[1];
  return row ? `${row.means}\n\nAlarm: ${row.alarm}\n\nWhat to do: ${row.todo}` : '';
}

function panelOf(panel: Panel, id: number, gridPos: object): object {
  const limit = limitOf(panel.about);
  const steps = [{ color: panel.stat ? 'green' : 'transparent', value: null }];
  const thresholds = {
    mode: 'absolute',
    steps: [...steps, ...(limit === null ? [] : [{ color: 'red', value: limit }])],
  };
  const custom = { fillOpacity: 10, thresholdsStyle: { mode: limit === null ? 'off' : 'line' } };
  return {
    id,
    type: panel.stat ? 'stat' : 'timeseries',
    title: panel.title,
    description: describe(panel),
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: {
      defaults: { unit: panel.unit, min: 0, thresholds, ...(!panel.stat && { custom }) },
      overrides: [],
    },
    options: panel.stat
      ? { reduceOptions: { calcs: ['lastNotNull'] }, textMode: panel.unit === 'string' ? 'name' : 'value' }
      : {
          legend: { showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [] },
          tooltip: { mode: 'multi', sort: 'desc' },
        },
    targets: panel.targets.map(([expr, legendFormat], at) => ({
      refId: String.fromCharCode(65 + at),
      datasource: DATASOURCE,
      expr,
      legendFormat,
    })),
  };
}

function dashboard(): string {
  const panels: object[] = [];
  let y = 0;
  for (const { title, each, height, panels: its } of SECTIONS) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { h: 1, w: WIDTH, x: 0, y },
      panels: [],
    });
    y++;
    const across = WIDTH / each;
    for (const [at, panel] of its.entries()) {
      const place = { h: height, w: each, x: (at % across) * each, y: y + Math.floor(at / across) * height };
      panels.push(panelOf(panel, panels.length + 1, place));
    }
    y += Math.ceil(its.length / across) * height;
  }
  const made = {
    uid: 'ledgerbell',
    title: 'Ledgerbell',
    tags: ['ledgerbell'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    time: { from: 'now-24h', to: 'now' },
    timezone: 'browser',
    graphTooltip: 1,
    annotations: { list: [] },
    templating: { list: [] },
    panels,
  };
  return `${JSON.stringify(made, null, 2)}\n`;
}

/** The content of every generated file, and of the manual with its generated tables, by path. */
export function monitoringFiles(): Record<string, string> {
  return {
    'docs/monitoring/rules.yml': rules(),
    'docs/monitoring/dashboard.json': dashboard(),
    [MANUAL]: manual(readFileSync(join(ROOT, MANUAL), 'utf8')),
  };
}

if (import.meta.main) {
  for (const [path, content] of Object.entries(monitoringFiles())) writeFileSync(join(ROOT, path), content);
}
