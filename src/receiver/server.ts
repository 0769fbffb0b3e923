import { timingSafeEqual } from 'node:crypto';
import { METHODS } from 'node:http';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { type Clock, systemClock } from '../domain/clock.ts';
import { schemaController } from './compilers.ts';
import { type Intake, REFUSALS, type Refusal, type Ticket } from './intake.ts';
import { sourceAddress } from './source.ts';

const BODY_LIMIT = 1024 * 1024;
/** No answer later than this after arrival. */
const DEADLINE_MS = 2_000;

/** Why a request was refused; also the metrics' label. `broken-off`: its body did not come to its announced end. */
export const REFUSAL_REASONS = ['token', 'method', 'source', 'too-large', 'broken-off', ...REFUSALS] as const;
export type RefusalReason = (typeof REFUSAL_REASONS)[number];

/** A path token and whose events it receives. */
export interface PathToken {
  token: string;
  scope: number;
}

declare module 'fastify' {
  interface FastifyRequest {
    ticket: Ticket | null;
  }
}

/** What the receiver needs. `tokens()` gives the active ones at the time of each request; `after` times the answers. */
export interface ReceiverOptions {
  config: Pick<Config, 'RECEIVER_SOURCES' | 'RECEIVER_SOURCE_CHECK' | 'TRUSTED_PROXIES'>;
  intake: Intake;
  tokens(): readonly PathToken[];
  now(): number;
  after?: Clock['after'];
  log: Logger;
  /** `source` and `scope` where they are known. */
  onRefused(reason: RefusalReason, source: string | null, scope: number | null): void;
  onReceived(): void;
}

/**
 * The HTTP server that deliveries are posted to: `/hooks/{token}`. Token, method and source are judged before the body
 * is read; 200 is written once the bytes are on disk; what the body says is not judged here.
 */
export function createReceiver(options: ReceiverOptions) {
  const { config, intake, tokens, now, after = systemClock.after, log, onRefused, onReceived } = options;
  const app = fastify({
    logger: false,
    schemaController,
    bodyLimit: BODY_LIMIT,
    // A body that stops half-way must not hold its connection; the sender itself gives up after 3 s.
    requestTimeout: 10_000,
    connectionTimeout: 0,
    keepAliveTimeout: 72_000,
    routerOptions: { maxParamLength: 200 },
    return503OnClosing: false,
    exposeHeadRoutes: false,
    frameworkErrors: (_error, _request, reply: FastifyReply) => void reply.code(404).send({ ok: false }),
  });
  app.decorateRequest('ticket', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

  const refuse = (
    reply: FastifyReply,
    status: number,
    reason: RefusalReason,
    from: { source: string | null; scope: number } | null = null,
  ) => {
    onRefused(reason, from?.source ?? null, from?.scope ?? null);
    return reply.code(status).send({ ok: false });
  };
  const unavailable = (reply: FastifyReply, reason: Refusal | 'broken-off') =>
    refuse(reply.header('retry-after', '15'), 503, reason);

  function admit(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const { token: given } = request.params as { token: string };
    const scope = scopeOf(given, tokens());
    if (scope === null) return void refuse(reply, 404, 'token');
    if (request.method !== 'POST' && request.method !== 'PUT' && request.method !== 'PATCH') {
      return void refuse(reply.header('allow', 'POST, PUT, PATCH'), 405, 'method');
    }
    if (config.RECEIVER_SOURCE_CHECK !== 'off') {
      const source = sourceAddress(
        request.socket.remoteAddress,
        request.headers['x-forwarded-for']?.toString(),
        config.TRUSTED_PROXIES,
      );
      if (source === null || !config.RECEIVER_SOURCES.has(source)) {
        if (config.RECEIVER_SOURCE_CHECK === 'enforce') return void refuse(reply, 403, 'source', { source, scope });
        onRefused('source', source, scope);
      }
    }
    const ticket = intake.admit(scope);
    if (typeof ticket === 'string') return void unavailable(reply, ticket);
    request.ticket = ticket;
    const response = reply.raw;
    // Whatever the sender calls it, these are bytes to keep.
    request.headers['content-type'] = 'application/octet-stream';
    const stopDeadline = after(DEADLINE_MS, () => {
      if (!reply.sent) void unavailable(reply.header('connection', 'close'), 'late');
    });
    response.once('close', () => {
      stopDeadline();
      intake.end(ticket, response.writableFinished && response.statusCode === 200 ? now() : null);
    });
    // A sender that speaks HTTP/1.0 would take this for the answer.
    if (request.headers.expect !== undefined && request.raw.httpVersion !== '1.0') response.writeContinue();
    done();
  }

  // Node would ask for the body before the token is judged, and refuse every other expectation.
  for (const event of ['checkContinue', 'checkExpectation']) app.server.on(event, app.routing);
  // Every method that exists is routed, so that a wrong method is answered with 405 and not with 404.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  app.route({
    method: app.supportedMethods,
    url: '/hooks/:token',
    onRequest: admit,
    handler(request, reply) {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      intake.store(request.ticket!, body, (result) => {
        if (reply.sent) return;
        if (result !== 'stored') return void unavailable(reply, result);
        onReceived();
        reply.code(200).header('content-type', 'application/json; charset=utf-8').send('{"ok":true}');
      });
    },
  });

  // In this hook, because a handler for what is not found would first wait for the body. The text is not that of an
  // unknown token: from that one the probe knows that a proxy passes on the very path.
  app.addHook('onRequest', (request, reply, done) => {
    if (request.is404) reply.code(404).send({ ok: false, error: 'There is nothing at this path' });
    else done();
  });
  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    if (reply.sent) return reply;
    if (error.statusCode === 413) return refuse(reply.header('connection', 'close'), 413, 'too-large');
    // What remains are broken-off bodies and bodies of another length than announced: nobody reads this answer.
    log.debug({ error: error.message }, 'request aborted');
    return unavailable(reply.header('connection', 'close'), 'broken-off');
  });
  return app;
}

/** The scope of a token; every known token is compared, each in constant time. */
function scopeOf(given: string, tokens: readonly PathToken[]): number | null {
  const bytes = Buffer.from(given);
  let found: number | null = null;
  for (const { token, scope } of tokens) {
    const expected = Buffer.from(token);
    if (expected.length === bytes.length && timingSafeEqual(expected, bytes)) found = scope;
  }
  return found;
}
