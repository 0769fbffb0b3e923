import type { FastifyInstance } from 'fastify';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type Clock, MINUTE } from '../src/domain/clock.ts';
import type { NodeHealth } from './chain/nodes.ts';
import { html, PAGE_HEADERS, page } from './html.ts';
import type { NotificationStatus } from './notification/service.ts';
import type { NotificationStore } from './notification/store/index.ts';

/** How long the chain may be unreadable before the services are not ready. */
const FAILING_MS = MINUTE;
/** How many blocks the scanner may be behind before the services are not ready. */
const MAX_LAG_BLOCKS = 300;

interface ChainReport {
  /** Empty where there is one chain. */
  name: string;
  status: NotificationStatus;
  nodes: NodeHealth[];
  store: NotificationStore;
}

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics() {
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
    called: (chain: string) => (method: string, result: string, ms: number) => {
      calls.inc({ chain, method, result });
      seconds.observe({ chain, method }, ms / 1_000);
    },
    attempted: (chain: string) => (status: string) => attempts.inc({ chain, status }),
  };
}

/** null before the first look at the chain. */
function lagOf({ head, next }: Pick<NotificationStatus, 'head' | 'next'>): number | null {
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

/** For operators, not for the public. */
export function opsRoutes(
  server: FastifyInstance,
  { chains, metrics, clock }: { chains(): ChainReport[]; metrics: Metrics; clock: Clock },
): void {
  addGauges(metrics.registry, chains);
  server.get('/healthz', () => ({ ok: true }));
  server.get('/readyz', (_request, reply) => {
    const reports = chains().map((report) => readiness(report, clock.now()));
    const ok = reports.every(({ problems }) => problems.length === 0);
    return reply.code(ok ? 200 : 503).send({ ok, chains: reports });
  });
  server.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  server.get('/status', (_request, reply) =>
    reply.headers(PAGE_HEADERS).send(page('Status · Services', statusBody(chains(), clock.now()))),
  );
}

function readiness({ name, status, nodes }: ChainReport, now: number) {
  const { chainId, head, next, isStuck, failingSince, problem, refused, gaps, quarantined, pending } = status;
  const lagBlocks = lagOf(status);
  const isFailing = failingSince !== null && now - failingSince >= FAILING_MS;
  const problems = [
    ...(refused === null ? [] : [refused]),
    ...(isFailing ? [`cannot read the chain: ${problem}`] : []),
    ...(isStuck ? [`block ${next} is not read although the chain is at ${head}`] : []),
    ...(lagBlocks !== null && lagBlocks > MAX_LAG_BLOCKS ? [`${lagBlocks} blocks behind`] : []),
  ];
  return {
    chain: name,
    chainId,
    head,
    next,
    lagBlocks,
    problems,
    gaps: gaps.map(({ part, first, last, reason }) => ({ part, first, last, reason })),
    quarantined,
    pending,
    pausedReceivers: status.pausedReceivers.length,
    nodes: nodes.map(({ name: node, isHealthy, excluded }) => ({ node, isHealthy, excluded })),
  };
}

function statusBody(reports: readonly ChainReport[], now: number) {
  const sections = reports.map((report) => {
    const ready = readiness(report, now);
    const gaps = ready.gaps.map(({ part, first, last, reason }) => html`<p>${part} ${first}–${last}: ${reason}</p>`);
    const nodes = ready.nodes.map(
      ({ node, isHealthy, excluded }) =>
        html`<p>${node}: ${excluded ?? (isHealthy ? 'responds' : 'does not respond')}</p>`,
    );
    return html`<article>
<h2>${report.name || 'Chain'} ${ready.chainId ?? '–'}</h2>
<dl>
<dt>State</dt><dd>${ready.problems.length === 0 ? 'ready' : ready.problems.join('; ')}</dd>
<dt>Height</dt><dd>${ready.head ?? '–'}</dd>
<dt>Next block</dt><dd>${ready.next ?? '–'}</dd>
<dt>Deliveries waiting</dt><dd>${ready.pending}</dd>
<dt>Quarantined</dt><dd>${ready.quarantined}</dd>
<dt>Receivers paused</dt><dd>${ready.pausedReceivers}</dd>
<dt>Missing</dt><dd>${gaps.length === 0 ? 'nothing' : gaps}</dd>
<dt>Nodes</dt><dd>${nodes}</dd>
</dl>
</article>`;
  });
  return html`<h1>Services</h1>${sections}`;
}
