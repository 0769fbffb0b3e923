import fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { type Logger, pino } from 'pino';
import { connect } from './chain/node.ts';
import { type Clock, systemClock } from './clock.ts';
import { readCategories } from './discovery/providers.ts';
import { discoveryRoutes } from './discovery/routes.ts';
import { explorerPages } from './explorer/pages.ts';
import { explorerRoutes } from './explorer/routes.ts';
import { failure, notificationRoutes } from './notification/routes.ts';
import { openNotification, type RunningNotification } from './notification/service.ts';
import type { Notification, Project } from './notification/types.ts';

/** The names of the three services. */
export const serviceNames = ['notification', 'explorer', 'discovery'] as const;
type ServiceName = (typeof serviceNames)[number];

/** What the services need. */
export interface ServicesOptions {
  /** Any EVM node's JSON-RPC URL. */
  rpcUrl: string;
  /** The folder of the notification service's SQLite file; made if missing. */
  dir: string;
  /** Who may manage webhooks. */
  projects: readonly Project[];
  /** Default 127.0.0.1. */
  host?: string;
  /** Default 0: a free one. */
  port?: number;
  /** Which to run; default all. */
  only?: ServiceName;
  /** `tokenType` of native events; default `NATIVE`. */
  nativeSymbol?: string;
  /** Milliseconds between looks for a new block; default 1000. */
  pollMs?: number;
  /** Contracts that the explorer calls cataloged; default none. */
  cataloged?: readonly string[];
  /** The JSON file of the discovery service; default the one that comes with it. */
  providersFile?: string;
  clock?: Clock;
  /** Default: silent. */
  log?: Logger;
}

/** The services while they run; roots are whole URLs. */
export interface Services {
  /** Where the server listens, e.g. `http://127.0.0.1:8090`. */
  url: string;
  /** Root of interface A, `…/notification/v0`. */
  notificationUrl: string;
  /** Root of interface B, `…/explorer/v0`. */
  explorerApiUrl: string;
  /** The explorer's web root, `…/explorer`. */
  explorerUrl: string;
  /** Root of interface C, `…/discovery`. */
  discoveryUrl: string;
  /** null when only another service runs. */
  notification: Notification | null;
  /** Stops scanning, sending and listening; what is pending stays on disk. */
  close(): Promise<void>;
}

/**
 * Starts the services in this process, over one port.
 *
 * When it resolves, the first look at the chain was taken: what is mined afterwards is seen. A node that does not
 * answer is logged and tried again.
 *
 * @throws when the port is in use, another process has the folder's database open, or the providers cannot be read.
 */
export async function startServices(options: ServicesOptions): Promise<Services> {
  const { host = '127.0.0.1', port = 0, only, log = pino({ level: 'silent' }) } = options;
  const runs = (name: ServiceName) => only === undefined || only === name;
  const node = connect(options.rpcUrl);
  const { nativeSymbol = 'NATIVE', clock = systemClock, pollMs = 1000 } = options;
  const server = openServer(log);
  const notification = runs('notification')
    ? openNotification({ node, dir: options.dir, clock, log, nativeSymbol, pollMs })
    : null;
  const close = () => stop(server, notification, node);
  try {
    if (notification !== null) {
      const { store } = notification;
      server.register(async (api) => notificationRoutes(api, store, options.projects), { prefix: '/notification/v0' });
    }
    if (runs('explorer')) {
      server.register(async (api) => explorerRoutes(api, node, options.cataloged ?? []), { prefix: '/explorer/v0' });
      server.register(async (web) => explorerPages(web, '/explorer', node, nativeSymbol), { prefix: '/explorer' });
    }
    if (runs('discovery')) {
      const file = options.providersFile ?? new URL('./discovery/providers.json', import.meta.url);
      const categories = readCategories(file);
      server.register(async (web) => discoveryRoutes(web, '/discovery', categories), { prefix: '/discovery' });
    }
    const url = await server.listen({ host, port });
    await notification?.start();
    return {
      url,
      notificationUrl: `${url}/notification/v0`,
      explorerApiUrl: `${url}/explorer/v0`,
      explorerUrl: `${url}/explorer`,
      discoveryUrl: `${url}/discovery`,
      notification,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** A server without a route of the services, whose own errors have the frame of the service that was asked. */
function openServer(log: Logger): FastifyInstance {
  // Fastify's own request lines would hold the keys of the query.
  const server = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 1000 },
    // Its own words would repeat the path with the key of its query, in the frame of none of the services.
    frameworkErrors: (_error, { url }: FastifyRequest, reply: FastifyReply) => {
      const statusCode = 400;
      const message = 'This is no path: a part of it is too long, or is no URL encoding';
      if (url.startsWith('/notification/')) reply.code(statusCode).send(failure(statusCode, message));
      else if (url.startsWith('/explorer/v0')) reply.code(statusCode).send({ status: '0', message, result: null });
      else reply.code(statusCode).send({ error: { message } });
    },
  });
  server.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: { message: 'There is nothing at this path' } }),
  );
  server.setErrorHandler<FastifyError>(({ statusCode = 500, message }, _request, reply) =>
    reply.code(statusCode).send({ error: { message: statusCode < 500 ? message : 'The request failed' } }),
  );
  server.get('/healthz', () => ({ ok: true }));
  return server;
}

/** The scanner learns that it ends before its node does: what the node no longer answers is then no failure. */
async function stop(
  server: FastifyInstance,
  notification: RunningNotification | null,
  node: { close(): void },
): Promise<void> {
  await server.close();
  const stopped = notification?.close();
  node.close();
  await stopped;
}
