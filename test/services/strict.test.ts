import { expect, it } from 'vitest';
import { HARBOR, limitedSurroundings } from './harness.ts';

const here = limitedSurroundings({ watches: false });
const { call, pay, scan } = here;

it('sends one body for the token and one for the wallet, each with a direction, under STRICT', async () => {
  await here.restart({ strict: true });
  const { Alice, Treasury } = here.chain.wallets;
  await here.services.watch(here.receiver.url, [Alice, Treasury, here.chain.tokens.dollar.address]);
  await pay(1n, 'erc20');
  await scan();
  const bodies = (await here.events()).map(({ addressType, direction }) => `${String(addressType)} ${direction}`);
  expect(bodies.sort()).toEqual(['Token incoming', 'Wallet incoming']);
});

it('takes the coin’s brand as eventType and as tokenType, and lists only what is documented', async () => {
  await here.restart({ nativeSymbol: 'FUSE' });
  const addresses = [here.chain.wallets.Treasury];
  const webhook = { projectId: HARBOR.id, webhookUrl: here.receiver.url, eventType: 'FUSE' };
  expect((await call('POST', '/webhook', { ...webhook, addresses })).status).toBe(201);
  await pay(1n);
  await pay(1n, 'erc20');
  await scan();
  expect((await here.events()).map(({ tokenType }) => tokenType)).toEqual(['FUSE']);
  expect((await call('GET', '/webhooks/harbor')).body).toEqual([webhook]);
});
