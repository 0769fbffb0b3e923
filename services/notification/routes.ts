import { createHash, timingSafeEqual } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyRequest } from 'fastify';
import { getAddress, isAddress } from 'viem';
import { z } from 'zod';
import type { NotificationStore, Webhook } from './store.ts';
import { eventTypes, type Project } from './types.ts';

/** Refuses without saying why: a wrong key, a foreign project and an unknown webhook look alike. */
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

const receiverUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(2048)
  .refine(hasReadableCredentials, 'must have its user and password in URL encoding: % is written %25');
const eventType = z.enum(eventTypes, { error: `must be one of ${eventTypes.join(', ')}` });
const text = z.string({ error: 'must be a string' });
const addresses = z
  .array(
    text.refine((one) => isAddress(one, { strict: false }), 'is not an address: 0x and 40 hex digits'),
    {
      error: 'must be an array of addresses',
    },
  )
  .min(1, 'must hold at least one address')
  .max(10_000, 'must hold at most 10,000 addresses');

/** How many faults of a body are told at once. */
const namedFaults = 10;

const error = 'The body must be a JSON object';
const createBody = z.object({ projectId: text, webhookUrl: receiverUrl, eventType }, { error });
const editBody = z.object(
  { webhookId: text, webhookUrl: receiverUrl.optional(), eventType: eventType.optional() },
  { error },
);
const addressesBody = z.object({ webhookId: text, addresses }, { error });

/** The body of an error. */
export function failure(statusCode: number, errorMessage: string) {
  return { statusCode, errorMessage, error: STATUS_CODES[statusCode] ?? 'Error' };
}

/**
 * Interface A below the given instance's prefix. Every call needs the header API-SECRET and the query parameter
 * `apiKey` of the same project; errors have the frame `{ statusCode, errorMessage, error }`.
 */
export function notificationRoutes(
  server: FastifyInstance,
  store: NotificationStore,
  projects: readonly Project[],
): void {
  server.decorateRequest('project', null);
  server.addHook('onRequest', async (request) => request.setDecorator('project', authenticate(projects, request)));
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
  // Many clients name a body's type whether or not they send one; what needs a body says so itself.
  server.removeContentTypeParser('text/plain'); // JSON under this name would be told that it is no object.
  const parse = server.getDefaultJsonParser('error', 'error');
  server.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) =>
    text === '' ? done(null, undefined) : parse(request, text, done),
  );

  const projectOf = (request: FastifyRequest) => request.getDecorator<Project>('project');
  const webhookOf = (request: FastifyRequest, id: string): Webhook => {
    const webhook = store.findWebhook(projectOf(request).id, id);
    if (webhook === undefined) throw new Forbidden();
    return webhook;
  };

  server.get<{ Params: { projectId: string } }>('/webhooks/:projectId', (request) => {
    const { id } = projectOf(request);
    if (request.params.projectId !== id) throw new Forbidden();
    return store.listWebhooks(id).map(shown);
  });

  server.post('/webhook', (request, reply) => {
    const { projectId, webhookUrl: url, eventType } = read(createBody, request.body);
    if (projectId !== projectOf(request).id) throw new Forbidden();
    const webhook = store.createWebhook({ projectId, url, eventType });
    return reply.code(201).send({ webhookId: webhook.id, ...shown(webhook) });
  });

  server.put('/webhook', (request) => {
    const change = read(editBody, request.body);
    const webhook = webhookOf(request, change.webhookId);
    const { webhookUrl: url = webhook.url, eventType = webhook.eventType } = change;
    const edited = { ...webhook, url, eventType };
    store.updateWebhook(edited);
    return { webhookId: edited.id, ...shown(edited) };
  });

  server.get<{ Params: { webhookId: string } }>('/webhook/:webhookId', (request) => {
    const webhook = webhookOf(request, request.params.webhookId);
    return { webhookId: webhook.id, ...shown(webhook) };
  });

  server.delete<{ Params: { webhookId: string } }>('/webhook/:webhookId', (request) => {
    const webhook = webhookOf(request, request.params.webhookId);
    store.deleteWebhook(webhook.id);
    return { message: 'The webhook was deleted' };
  });

  server.post('/webhook/add-addresses', (request, reply) => {
    const { webhookId, addresses } = read(addressesBody, request.body);
    const added = store.addAddresses(webhookOf(request, webhookId).id, addresses);
    return reply.code(201).send({ message: `${added} of ${addresses.length} addresses were added` });
  });

  server.post('/webhook/delete-addresses', (request, reply) => {
    const { webhookId, addresses } = read(addressesBody, request.body);
    const deletedCount = store.deleteAddresses(webhookOf(request, webhookId).id, addresses);
    const message = `${deletedCount} of ${addresses.length} addresses were removed`;
    return reply.code(201).send({ acknowledged: true, deletedCount, message });
  });

  server.get<{ Params: { webhookId: string } }>('/webhook/addresses/:webhookId', (request) => {
    const { id: webhookId } = webhookOf(request, request.params.webhookId);
    return store
      .listAddresses(webhookId)
      .map(({ id, address }) => ({ _id: id, webhookId, address: getAddress(address) }));
  });
}

function shown({ id, projectId, url, eventType }: Webhook) {
  return { _id: id, projectId, webhookUrl: url, eventType };
}

/** The project that both keys belong to. Compares with every project, so that time tells nothing. */
function authenticate(projects: readonly Project[], request: FastifyRequest): Project {
  const secret = request.headers['api-secret'];
  const { apiKey } = request.query as { apiKey?: unknown };
  if (typeof secret !== 'string' || typeof apiKey !== 'string') throw new Forbidden();
  const found = projects.filter((project) => {
    const keyFits = equal(project.key, apiKey);
    const secretFits = equal(project.secret, secret);
    return keyFits && secretFits;
  });
  if (found[0] === undefined) throw new Forbidden();
  return found[0];
}

function equal(expected: string, given: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(expected), digest(given));
}

function read<Output>(schema: z.ZodType<Output>, body: unknown): Output {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const faults = issues
    .slice(0, namedFaults)
    .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(' '));
  if (issues.length > namedFaults) faults.push(`and ${issues.length - namedFaults} more`);
  throw new BadRequest(faults.join('; '));
}

function hasReadableCredentials(text: string): boolean {
  if (!URL.canParse(text)) return true; // That is another fault.
  try {
    const { username, password } = new URL(text);
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}
