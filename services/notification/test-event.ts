import { randomBytes } from 'node:crypto';
import { type Hex, zeroAddress, zeroHash } from 'viem';
import { type EventStyle, eventBody, NO_GAS } from './event.ts';
import type { NewDelivery } from './store/new-deliveries.ts';
import type { Webhook } from './store/webhooks.ts';

/** The place in headers that marks a test event. */
const TEST_PLACE = 'test';

/** Creates a test event: value 0 from the zero address to itself, in a block that does not exist. */
export function testDelivery({ id: webhookId, projectId }: Webhook, style: EventStyle): NewDelivery {
  const txHash: Hex = `0x${randomBytes(32).toString('hex')}`;
  const body = eventBody(
    {
      transfer: {
        kind: 'native',
        internal: false,
        txHash,
        from: zeroAddress,
        to: zeroAddress,
        value: 0n,
        place: TEST_PLACE,
      },
      role: 'to',
      projectId,
      blockNumber: 0,
      blockHash: zeroHash,
      gas: NO_GAS,
    },
    null,
    style,
  );
  return {
    webhookId,
    projectId,
    txHash,
    blockNumber: 0,
    blockHash: zeroHash,
    blockTime: null,
    eventKey: `${txHash}/${TEST_PLACE}/to`,
    transferKey: '',
    place: TEST_PLACE,
    matched: null,
    confirmAt: null,
    confirmTag: null,
    body,
    draft: null,
    token: null,
    rank: 0,
    dueAt: 0,
  };
}
