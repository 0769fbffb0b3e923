import type { FastifyInstance } from 'fastify';
import { getAddress } from 'viem';
import { Refusal } from '../server.ts';
import { testDelivery } from './match.ts';
import {
  authenticate,
  Forbidden,
  linkNext,
  projectOf,
  read,
  readPage,
  refuseOthers,
  type WebhookPath,
  webhookOf,
} from './requests.ts';
import { notificationSchemas } from './schemas.ts';
import type { RunningNotification } from './service.ts';
import type { NotificationStore } from './store/index.ts';
import type { Webhook } from './store/webhooks.ts';
import type { Project } from './types.ts';

interface RouteParts {
  notification: RunningNotification;
  schemas: ReturnType<typeof notificationSchemas>;
}

/** Interface A below the given instance's prefix. */
export function notificationRoutes(
  server: FastifyInstance,
  notification: RunningNotification,
  projects: () => readonly Project[],
): void {
  const schemas = notificationSchemas(notification.style.nativeSymbol, notification.permits);
  refuseOthers(server);
  server.decorateRequest('project', null);
  server.addHook('onRequest', async (request) => request.setDecorator('project', authenticate(projects(), request)));
  const parts = { notification, schemas };
  webhookRoutes(server, parts);
  addressRoutes(server, parts);
  deliveryRoutes(server, parts);
}

function webhookRoutes(server: FastifyInstance, { notification, schemas }: RouteParts): void {
  const { store } = notification;
  const shown = ({ id, url, eventType, ...rest }: Webhook) => {
    const brand = eventType === 'NATIVE' ? notification.style.nativeSymbol : eventType;
    return { _id: id, webhookUrl: url, eventType: brand, ...rest };
  };

  server.get<{ Params: { projectId: string }; Querystring: { full?: string } }>('/webhooks/:projectId', (request) => {
    const { id } = projectOf(request);
    if (request.params.projectId !== id) throw new Forbidden();
    // A client may also ask for everything with a header (RFC 7240); other services ignore it.
    const isFull = request.query.full === '1' || request.headers.prefer === 'return=representation';
    return store.webhooks.list(id).map((webhook) => {
      const all = shown(webhook);
      const { projectId, webhookUrl, eventType } = all;
      return isFull ? all : { projectId, webhookUrl, eventType };
    });
  });

  server.post('/webhook', async (request, reply) => {
    const { addresses, webhookUrl: url, ...given } = read(schemas.createWebhook, request.body);
    if (given.projectId !== projectOf(request).id) throw new Forbidden();
    const { projectId, eventType, confirmations = 0, withdrawals = false, parallel = 1, fromBlock = null } = given;
    const settings = { projectId, url, eventType, confirmations, withdrawals, parallel, fromBlock };
    if (addresses !== undefined) await notification.fixPlace();
    const webhook = await store.commit(() => {
      const created = store.webhooks.create(settings);
      if (addresses !== undefined) addAddresses(store, created, addresses);
      return created;
    });
    return reply.code(201).send({ webhookId: webhook.id, ...shown(webhook) });
  });

  server.put('/webhook', (request) => {
    const { webhookId, webhookUrl, ...change } = read(schemas.updateWebhook, request.body);
    const webhook = webhookOf(notification, request, webhookId);
    const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
    const edited: Webhook = { ...webhook, ...given, url: webhookUrl ?? webhook.url };
    store.webhooks.update(edited);
    return { webhookId: edited.id, ...shown(edited) };
  });

  server.get<WebhookPath>('/webhook/:webhookId', (request) => {
    const webhook = webhookOf(notification, request);
    return { webhookId: webhook.id, ...shown(webhook), replays: store.replays.list(webhook.id) };
  });

  server.delete<WebhookPath>('/webhook/:webhookId', (request) => {
    store.webhooks.delete(webhookOf(notification, request).id);
    return { message: 'The webhook was deleted' };
  });
}

