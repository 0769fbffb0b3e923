import { METHODS } from 'node:http';
import { type AddressInfo, Server, type Socket } from 'node:net';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/clock.ts';
import { MIB } from '../domain/units.ts';
import { startError } from '../errors.ts';
import { type Admission, plainIp, type Ticket } from './admission.ts';
import type { StorageFault } from './disk.ts';
import type { Intake } from './intake.ts';
import type { Refusal, Refusals } from './refusals.ts';
import type { CheckSignature } from './signature.ts';

const MAX_BODY_BYTES = MIB;
const DEADLINE_MS = 2_000;
/** Connections from addresses that may not deliver, at most. Beyond this the oldest of them is closed. */
const MAX_STRANGERS = 128;

/** Milliseconds within which a request's headers must be complete, and how often that is checked. */
export const HEADERS = { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 };

declare module 'fastify' {
  interface FastifyRequest {
    ticket: Ticket | null;
  }
}

interface ServerOptions {
  config: Pick<Config, 'TRUSTED_PROXIES'>;
  admission: Admission;
  intake: Pick<Intake, 'store'>;
  refusals: Refusals;
  storage: Pick<StorageFault, 'slow'>;
  checkSignature: CheckSignature;
  countReceived(): void;
  maxConnections: number;
  /** Tests shorten these. */
  headers?: typeof HEADERS;
  /** Times the responses. */
  after: Clock['after'];
  log: Logger;
}

/**
 * Creates the HTTP server that deliveries are posted to: `/hooks/{token}`. Admits or refuses a request before its body
 * is read; writes 200 once the bytes are on disk; does not interpret the body.
 */
export function createServer(options: ServerOptions) {
  const { config, admission, intake, refusals, checkSignature, log } = options;
  const app = fastify({
    logger: false,
    http: options.headers ?? HEADERS,
    bodyLimit: MAX_BODY_BYTES,
    trustProxy: (address: string) => config.TRUSTED_PROXIES.has(plainIp(address) ?? ''),
    // A body that stops half-way must not keep its connection; the sender itself times out after 3 s.
    requestTimeout: 10_000,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength: 200 },
    return503OnClosing: false,
    exposeHeadRoutes: false,
    frameworkErrors: (_error, _request, reply: FastifyReply) => void reply.code(404).send({ ok: false }),
  });
  // A sender may close its side once it has written the body.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  capConnections(app.server, options);
  app.decorateRequest('ticket', null);
  // Whatever its content type, a body is stored as bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  // Node would ask for the body before the token is checked, and refuse every other expectation.
  for (const event of ['checkContinue', 'checkExpectation']) app.server.on(event, app.routing);
  // Every method is routed, so that a wrong one gets 405 and not 404.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);

  function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
    const status = refusals.record(refusal);
    if (status === 405) reply.header('allow', 'POST, PUT, PATCH');
    // The sender should retry.
    if (status === 503) reply.header('retry-after', '15');
    return reply.code(status).send({ ok: false });
  }

  function startDeadline(ticket: Ticket, reply: FastifyReply): void {
    const cancel = options.after(DEADLINE_MS, () => {
      if (reply.sent) return;
      if (ticket.bytes !== null) options.storage.slow();
      refuse(reply.header('connection', 'close'), { reason: 'late', scope: ticket.scope });
    });
    reply.raw.once('close', () => {
      cancel();
      admission.close(ticket);
    });
  }

  app.route({
    method: app.supportedMethods,
    url: '/hooks/:token',
    onRequest(request: FastifyRequest, reply, done): void {
      const { token } = request.params as { token: string };
      const admitted = admission.admit({ token, method: request.method, ip: request.ip });
      if ('reason' in admitted) return void refuse(reply, admitted);
      request.ticket = admitted;
      request.headers['content-type'] = 'application/octet-stream';
      startDeadline(admitted, reply);
      // An HTTP/1.0 sender would read this as the response.
      if (request.headers.expect !== undefined && request.raw.httpVersion !== '1.0') reply.raw.writeContinue();
      done();
    },
    handler(request, reply) {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const ticket = request.ticket!;
      const { scope } = ticket;
      const signature = checkSignature(scope, request.headers, body);
      if (signature.status === 'refused') {
        return void refuse(reply, { reason: 'signature', scope, fault: signature.fault });
      }
      if (signature.status === 'verified') ticket.identity = signature.identity;
      intake.store(ticket, body, (result) => {
        if (reply.sent) return;
        if (result !== 'stored') return void refuse(reply, { reason: result, scope });
        options.countReceived();
        reply.code(200).header('content-type', 'application/json; charset=utf-8').send('{"ok":true}');
      });
    },
  });

  // In this hook, because a not-found handler would first wait for the body. The text differs from the one for an
  // unknown token, by which the probe knows that a proxy forwards the path unchanged.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) reply.code(404).send({ ok: false, error: 'There is nothing at this path' });
    else done();
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    if (reply.sent) return reply;
    // Only incomplete bodies and bodies of another length than announced are `broken-off`: nobody reads this response.
    const reason = error.statusCode === 413 ? 'too-large' : 'broken-off';
    log.debug({ error: error.message }, 'request aborted');
    return refuse(reply.header('connection', 'close'), { reason, scope: request.ticket?.scope ?? null });
  });
  return app;
}

