import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { MetricRow } from './row.ts';
import { type HistogramName, METRIC_NAMES, METRICS, type MetricName } from './table.ts';

/** The values of one metric: one, or one for each set of labels; none if it is not known now. */
export type Value = number | null | [labels: Record<string, string>, value: number][];

/** The values of all metrics except histograms. */
export type Values = Record<Exclude<MetricName, HistogramName>, Value>;

/** Gauges whose names end like those of counters; the same figures have other names, too. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

let ofProcess: Registry | undefined;

/** The process's own metrics. They are collected once per process, however many bots tests start in it. */
function processRegistry(): Registry {
  if (ofProcess) return ofProcess;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
  for (const name of MISNAMED) ofProcess.removeSingleMetric(name);
  return ofProcess;
}

/** The metrics of one bot. */
export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics of one bot, and begins to collect the process's own. */
export function createMetrics() {
  const registry = new Registry();
  const make = (name: MetricName) => {
    const { type, help, labels = [], buckets = [] }: MetricRow = METRICS[name];
    const about = { name: `ledgerbell_${name}`, help, labelNames: [...labels], registers: [registry] };
    switch (type) {
      case 'counter':
        return new Counter(about);
      case 'gauge':
        return new Gauge(about);
      case 'histogram':
        return new Histogram({ ...about, buckets: [...buckets] });
    }
  };
  const made = new Map(METRIC_NAMES.map((name) => [name, make(name)]));
  const all = Registry.merge([registry, processRegistry()]);

  function show(name: MetricName, value: Value): void {
    const metric = made.get(name)!;
    if (metric instanceof Histogram) return;
    metric.reset();
    // Without labels a metric that was reset is 0, which would be a claim.
    if (value === null) metric.remove();
    const values = typeof value === 'number' ? [[{}, value] as const] : (value ?? []);
    for (const [labels, one] of values) metric.inc(labels, one);
  }

  return {
    observe: (name: HistogramName, value: number): void => (made.get(name) as Histogram).observe(value),
    /** The text for Prometheus. */
    async render(values: Values): Promise<{ contentType: string; text: string }> {
      for (const [name, value] of Object.entries(values)) show(name as MetricName, value);
      return { contentType: all.contentType, text: await all.metrics() };
    },
  };
}
