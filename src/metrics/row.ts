/** A Prometheus rule. `page`: somebody should look at once; otherwise it can wait until morning. */
export interface Rule {
  alert: string;
  expr: string;
  /** How long `expr` must hold, like `10m`; by default not at all. */
  for?: string;
  page?: true;
}

/** What an operator has to know about a metric: these are the cells of the manual's table. */
export interface Manual {
  alarm: string;
  means: string;
  todo: string;
  rules?: readonly Rule[];
}

/** One metric, without `ledgerbell_` in front of its name. */
export interface MetricRow extends Manual {
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels?: readonly string[];
  /** Upper bounds of a histogram. */
  buckets?: readonly number[];
}
