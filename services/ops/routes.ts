import type { FastifyInstance } from 'fastify';
import { type Clock, MINUTE } from '../../src/domain/clock.ts';
import { html, PAGE_HEADERS, page } from '../html.ts';
import { type ChainReport, lagOf, type Metrics } from './metrics.ts';

/** How long the chain may be unreadable before the services are not ready. */
const FAILING_MS = MINUTE;
/** How many blocks the scanner may be behind before the services are not ready. */
const MAX_LAG_BLOCKS = 300;

/** `/healthz`, `/readyz`, `/metrics` and `/status`: for operators, not for the public. */
export function opsRoutes(
  server: FastifyInstance,
  { chains, metrics, clock }: { chains(): ChainReport[]; metrics: Metrics; clock: Clock },
): void {
  metrics.watch(chains);
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
  const { chainId, head, next, failingSince, problem, refused, gaps, quarantined, pending, pausedReceivers } = status;
  const lagBlocks = lagOf(status);
  const problems = [
    ...(refused === null ? [] : [refused]),
    ...(failingSince !== null && now - failingSince >= FAILING_MS ? [`cannot read the chain: ${problem}`] : []),
    ...(lagBlocks !== null && lagBlocks > MAX_LAG_BLOCKS ? [`${lagBlocks} blocks behind`] : []),
  ];
  const missing = gaps.map(({ part, first, last, reason }) => ({ part, first, last, reason }));
  const shownNodes = nodes.map(({ name: node, isHealthy, excluded }) => ({ node, isHealthy, excluded }));
  return {
    chain: name,
    chainId,
    head,
    next,
    lagBlocks,
    problems,
    gaps: missing,
    quarantined,
    pending,
    pausedReceivers: pausedReceivers.length,
    nodes: shownNodes,
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
