import { METHODS } from 'node:http';
import { isIP } from 'node:net';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { MIB } from '../domain/bytes.ts';
import { type Clock, MINUTE } from '../domain/clock.ts';
import type { RefusedSource } from '../domain/refused-source.ts';
import type { Ticket } from './admission.ts';
import { capConnections, HEADERS } from './connections.ts';
import type { Intake } from './intake.ts';
import type { Refusal, RefusalReason } from './refusals.ts';
import type { CheckSignature, SignatureFault } from './signature.ts';
import type { ScopeOf } from './token-index.ts';

const MAX_BODY_BYTES = MIB;
/** The latest time of a response after arrival. */
const DEADLINE_MS = 2_000;

declare module 'fastify' {
  interface FastifyRequest {
    ticket: Ticket | null;
  }
}

/** Dependencies and callbacks of the server. */
export interface ServerOptions {
  config: Pick<Config, 'RECEIVER_SOURCES' | 'RECEIVER_SOURCE_CHECK' | 'TRUSTED_PROXIES'>;
  intake: Intake;
  scopeOf: ScopeOf;
  /** Connections at the same time, at most. */
  maxConnections: number;
  /** Milliseconds; tests shorten them. */
  headers?: typeof HEADERS;
  checkSignature: CheckSignature;
  now(): number;
  /** Times the responses. */
  after: Clock['after'];
  log: Logger;
  /** A request was refused. `source`: why its address is refused; null: for another reason. `scope`: if it is known. */
  onRefused(reason: RefusalReason, source: RefusedSource | null, scope: number | null): void;
  /** A delivery with the right path token got a 401. */
  onBadSignature(fault: SignatureFault, scope: number): void;
  /** A delivery was stored and acknowledged with 200. */
  onReceived(): void;
}

/**
 * Creates the HTTP server that deliveries are posted to: `/hooks/{token}`. Checks token, method and source before the
 * body is read; writes 200 once the bytes are on disk; does not interpret the body.
 */
