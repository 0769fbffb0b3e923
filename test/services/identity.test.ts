import { createHmac } from 'node:crypto';
import { expect, it } from 'vitest';
import { HARBOR, limitedSurroundings } from './harness.ts';

const SECRETS = [24, 32].map((size) => `whsec_${Buffer.alloc(size, size).toString('base64')}`);
const here = limitedSurroundings({ projects: [{ ...HARBOR, signingSecrets: SECRETS }] });
const { pay, scan } = here;

const received = async () => {
  await scan();
  await here.services.sent();
  return here.receiver.received;
};

it('names the delivery, chain, place, matched address, attempt and time in headers', async () => {
  await pay(5n, 'erc20');
  await pay(6n, 'internal');
  const [internal, token] = (await received()).map(({ headers }) => headers);
  expect(token).toMatchObject({
    'webhook-id': expect.stringMatching(/^msg_[0-9a-f]{12}_\d+$/),
    'webhook-timestamp': String(here.services.clock.now() / 1000),
    'ledgerbell-chain-id': '31337',
    'ledgerbell-place': 'log:0',
    'ledgerbell-matched-address': here.chain.wallets.Treasury,
    'ledgerbell-attempt': '1',
    'ledgerbell-block-time': expect.stringMatching(/^\d+$/),
  });
  expect(internal!['ledgerbell-place']).toBe('trace:0');
});

it('gives two identical transfers of one transaction different ids and places, and identical bodies', async () => {
  await here.chain.identicalTransfers({ from: 'Alice', to: 'Treasury' });
  const deliveries = await received();
  expect(new Set(deliveries.map(({ body }) => body)).size).toBe(1);
  expect(new Set(deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(2);
  expect(new Set(deliveries.map(({ headers }) => headers['ledgerbell-place'])).size).toBe(2);
});

it('signs deliveries with both secrets of a project as Standard Webhooks does', async () => {
  await pay(1n);
  const [{ headers, body }] = (await received()) as [(typeof here.receiver.received)[number]];
  const content = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.');
  const signatures = SECRETS.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
  });
  expect(headers['webhook-signature']).toBe(signatures.join(' '));
});
