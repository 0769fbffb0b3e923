import type { NewDelivery } from '../../services/notification/store/deliveries.ts';
import type { Webhook } from '../../services/notification/store/webhooks.ts';

/** A webhook of the project `harbor` with default settings; nobody listens at its URL. */
export const WEBHOOK: Omit<Webhook, 'id'> = {
  projectId: 'harbor',
  url: 'http://127.0.0.1:9',
  eventType: 'ALL',
  confirmations: 0,
  withdrawals: false,
  parallel: 1,
  fromBlock: null,
};

/** A delivery that is due since 1970. `eventKey` must differ within a webhook and block. */
export function newDelivery(webhookId: string, eventKey: string, more: Partial<NewDelivery> = {}): NewDelivery {
  return {
    webhookId,
    projectId: 'harbor',
    txHash: '0x1',
    blockNumber: 1,
    blockHash: '0xb',
    blockTime: null,
    eventKey,
    transferKey: '',
    place: 'transaction',
    matched: null,
    confirmAt: null,
    confirmTag: null,
    body: '{}',
    draft: null,
    token: null,
    rank: 0,
    dueAt: 0,
    ...more,
  };
}