export function createServer(options: ServerOptions) {
  const { config, intake, checkSignature, log, onRefused, onBadSignature, onReceived } = options;
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
  capConnections(app.server, {
    max: options.maxConnections,
    isUnlisted: (address) => isUnlisted(plainIp(address), config),
    onDropped: createDropReport(options),
  });
  app.decorateRequest('ticket', null);
  // Whatever its content type, a body is stored as bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  // Node would ask for the body before the token is checked, and refuse every other expectation.
  for (const event of ['checkContinue', 'checkExpectation']) app.server.on(event, app.routing);
  // Every method is routed, so that a wrong one gets 405 and not 404.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);

  const refusing = createRefusing(onRefused);
  app.route({
    method: app.supportedMethods,
    url: '/hooks/:token',
    onRequest: createGate(options, refusing),
    handler(request, reply) {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const ticket = request.ticket!;
      const signature = checkSignature(ticket.scope, request.headers, body);
      if (signature.status === 'refused') {
        onBadSignature(signature.fault, ticket.scope);
        return void refusing.refuse(reply, 401, 'signature');
      }
      if (signature.status === 'verified') ticket.identity = signature.identity;
      intake.store(ticket, body, (result) => {
        if (reply.sent) return;
        if (result !== 'stored') return void refusing.unavailable(reply, result);
        onReceived();
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
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (reply.sent) return reply;
    const last = reply.header('connection', 'close');
    if (error.statusCode === 413) return refusing.refuse(last, 413, 'too-large');
    // Only incomplete bodies and bodies of another length than announced get here: nobody reads this response.
    log.debug({ error: error.message }, 'request aborted');
    return refusing.unavailable(last, 'broken-off');
  });
  return app;
}

/** Counts connections that were closed because there are too many; the log has it once a minute. */
function createDropReport({ onRefused, now, log, maxConnections }: ServerOptions): () => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return () => {
    onRefused('connections', null, null);
    if (now() - loggedAt < MINUTE) return;
    loggedAt = now();
    log.warn({ maxConnections }, 'too many connections: closing new ones');
  };
}

type Refusing = ReturnType<typeof createRefusing>;

/** The responses that refuse a request; each is counted. */
function createRefusing(onRefused: ServerOptions['onRefused']) {
  function refuse(reply: FastifyReply, status: number, reason: RefusalReason): FastifyReply {
    onRefused(reason, null, null);
    return reply.code(status).send({ ok: false });
  }
  return {
    refuse,
    /** The sender should retry. */
    unavailable: (reply: FastifyReply, reason: Refusal | 'broken-off') =>
      refuse(reply.header('retry-after', '15'), 503, reason),
    wrongSource(reply: FastifyReply, source: RefusedSource, scope: number): FastifyReply {
      onRefused('source', source, scope);
      return reply.code(403).send({ ok: false });
    },
  };
}

/** Checks a request before its body is read, and opens its ticket. */
function createGate(options: ServerOptions, refusing: Refusing) {
  const { config, intake, scopeOf, now, after, onRefused } = options;

  function openTicket(ticket: Ticket, request: FastifyRequest, reply: FastifyReply): void {
    request.ticket = ticket;
    request.headers['content-type'] = 'application/octet-stream';
    const response = reply.raw;
    const stopDeadline = after(DEADLINE_MS, () => {
      if (reply.sent) return;
      intake.recordLate(ticket);
      refusing.unavailable(reply.header('connection', 'close'), 'late');
    });
    response.once('close', () => {
      stopDeadline();
      intake.end(ticket, response.writableFinished && response.statusCode === 200 ? now() : null);
    });
    // An HTTP/1.0 sender would read this as the response.
    if (request.headers.expect !== undefined && request.raw.httpVersion !== '1.0') response.writeContinue();
  }

  return function onRequest(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const { token } = request.params as { token: string };
    const scope = scopeOf(token);
    if (scope === null) return void refusing.refuse(reply, 404, 'token');
    if (request.method !== 'POST' && request.method !== 'PUT' && request.method !== 'PATCH') {
      return void refusing.refuse(reply.header('allow', 'POST, PUT, PATCH'), 405, 'method');
    }
    if (config.RECEIVER_SOURCE_CHECK !== 'off') {
      const refused = refusedSource(request.ip, config);
      if (refused) {
        if (config.RECEIVER_SOURCE_CHECK === 'enforce') return void refusing.wrongSource(reply, refused, scope);
        onRefused('source', refused, scope);
      }
    }
    const ticket = intake.admit(scope);
    if (typeof ticket === 'string') return void refusing.unavailable(reply, ticket);
    openTicket(ticket, request, reply);
    done();
  };
}

/**
 * Why a request's address is not a source; null: it is. The address is the right-most one that is not a trusted proxy,
 * if there is one.
 */
function refusedSource(
  ip: string | undefined,
  { RECEIVER_SOURCES, TRUSTED_PROXIES }: ServerOptions['config'],
): RefusedSource | null {
  const source = plainIp(ip);
  if (source === null) return { reason: 'unreadable', source };
  if (RECEIVER_SOURCES.has(source)) return null;
  return { reason: TRUSTED_PROXIES.has(source) ? 'no-sender' : 'unlisted', source };
}

/** Whether this peer cannot send deliveries: it is neither a source nor a proxy that forwards those of others. */
const isUnlisted = (
  ip: string | null,
  { RECEIVER_SOURCE_CHECK, RECEIVER_SOURCES, TRUSTED_PROXIES }: ServerOptions['config'],
): boolean =>
  RECEIVER_SOURCE_CHECK === 'enforce' && (ip === null || !(RECEIVER_SOURCES.has(ip) || TRUSTED_PROXIES.has(ip)));

/** An IP in the form in which it is compared: IPv4 without `::ffff:`; null: not an IP. */
function plainIp(text: string | undefined): string | null {
  const ip = (text ?? '').replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(ip) === 0 ? null : ip;
}
