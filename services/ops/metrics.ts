import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { NodeHealth } from '../chain/nodes.ts';
import type { NotificationStatus } from '../notification/service.ts';
import type { NotificationStore } from '../notification/store/index.ts';

/** The state of one chain. */
export interface ChainReport {
  /** Empty where there is one chain. */
  name: string;
  status: NotificationStatus;
  nodes: NodeHealth[];
  store: NotificationStore;
}

/** Counts what the services do, for Prometheus. */
export interface Metrics {
  registry: Registry;
  /** Returns what counts the calls to a chain's nodes. */
  called(chain: string): (method: string, result: string, ms: number) => void;
  /** Returns what counts the attempts to deliver; a result is a status or `none`. */
  attempted(chain: string): (result: string) => void;
  /** Adds gauges of the chains' state, which is read at each scrape. Call once. */
  watch(chains: () => ChainReport[]): void;
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
    help: 'Attempts to deliver by HTTP status, or none without a response',
    labelNames: ['chain', 'status'],
    registers,
  });
  return {
    registry,
    called: (chain) => (method, result, ms) => {
      calls.inc({ chain, method, result });
      seconds.observe({ chain, method }, ms / 1_000);
    },
    attempted: (chain) => (status) => attempts.inc({ chain, status }),
    watch: (chains) => addGauges(registry, chains),
  };
}

/** How many blocks are not read yet; null before the first look at the chain. */
export function lagOf({ head, next }: Pick<NotificationStatus, 'head' | 'next'>): number | null {
  return head === null || next === null ? null : Math.max(0, head - next + 1);
}

type Setter = (value: number, labels?: Record<string, string>) => void;

function addGauges(registry: Registry, chains: () => ChainReport[]): void {
  const gauge = (name: string, help: string, labels: string[], collect: (report: ChainReport, set: Setter) => void) =>
    new Gauge({
      name: `ledgerbell_services_${name}`,
      help,
      labelNames: ['chain', ...labels],
      registers: [registry],
      collect() {
        this.reset();
        for (const report of chains()) {
          collect(report, (value, more = {}) => this.set({ chain: report.name, ...more }, value));
        }
      },
    });
  gauge('head_block', 'Height of the chain', [], ({ status: { head } }, set) => set(head ?? 0));
  gauge('next_block', 'Next block to read', [], ({ status: { next } }, set) => set(next ?? 0));
  gauge('lag_blocks', 'Blocks not read yet', [], ({ status }, set) => set(lagOf(status) ?? 0));
  gauge('gap_blocks', 'Missing blocks, by part: block or traces', ['part'], ({ status: { gaps } }, set) => {
    for (const part of ['block', 'traces']) {
      const missing = gaps.filter((gap) => gap.part === part);
      const count = missing.reduce((sum, { first, last }) => sum + last - first + 1, 0);
      set(count, { part });
    }
  });
  gauge('quarantined', 'Parts of blocks in quarantine', [], ({ status }, set) => set(status.quarantined));
  gauge('deliveries', 'Deliveries by webhook and state', ['webhook', 'state'], ({ store }, set) => {
    for (const { webhookId, state, count } of store.deliveries.countByState()) {
      set(count, { webhook: webhookId, state });
    }
  });
  gauge('node_healthy', '1 if the node responds and is used', ['node'], ({ nodes }, set) => {
    for (const { name, isHealthy, excluded } of nodes) set(isHealthy && excluded === null ? 1 : 0, { node: name });
  });
}