function addressRoutes(server: FastifyInstance, { notification, schemas }: RouteParts): void {
  const { store } = notification;

  server.post('/webhook/add-addresses', async (request, reply) => {
    const { webhookId, addresses, fromBlock } = read(schemas.addAddresses, request.body);
    webhookOf(notification, request, webhookId);
    await notification.fixPlace();
    const added = await store.commit(() =>
      addAddresses(store, webhookOf(notification, request, webhookId), addresses, fromBlock),
    );
    return reply.code(201).send({ message: `${added} of ${addresses.length} addresses were added` });
  });

  server.post('/webhook/delete-addresses', (request, reply) => {
    const { webhookId, addresses } = read(schemas.deleteAddresses, request.body);
    const deletedCount = store.webhooks.deleteAddresses(webhookOf(notification, request, webhookId).id, addresses);
    const message = `${deletedCount} of ${addresses.length} addresses were removed`;
    return reply.code(201).send({ acknowledged: true, deletedCount, message });
  });

  server.get<WebhookPath>('/webhook/addresses/:webhookId', (request, reply) => {
    const { id: webhookId } = webhookOf(notification, request);
    const { limit, after } = readPage(request);
    const rows = store.webhooks.listAddresses(webhookId, after, limit);
    linkNext(reply, rows, limit);
    return rows.map(({ id, address }) => ({ _id: id, webhookId, address: getAddress(address) }));
  });
}

/** Returns how many are new. Call in a transaction. */
function addAddresses(
  store: NotificationStore,
  { id: webhookId, fromBlock: usual }: Webhook,
  addresses: readonly string[],
  fromBlock = usual,
): number {
  const added = store.webhooks.addAddresses(webhookId, addresses);
  const last = (store.chain.state()?.nextBlock ?? 0) - 1;
  if (fromBlock !== null && added.length > 0 && fromBlock <= last) {
    store.replays.create({ webhookId, next: fromBlock, last, addresses: added, isForced: false });
  }
  return added.length;
}

const FAILED_PAGE = 100;

function deliveryRoutes(server: FastifyInstance, { notification, schemas }: RouteParts): void {
  const { store } = notification;

  server.get<WebhookPath>('/webhook/failed/:webhookId', (request, reply) => {
    const { id } = webhookOf(notification, request);
    const { limit = FAILED_PAGE, after } = readPage(request);
    const rows = store.deliveries.listFailed(id, Number(after) || 0, limit);
    linkNext(reply, rows, limit);
    return rows.map((row) => ({ ...row, endedAt: new Date(row.endedAt).toISOString() }));
  });

  server.post('/webhook/replay', (request, reply) => {
    const { webhookId, fromBlock, toBlock, failed } = read(schemas.replay, request.body);
    const { id } = webhookOf(notification, request, webhookId);
    if ((fromBlock === undefined) === (failed === undefined)) {
      throw new Refusal(400, 'The body must have either fromBlock (and toBlock) or failed');
    }
    if (failed !== undefined) {
      const count = store.deliveries.retryFailed(id, failed === 'all' ? null : failed);
      notification.nudge();
      return reply.code(202).send({ message: `${count} deliveries are sent again` });
    }
    const newest = (store.chain.state()?.nextBlock ?? 0) - 1;
    const last = Math.min(toBlock ?? newest, newest);
    if (fromBlock! > last) {
      throw new Refusal(400, `fromBlock must be at most toBlock and ${newest}, the newest block that was read`);
    }
    const replay = store.replays.create({ webhookId: id, next: fromBlock!, last, addresses: null, isForced: true });
    return reply.code(202).send({ replayId: replay.id, fromBlock, toBlock: last });
  });

  server.post('/webhook/test', async (request, reply) => {
    const { webhookId } = read(schemas.sendTestEvent, request.body);
    const webhook = webhookOf(notification, request, webhookId);
    const [delivery] = await store.commit(() => store.deliveries.keep([testDelivery(webhook, notification)]));
    if (delivery === undefined) throw new Forbidden();
    notification.nudge();
    return reply.code(202).send({ message: 'A test event is on its way', deliveryId: delivery.id });
  });
}
