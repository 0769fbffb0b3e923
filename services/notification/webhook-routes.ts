import type { FastifyInstance } from 'fastify';
import { addAddresses } from './address-routes.ts';
import type { EventStyle } from './event.ts';
import { Forbidden, projectOf, type RouteParts, read, webhookOf } from './requests.ts';
import type { Webhook } from './store/webhooks.ts';

/** Routes for webhooks: lists, creates, edits and deletes them. */
export function webhookRoutes(server: FastifyInstance, { notification, style, schemas }: RouteParts): void {
  const { store } = notification;

  server.get<{ Params: { projectId: string }; Querystring: { full?: string } }>('/webhooks/:projectId', (request) => {
    const { id } = projectOf(request);
    if (request.params.projectId !== id) throw new Forbidden();
    // A client may also ask for everything with a header (RFC 7240); other services ignore it.
    const isFull = request.query.full === '1' || request.headers.prefer === 'return=representation';
    return store.webhooks.list(id).map((webhook) => {
      const { projectId, webhookUrl, eventType } = shown(webhook, style);
      return isFull ? shown(webhook, style) : { projectId, webhookUrl, eventType };
    });
  });

  server.post('/webhook', async (request, reply) => {
    const { addresses, webhookUrl: url, ...given } = read(schemas.create, request.body);
    if (given.projectId !== projectOf(request).id) throw new Forbidden();
    const { projectId, eventType, confirmations = 0, withdrawals = false, parallel = 1, fromBlock = null } = given;
    const settings = { projectId, url, eventType, confirmations, withdrawals, parallel, fromBlock };
    const webhook = await store.commit(() => {
      const created = store.webhooks.create(settings);
      if (addresses !== undefined) addAddresses(store, created, addresses);
      return created;
    });
    return reply.code(201).send({ webhookId: webhook.id, ...shown(webhook, style) });
  });

  server.put('/webhook', (request) => {
    const { webhookId, webhookUrl, ...change } = read(schemas.edit, request.body);
    const webhook = webhookOf(notification, request, webhookId);
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const edited: Webhook = { ...webhook, ...given, url: webhookUrl ?? webhook.url };
    store.webhooks.update(edited);
    return { webhookId: edited.id, ...shown(edited, style) };
  });

  server.get<{ Params: { webhookId: string } }>('/webhook/:webhookId', (request) => {
    const webhook = webhookOf(notification, request, request.params.webhookId);
    return { webhookId: webhook.id, ...shown(webhook, style), replays: store.replays.list(webhook.id) };
  });

  server.delete<{ Params: { webhookId: string } }>('/webhook/:webhookId', (request) => {
    const webhook = webhookOf(notification, request, request.params.webhookId);
    store.webhooks.delete(webhook.id);
    return { message: 'The webhook was deleted' };
  });
}

/** A webhook as clients see it. */
function shown(webhook: Webhook, { nativeSymbol }: EventStyle) {
  const { id, projectId, url, eventType, confirmations, withdrawals, parallel, fromBlock } = webhook;
  const brand = eventType === 'NATIVE' ? nativeSymbol : eventType;
  return { _id: id, projectId, webhookUrl: url, eventType: brand, confirmations, withdrawals, parallel, fromBlock };
}
