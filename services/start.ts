import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { type Clock, systemClock } from '../src/domain/clock.ts';
import { followHeads } from './chain/heads.ts';
import type { NodeOptions } from './chain/member.ts';
import { connect, type Nodes } from './chain/nodes.ts';
import { readCategories } from './discovery/providers.ts';
import { discoveryRoutes } from './discovery/routes.ts';
import { explorerPages } from './explorer/pages.ts';
import { explorerRoutes } from './explorer/routes.ts';
import { notificationRoutes } from './notification/routes.ts';
import { openNotification, type RunningNotification } from './notification/service.ts';
import type { Notification, Project } from './notification/types.ts';
import { openApiRoutes } from './openapi.ts';
import { createMetrics, type Metrics, opsRoutes } from './ops.ts';
import { openServer } from './server.ts';

export const SERVICE_NAMES = ['notification', 'explorer', 'discovery'] as const;
type ServiceName = (typeof SERVICE_NAMES)[number];

interface ChainStyle {
  /** `tokenType` of native events; default `NATIVE`. */
  nativeSymbol?: string | undefined;
  /** Contracts that the explorer calls cataloged; default none. */
  cataloged?: readonly string[] | undefined;
}

export interface ChainOptions extends ChainStyle {
  /** Its paths begin with `/{name}`, and its folder has this name; without it there is one chain. */
  name?: string | undefined;
  nodes: readonly NodeOptions[];
  wsUrl?: string | undefined;
  /** Calls per second to each node; default: no limit until a node responds with 429. */
  perSecond?: number | undefined;
  /** Default 1. */
  batch?: number | undefined;
  /** Default 1. */
  agreement?: number | undefined;
}

export interface ServicesOptions extends ChainStyle {
  /** Any EVM node's JSON-RPC URL, for a single chain; or `chains`. */
  rpcUrl?: string;
  chains?: readonly ChainOptions[];
  dir: string;
  projects: readonly Project[] | (() => readonly Project[]);
  /** Private addresses and CIDRs that deliveries may go to; default none. */
  webhookAllow?: readonly string[];
  /** true: follow the specification to the letter where live services differ. */
  strict?: boolean;
  host?: string;
  /** Default 0: a free one. */
  port?: number;
  only?: ServiceName | undefined;
  /** Default 1000. */
  pollMs?: number;
  /** Default: the one that comes with the service. */
  providersFile?: string | undefined;
  clock?: Clock;
  /** Default: silent. */
  log?: Logger;
  signal?: AbortSignal;
}

/** The roots are whole URLs, of the first chain where there are several. */
export type Services = Awaited<ReturnType<typeof startServices>>;

/** The explorer's share of the calls to a node, so that page views do not slow down the scanner. */
const EXPLORER_SHARE = 0.2;
const EXPLORER_PER_SECOND = 20;

type Common = Required<Pick<ServicesOptions, 'log' | 'clock' | 'dir'>> &
  Pick<ServicesOptions, 'only' | 'pollMs' | 'strict' | 'webhookAllow'> & { projects: () => readonly Project[] };

/** When it resolves, the chain was read once: whatever is mined afterwards is seen. A silent node is tried again. */
export async function startServices(options: ServicesOptions) {
  const { host = '127.0.0.1', port = 0, only, log = pino({ level: 'silent' }), clock = systemClock, signal } = options;
  const { projects: given } = options;
  const common = { ...options, log, clock, projects: typeof given === 'function' ? given : () => given };
  const metrics = createMetrics();
  await using stack = new AsyncDisposableStack();
  const chains: ReturnType<typeof openChain>[] = [];
  stack.defer(async () => void (await Promise.all(chains.map((chain) => chain.close()))));
  // Ends before the chains, which its requests use.
  const server = stack.adopt(openServer(log), (it) => it.close());
  signal?.addEventListener('abort', () => {
    for (const { node } of chains) node.close();
  });
  for (const chain of chainsOf(options)) chains.push(openChain(server, common, chain, metrics));
  if (only === undefined || only === 'discovery') {
    const file = options.providersFile ?? new URL('./discovery/providers.json', import.meta.url);
    const categories = readCategories(file);
    server.register(async (web) => discoveryRoutes(web, '/discovery', categories), { prefix: '/discovery' });
  }
  const reports = () =>
    chains.flatMap(({ name, notification, node }) =>
      notification === null
        ? []
        : [{ name, status: notification.status(), nodes: node.health(), store: notification.store }],
    );
  opsRoutes(server, { chains: reports, metrics, clock });
  openApiRoutes(server, chains);
  const url = await server.listen({ host, port });
  await Promise.all(chains.map((chain) => chain.start()));
  const root = `${url}${chains[0]?.prefix ?? ''}`;
  const notification: Notification | null = chains[0]?.notification ?? null;
  const started = stack.move();
  return {
    url,
    notificationUrl: `${root}/notification/v0`,
    explorerApiUrl: `${root}/explorer/v0`,
    explorerUrl: `${root}/explorer`,
    discoveryUrl: `${url}/discovery`,
    /** null when only another service runs. */
    notification,
    /** Pending deliveries stay on disk. */
    close: () => started.disposeAsync(),
  };
}

