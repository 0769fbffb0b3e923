import type { FastifyInstance } from 'fastify';
import { getAddress } from 'viem';
import { linkNext, pageOf, type RouteParts, read, webhookOf } from './requests.ts';
import type { NotificationStore } from './store/index.ts';
import type { Webhook } from './store/webhooks.ts';

/** Routes for addresses of webhooks: adds, removes and lists them. */
export function addressRoutes(server: FastifyInstance, { notification, schemas }: RouteParts): void {
  const { store } = notification;

  server.post('/webhook/add-addresses', async (request, reply) => {
    const { webhookId, addresses, fromBlock } = read(schemas.addAddresses, request.body);
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

  server.get<{ Params: { webhookId: string } }>('/webhook/addresses/:webhookId', (request, reply) => {
    const { id: webhookId } = webhookOf(notification, request, request.params.webhookId);
    const { limit, after } = pageOf(request);
    const rows = store.webhooks.listAddresses(webhookId, {
      ...(limit === undefined ? {} : { limit }),
      ...(after === undefined ? {} : { after }),
    });
    linkNext(reply, rows.length === limit ? rows.at(-1)?.id : undefined);
    return rows.map(({ id, address }) => ({ _id: id, webhookId, address: getAddress(address) }));
  });
}

/** Adds addresses and replays them from `fromBlock` on; returns how many are new. Call in a transaction. */
export function addAddresses(
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
