import { createHash, timingSafeEqual } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { getAddress } from 'viem';
import type { z } from 'zod';
import type { EventStyle } from './event.ts';
import { notificationSchemas, pageQuery } from './schemas.ts';
import type { RunningNotification } from './service.ts';
import type { FailedDelivery } from './store/outbox.ts';
import type { Webhook } from './store/webhooks.ts';
import { testDelivery } from './test-event.ts';
import type { Project } from './types.ts';

/** Refuses without a reason: a wrong key, a foreign project and an unknown webhook look alike. */
class Forbidden extends Error {
  readonly statusCode = 403;

  constructor() {
    super('Forbidden resource');
  }
}

class BadRequest extends Error {
  readonly statusCode = 400;
}

class NotFound extends Error {
  readonly statusCode = 404;
}

/** How many faults of a body are named at once. */
const NAMED_FAULTS = 10;
const FAILED_PAGE = 100;

/** The body of an error. */
export function failure(statusCode: number, errorMessage: string) {
  return { statusCode, errorMessage, error: STATUS_CODES[statusCode] ?? 'Error' };
}

/** Dependencies of the routes of interface A. */
export interface NotificationRoutes {
  notification: RunningNotification;
  /** The current projects. */
  projects(): readonly Project[];
  style: EventStyle;
}

/**
 * Interface A below the given instance's prefix. Every call needs the header API-SECRET and the query parameter
 * `apiKey` of the same project; errors have the frame `{ statusCode, errorMessage, error }`.
 */
export function notificationRoutes(server: FastifyInstance, parts: NotificationRoutes): void {
  const { notification, projects, style } = parts;
  const { store } = notification;
  const schemas = notificationSchemas(style.nativeSymbol, notification.permits);
  handleErrors(server);
  server.decorateRequest('project', null);
  server.addHook('onRequest', async (request) => request.setDecorator('project', authenticate(projects(), request)));

  const projectOf = (request: FastifyRequest) => request.getDecorator<Project>('project');
  const webhookOf = (request: FastifyRequest, id: string): Webhook => {
    const webhook = store.webhooks.find(projectOf(request).id, id);
    if (webhook === undefined) throw new Forbidden();
    return webhook;
  };
  const shown = (webhook: Webhook) => {
    const { id, projectId, url, eventType, confirmations, withdrawals, parallel, fromBlock } = webhook;
    const brand = eventType === 'NATIVE' ? style.nativeSymbol : eventType;
    return { _id: id, projectId, webhookUrl: url, eventType: brand, confirmations, withdrawals, parallel, fromBlock };
  };
  /** Adds addresses and replays them from `fromBlock` on; returns how many are new. */
  const add = (
    { id: webhookId, fromBlock: usual }: Webhook,
    addresses: readonly string[],
    fromBlock = usual,
  ): number => {
    const added = store.webhooks.addAddresses(webhookId, addresses);
    const last = (store.chain.state()?.nextBlock ?? 0) - 1;
    if (fromBlock !== null && added.length > 0 && fromBlock <= last) {
      store.replays.create({ webhookId, next: fromBlock, last, addresses: added, isForced: false });
    }
    return added.length;
  };

  server.get<{ Params: { projectId: string }; Querystring: { full?: string } }>('/webhooks/:projectId', (request) => {
    const { id } = projectOf(request);
    if (request.params.projectId !== id) throw new Forbidden();
    // A client may also ask for everything with a header (RFC 7240); other services ignore it.
    const isFull = request.query.full === '1' || request.headers.prefer === 'return=representation';
    return store.webhooks.list(id).map((webhook) => {
      const { projectId, webhookUrl, eventType } = shown(webhook);
      return isFull ? shown(webhook) : { projectId, webhookUrl, eventType };
    });
  });

  server.post('/webhook', (request, reply) => {
    const { addresses, webhookUrl: url, ...given } = read(schemas.create, request.body);
    if (given.projectId !== projectOf(request).id) throw new Forbidden();
    const { projectId, eventType, confirmations = 0, withdrawals = false, parallel = 1, fromBlock = null } = given;
    const settings = { projectId, url, eventType, confirmations, withdrawals, parallel, fromBlock };
    const webhook = store.webhooks.create(settings);
    if (addresses !== undefined) add(webhook, addresses);
    return reply.code(201).send({ webhookId: webhook.id, ...shown(webhook) });
  });

  server.put('/webhook', (request) => {
    const { webhookId, webhookUrl, ...change } = read(schemas.edit, request.body);
    const webhook = webhookOf(request, webhookId);
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const edited: Webhook = { ...webhook, ...given, url: webhookUrl ?? webhook.url };
    store.webhooks.update(edited);
    return { webhookId: edited.id, ...shown(edited) };
  });

  server.get<{ Params: { webhookId: string } }>('/webhook/:webhookId', (request) => {
    const webhook = webhookOf(request, request.params.webhookId);
    return { webhookId: webhook.id, ...shown(webhook), replays: store.replays.list(webhook.id) };
  });

  server.delete<{ Params: { webhookId: string } }>('/webhook/:webhookId', (request) => {
    const webhook = webhookOf(request, request.params.webhookId);
    store.webhooks.delete(webhook.id);
    return { message: 'The webhook was deleted' };
  });

  server.post('/webhook/add-addresses', (request, reply) => {
    const { webhookId, addresses, fromBlock } = read(schemas.addAddresses, request.body);
    const added = add(webhookOf(request, webhookId), addresses, fromBlock);
    return reply.code(201).send({ message: `${added} of ${addresses.length} addresses were added` });
  });

  server.post('/webhook/delete-addresses', (request, reply) => {
    const { webhookId, addresses } = read(schemas.deleteAddresses, request.body);
    const deletedCount = store.webhooks.deleteAddresses(webhookOf(request, webhookId).id, addresses);
    const message = `${deletedCount} of ${addresses.length} addresses were removed`;
    return reply.code(201).send({ acknowledged: true, deletedCount, message });
  });

  server.get<{ Params: { webhookId: string } }>('/webhook/addresses/:webhookId', (request, reply) => {
    const { id: webhookId } = webhookOf(request, request.params.webhookId);
    const { limit, after } = pageOf(request);
    const rows = store.webhooks.listAddresses(webhookId, {
      ...(limit === undefined ? {} : { limit }),
      ...(after === undefined ? {} : { after }),
    });
    linkNext(reply, rows.length === limit ? rows.at(-1)?.id : undefined);
    return rows.map(({ id, address }) => ({ _id: id, webhookId, address: getAddress(address) }));
  });

  server.get<{ Params: { webhookId: string } }>('/webhook/failed/:webhookId', (request, reply) => {
    const { id: webhookId } = webhookOf(request, request.params.webhookId);
    const { limit = FAILED_PAGE, after = '0' } = pageOf(request);
    const rows = store.deliveries.listFailed(webhookId, { limit, after: Number(after) || 0 });
    linkNext(reply, rows.length === limit ? String(rows.at(-1)!.id) : undefined);
    return rows.map((row: FailedDelivery) => ({ ...row, endedAt: new Date(row.endedAt).toISOString() }));
  });

  server.post('/webhook/replay', (request, reply) => {
    const { webhookId, fromBlock, toBlock, failed } = read(schemas.replay, request.body);
    const { id } = webhookOf(request, webhookId);
    if ((fromBlock === undefined) === (failed === undefined)) {
      throw new BadRequest('The body must have either fromBlock (and toBlock) or failed');
    }
    if (failed !== undefined) {
      const count = store.deliveries.retryFailed(id, failed === 'all' ? null : failed);
      notification.nudge();
      return reply.code(202).send({ message: `${count} deliveries are sent again` });
    }
    const newest = (store.chain.state()?.nextBlock ?? 0) - 1;
    const last = Math.min(toBlock ?? newest, newest);
    if (fromBlock! > last)
      throw new BadRequest(`fromBlock must be at most toBlock and ${newest}, the newest block that was read`);
    const replay = store.replays.create({ webhookId: id, next: fromBlock!, last, addresses: null, isForced: true });
    return reply.code(202).send({ replayId: replay.id, fromBlock, toBlock: last });
  });

  server.post('/webhook/test', (request, reply) => {
    const webhook = webhookOf(request, read(schemas.test, request.body).webhookId);
    const [delivery] = store.deliveries.keep([testDelivery(webhook, style)]);
    notification.nudge();
    return reply.code(202).send({ message: 'A test event is on its way', deliveryId: delivery!.id });
  });
}