/**
 * Caps a server's connections, so that idle ones leave file descriptors for the database and for Discord. Connections from
 * addresses that may not deliver close each other, never one from an address that may.
 */
function capConnections(
  server: Server,
  { maxConnections, admission, refusals }: Pick<ServerOptions, 'maxConnections' | 'admission' | 'refusals'>,
): void {
  const maxStrangers = Math.min(MAX_STRANGERS, Math.ceil(maxConnections / 2));
  /** In the order of arrival. */
  const strangers = new Set<Socket>();
  server.maxConnections = maxConnections;
  server.on('drop', () => refusals.record({ reason: 'connections', scope: null }));
  server.on('connection', (socket) => {
    if (!admission.isStranger(socket.remoteAddress)) return;
    strangers.add(socket);
    socket.once('close', () => strangers.delete(socket));
    if (strangers.size <= maxStrangers) return;
    const [oldest] = strangers;
    oldest?.destroy();
  });
}

/**
 * Makes a server listen and returns its URL; `name` is the variable that sets the port (0: any free one). Throws an
 * Error with a message for the operator when it cannot listen there.
 */
export async function listen(
  server: {
    listen(options: { host: string; port: number }): Promise<string>;
    server: { address(): AddressInfo | string | null };
  },
  host: string,
  port: number,
  name: string,
): Promise<string> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    const fault = error as NodeJS.ErrnoException;
    throw startError(`Ledgerbell cannot start: ${reasonOf(fault, host, port, name)}`, fault);
  }
  const shown = host.includes(':') ? `[${host}]` : host;
  return `http://${shown}:${(server.server.address() as AddressInfo).port}`;
}

/** Throws the same Error if a server could not listen there; listens briefly to find out. */
export async function assertListenable(host: string, port: number, name: string): Promise<void> {
  const server = new Server();
  const listening = {
    server,
    listen: (options: { host: string; port: number }) =>
      new Promise<string>((resolve, reject) => {
        server.once('error', reject);
        server.listen(options, () => resolve(''));
      }),
  };
  await listen(listening, host, port, name);
  await new Promise((resolve) => server.close(resolve));
}

function reasonOf({ code, message }: NodeJS.ErrnoException, host: string, port: number, name: string): string {
  const hostName = name.replace('PORT', 'HOST');
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use. Stop what uses it, or set another ${name}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Set ${hostName} to one that is, like 127.0.0.1.`;
    case 'EACCES':
      return `this user may not listen on port ${port}. Set ${name} to one above 1023.`;
    default:
      return `${message}. Set another ${name} or ${hostName}.`;
  }
}
