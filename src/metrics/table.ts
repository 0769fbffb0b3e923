import { MACHINE } from './machine.ts';
import { RECEIVING } from './receiving.ts';
import { SENDING } from './sending.ts';

/**
 * Every metric of the bot: its type and help for `/metrics`, its entry in docs/operating.md, and its alarms. The manual,
 * the Prometheus rules and the Grafana dashboard are made from this table by `npm run monitoring`.
 */
export const METRICS = { ...RECEIVING, ...SENDING, ...MACHINE } as const;

/** A metric's name without its prefix. */
export type MetricName = keyof typeof METRICS;
export const METRIC_NAMES = Object.keys(METRICS) as MetricName[];

/** The metrics that are recorded as they happen, and not read for a scrape. */
export type HistogramName = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends 'histogram' ? Name : never;
}[MetricName];