function handleErrors(server: FastifyInstance): void {
  server.setErrorHandler<FastifyError>((error, request, reply) => {
    const statusCode = error.statusCode ?? 500;
    if (statusCode >= 500) request.log.error({ err: error }, 'request failed');
    const errorMessage =
      statusCode >= 500
        ? 'The request failed. Try again later.'
        : statusCode === 415
          ? 'The body must be JSON, with the header content-type: application/json'
          : error.message;
    return reply.code(statusCode).send(failure(statusCode, errorMessage));
  });
  server.setNotFoundHandler(() => {
    throw new NotFound('There is nothing at this path');
  });
  // Many clients name a body's type whether or not they send one; a route that needs a body checks for it itself.
  server.removeContentTypeParser('text/plain'); // JSON under this name would be refused as "not an object".
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) =>
    text === '' ? done(null, undefined) : parse(request, text, done),
  );
}

/** The project that both keys belong to. Compares with every project, so that timing reveals nothing. */
function authenticate(projects: readonly Project[], request: FastifyRequest): Project {
  const secret = request.headers['api-secret'];
  const { apiKey } = request.query as { apiKey?: unknown };
  if (typeof secret !== 'string' || typeof apiKey !== 'string') throw new Forbidden();
  const found = projects.filter((project) => {
    const keyFits = equal(project.key, apiKey);
    const secretFits = [project.secret, ...(project.otherSecrets ?? [])].map((one) => equal(one, secret));
    return keyFits && secretFits.includes(true);
  });
  if (found[0] === undefined) throw new Forbidden();
  return found[0];
}

function equal(expected: string, given: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(expected), digest(given));
}

function pageOf(request: FastifyRequest): { limit?: number | undefined; after?: string | undefined } {
  return read(pageQuery, request.query);
}

/** Names the next page in a header, because the body is the documented array. */
function linkNext(reply: FastifyReply, after: string | undefined): void {
  if (after !== undefined) reply.header('ledgerbell-next', after);
}

function read<Output>(schema: z.ZodType<Output>, body: unknown): Output {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const faults = issues
    .slice(0, NAMED_FAULTS)
    .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(' '));
  if (issues.length > NAMED_FAULTS) faults.push(`and ${issues.length - NAMED_FAULTS} more`);
  throw new BadRequest(faults.join('; '));
}
