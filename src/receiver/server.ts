import { METHODS } from 'node:http';
import type { Server, SocketAddress } from 'node:net';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { IpRanges } from '../config/values.ts';
import type { Config } from '../config.ts';
import { type Clock, repeat, SECOND } from '../domain/clock.ts';
import { startRun } from '../domain/identity.ts';
import type { Inbox, QuotaLimits } from '../domain/inbox.ts';
import { MIB } from '../domain/units.ts';
import { HEADERS, listen, NO_SCHEMAS } from '../listen.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Store } from '../store/store.ts';
import {
  type Admission,
  type AdmissionOptions,
  createAdmission,
  createQuotas,
  plainIp,
  type Ticket,
} from './admission.ts';
import { watchDisk } from './disk.ts';
import { createIntake, createStorageFault, type Intake, type StorageFault } from './intake.ts';
import type { PathTokens } from './path-tokens.ts';
import { createRefusals, type Refusal, type Refusals } from './refusals.ts';
import { checkSignature } from './signature.ts';

const DEADLINE_MS = 2 * SECOND;
const SHUTDOWN_GRACE_MS = 2 * SECOND;
const USAGE_MS = 10 * SECOND;

declare module 'fastify' {
  interface FastifyRequest {
    ticket: Ticket | null;
  }
}

export interface ReceiverOptions extends Pick<AdmissionOptions, 'networks'> {
  tokens: Pick<PathTokens, 'scopeOf' | 'networkOf'>;
  config: Config;
  store: Pick<Store, 'inbox' | 'retention'>;
  /** null: the database is on a server. */
  file: string | null;
  inbox: Inbox;
  /** The secrets of each scope whose deliveries are signed; none: they cannot be read, so nothing is accepted. */
  signing: ReadonlyMap<number, readonly string[]>;
  limits: QuotaLimits;
  maxConnections: number;
  /** Tests shorten these. */
  headers?: typeof HEADERS;
  syncMs(): number;
  metrics: Pick<Metrics, 'received' | 'refused'>;
  clock: Clock;
  log: Logger;
}

/** Without the role `receive` it does not listen. */
export async function startReceiver(options: ReceiverOptions) {
  const { config, store, clock, log } = options;
  const reserveBytes = config.DISK_RESERVE_MB * MIB;
  await using stack = new AsyncDisposableStack();
  const closing = <Part extends { close(): void }>(part: Part): Part => stack.adopt(part, ({ close }) => close());
  const { reusableBytes } = store.retention;
  const disk = closing(watchDisk({ file: options.file, reserveBytes, clock, log, reusableBytes }));
  const run = closing(startRun(clock));
  const quotas = createQuotas({ ...options, isDiskLow: disk.isLow });
  const refusals = createRefusals(options);
  const storage = createStorageFault(options);
  const admission = createAdmission({ ...options, run, quotas, refusals, storage });
  const intake = createIntake({ ...options, admission, disk, quotas, storage });

  const readUsage = async () => quotas.load(await store.inbox.usage());
  await readUsage();
  stack.defer(
    repeat(clock, USAGE_MS, () => readUsage().catch((error) => log.debug({ err: error }, 'cannot read usage'))),
  );

  const app = createServer(options, { admission, intake, refusals, storage });
  stack.defer(async () => {
    admission.stop();
    const cancelGrace = clock.after(SHUTDOWN_GRACE_MS, () => app.server.closeAllConnections());
    await app.close();
    cancelGrace();
  });
  const { HOST, PORT, ROLES } = config;
  const url = ROLES.includes('receive') ? await listen(app, HOST, PORT, 'PORT') : `http://${HOST}:${PORT}`;
  const started = stack.move();
  return {
    /** URL of this process, or of another receiver of the same database; without the path. */
    url,
    admission,
    intake,
    refusals,
    quotas,
    fault: storage.reason,
    isBusy: admission.isBusy,
    isDiskLow: disk.isLow,
    stopAdmitting: admission.stop,
    /** Closes idle connections now and the others after their response, at the latest after 2 s. */
    close: (): Promise<void> => started.disposeAsync(),
  };
}

interface Parts {
  admission: Admission;
  intake: Intake;
  refusals: Refusals;
  storage: StorageFault;
}

