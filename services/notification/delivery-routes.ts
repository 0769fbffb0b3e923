import type { FastifyInstance } from 'fastify';
import { BadRequest, linkNext, pageOf, type RouteParts, read, webhookOf } from './requests.ts';
import type { FailedDelivery } from './store/outbox.ts';
import { testDelivery } from './test-event.ts';

const FAILED_PAGE = 100;

/** Routes for deliveries: lists those given up, sends them again, and sends test events. */
export function deliveryRoutes(server: FastifyInstance, { notification, style, schemas }: RouteParts): void {
  const { store } = notification;

  server.get<{ Params: { webhookId: string } }>('/webhook/failed/:webhookId', (request, reply) => {
    const { id: webhookId } = webhookOf(notification, request, request.params.webhookId);
    const { limit = FAILED_PAGE, after = '0' } = pageOf(request);
    const rows = store.deliveries.listFailed(webhookId, { limit, after: Number(after) || 0 });
    linkNext(reply, rows.length === limit ? String(rows.at(-1)!.id) : undefined);
    return rows.map((row: FailedDelivery) => ({ ...row, endedAt: new Date(row.endedAt).toISOString() }));
  });

  server.post('/webhook/replay', (request, reply) => {
    const { webhookId, fromBlock, toBlock, failed } = read(schemas.replay, request.body);
    const { id } = webhookOf(notification, request, webhookId);
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
    if (fromBlock! > last) {
      throw new BadRequest(`fromBlock must be at most toBlock and ${newest}, the newest block that was read`);
    }
    const replay = store.replays.create({ webhookId: id, next: fromBlock!, last, addresses: null, isForced: true });
    return reply.code(202).send({ replayId: replay.id, fromBlock, toBlock: last });
  });

  server.post('/webhook/test', async (request, reply) => {
    const { webhookId } = read(schemas.test, request.body);
    const [delivery] = await store.commit(() =>
      store.deliveries.keep([testDelivery(webhookOf(notification, request, webhookId), style)]),
    );
    notification.nudge();
    return reply.code(202).send({ message: 'A test event is on its way', deliveryId: delivery!.id });
  });
}