function chainsOf({ chains, rpcUrl, nativeSymbol, cataloged }: ServicesOptions): readonly ChainOptions[] {
  if (chains !== undefined) return chains;
  if (rpcUrl === undefined) throw new Error('Set rpcUrl or chains.');
  return [{ nodes: [{ url: rpcUrl }], nativeSymbol, cataloged }];
}

function openChain(server: FastifyInstance, options: Common, chain: ChainOptions, metrics: Metrics) {
  const { only, clock } = options;
  const { name = '', nodes, wsUrl, nativeSymbol = 'NATIVE', cataloged = [], batch, agreement, perSecond } = chain;
  const prefix = name === '' ? '' : `/${name}`;
  const runs = (service: ServiceName) => only === undefined || only === service;
  const onCall = metrics.called(name);
  const share = runs('explorer') ? EXPLORER_SHARE : 0;
  const node = connect(nodes, { batch, onCall, agreement, perSecond: perSecond && perSecond * (1 - share) });
  const forExplorer = perSecond === undefined ? EXPLORER_PER_SECOND : Math.max(1, perSecond * share);
  const explorerNode = connect(nodes, { batch, onCall, perSecond: forExplorer });
  const notification = runs('notification')
    ? serveNotification(server, options, { name, prefix, nativeSymbol }, node, metrics)
    : null;
  if (runs('explorer')) {
    const root = `${prefix}/explorer`;
    server.register(async (api) => explorerRoutes(api, explorerNode, cataloged), { prefix: `${root}/v0` });
    server.register(async (web) => explorerPages(web, { root, node: explorerNode, nativeSymbol, clock }), {
      prefix: root,
    });
  }
  let stopHeads = () => {};
  return {
    name,
    prefix,
    nativeSymbol,
    notification,
    node,
    async start(): Promise<void> {
      await notification?.start();
      if (wsUrl !== undefined && notification !== null) stopHeads = followHeads(wsUrl, clock, notification.onHead);
    },
    async close(): Promise<void> {
      stopHeads();
      // The scanner stops first, so that calls which end now do not count as failures.
      const stopped = notification?.close();
      node.close();
      explorerNode.close();
      await stopped;
    },
  };
}

function serveNotification(
  server: FastifyInstance,
  options: Common,
  { name, prefix, nativeSymbol }: { name: string; prefix: string; nativeSymbol: string },
  node: Nodes,
  metrics: Metrics,
): RunningNotification {
  const { clock, log, dir, pollMs = 1000, projects, strict = false, webhookAllow = [] } = options;
  const style = { nativeSymbol, strict };
  const notification = openNotification({
    node,
    dir: join(dir, name),
    clock,
    log: name === '' ? log : log.child({ chain: name }),
    style,
    pollMs,
    webhookAllow,
    secretsOf: (projectId) => projects().find(({ id }) => id === projectId)?.signingSecrets ?? [],
    isServed: (projectId) => projects().some(({ id }) => id === projectId),
    onAttempt: metrics.attempted(name),
  });
  server.register(async (api) => notificationRoutes(api, notification, projects), {
    prefix: `${prefix}/notification/v0`,
  });
  return notification;
}