/** Writes 200 once the bytes are on disk; does not interpret the body. */
function createServer(options: ReceiverOptions, { admission, intake, refusals, storage }: Parts) {
  const { config, tokens, signing, clock, log } = options;
  const { TRUSTED_PROXIES: proxies } = config;
  const app = fastify({
    ...NO_SCHEMAS,
    logger: false,
    http: options.headers ?? HEADERS,
    bodyLimit: MIB,
    trustProxy: proxies.entries.length > 0 && ((address: string) => isIn(proxies, plainIp(address))),
    // A body that stops half-way must not keep its connection; the sender itself times out after 3 s.
    requestTimeout: 10_000,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    frameworkErrors: (_error, _request, reply: FastifyReply) => void reply.code(404).send({ ok: false }),
  });
  // A sender may close its side once it has written the body.
  Object.assign(app.server, { httpAllowHalfOpen: true });
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  capConnections(app.server, options, refusals);
  app.decorateRequest('ticket', null);
  // Whatever its content type, a body is stored as bytes.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  // Every method is routed, so that a wrong one gets 405 and not 404.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);

  function refuse(reply: FastifyReply, refusal: Refusal): FastifyReply {
    const status = refusals.record(refusal);
    if (status === 405) reply.header('allow', 'POST, PUT, PATCH');
    // The sender should retry.
    if (status === 503) reply.header('retry-after', '15');
    return reply.code(status).send({ ok: false });
  }

  app.route({
    method: app.supportedMethods,
    url: '/hooks/:token',
    onRequest(request: FastifyRequest, reply, done): void {
      const { token } = request.params as { token: string };
      const admitted = admission.admit(tokens.scopeOf(token), request.method, request.ip);
      if ('reason' in admitted) return void refuse(reply, admitted);
      request.ticket = admitted;
      request.headers['content-type'] = 'application/octet-stream';
      const cancelDeadline = clock.after(DEADLINE_MS, () => {
        if (reply.sent) return;
        if (admitted.bytes !== null) storage.slow();
        refuse(reply.header('connection', 'close'), { reason: 'late', scope: admitted.scope });
      });
      reply.raw.once('close', () => {
        cancelDeadline();
        admission.close(admitted);
      });
      done();
    },
    handler(request, reply) {
      const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
      const ticket = request.ticket!;
      const { scope } = ticket;
      const secrets = signing.get(scope);
      if (secrets) {
        const signature = checkSignature(secrets, request.headers, body, clock.now());
        if (signature.status === 'refused')
          return void refuse(reply, { reason: 'signature', scope, fault: signature.fault });
        ticket.identity = signature.identity;
      }
      intake.store(ticket, body, (result) => {
        if (reply.sent) return;
        if (result !== 'stored') return void refuse(reply, { reason: result, scope });
        options.metrics.received.inc();
        reply.code(200).header('content-type', 'application/json; charset=utf-8').send('{"ok":true}');
      });
    },
  });

  // A route, because a not-found handler would first wait for the body. The text differs from the one for an unknown
  // token, by which the probe knows that a proxy forwards the path unchanged.
  app.route({
    method: app.supportedMethods,
    url: '*',
    onRequest: (_request, reply) => void reply.code(404).send({ ok: false, error: 'There is nothing at this path' }),
    handler: () => undefined,
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

const isIn = (ranges: IpRanges, ip: SocketAddress | null): boolean => ip !== null && ranges.check(ip);

/**
 * Connections leave file descriptors for the database and Discord. Those of strangers, whose deliveries would all be
 * refused, leave half for the others: for sources and for the proxies that forward their deliveries.
 */
function capConnections(
  server: Server,
  { config, networks, maxConnections }: ReceiverOptions,
  refusals: Refusals,
): void {
  const refuse = () => refusals.record({ reason: 'connections', scope: null });
  const known = [config.TRUSTED_PROXIES, ...networks.map(({ RECEIVER_SOURCES: sources }) => sources)];
  let strangers = 0;
  server.maxConnections = maxConnections;
  server.on('drop', refuse);
  if (config.RECEIVER_SOURCE_CHECK !== 'enforce') return;
  server.on('connection', (socket) => {
    const ip = plainIp(socket.remoteAddress);
    if (known.some((ranges) => isIn(ranges, ip))) return;
    strangers++;
    socket.once('close', () => strangers--);
    if (strangers <= maxConnections / 2) return;
    refuse();
    socket.destroy();
  });
}
