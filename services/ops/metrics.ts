import { Counter, Histogram, Registry } from 'prom-client';

/** Counts what the services do, for Prometheus. */
export interface Metrics {
  registry: Registry;
  /** Returns what counts the calls to a chain's nodes. */
  called(chain: string): (method: string, result: string, ms: number) => void;
  /** Returns what counts the attempts to deliver; a result is a status or `none`. */
  attempted(chain: string): (result: string) => void;
}

/** Creates empty metrics. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const calls = new Counter({
    name: 'ledgerbell_services_rpc_calls_total',
    help: 'Calls to nodes by method and result: ok, refused, busy or unreachable',
    labelNames: ['chain', 'method', 'result'],
    registers,
  });
  const seconds = new Histogram({
    name: 'ledgerbell_services_rpc_seconds',
    help: 'Duration of calls to nodes by method',
    labelNames: ['chain', 'method'],
    buckets: [0.01, 0.05, 0.1, 0.3, 1, 3, 10, 30],
    registers,
  });
  const attempts = new Counter({
    name: 'ledgerbell_services_delivery_attempts_total',
    help: 'Attempts to deliver by HTTP status, or none where no answer came',
    labelNames: ['chain', 'status'],
    registers,
  });
  return {
    registry,
    called: (chain) => (method, result, ms) => {
      calls.inc({ chain, method, result });
      seconds.observe({ chain, method }, ms / 1000);
    },
    attempted: (chain) => (status) => attempts.inc({ chain, status }),
  };
}
