import { expect, it } from 'vitest';
import { HARBOR, limitedSurroundings } from './harness.ts';

/** What the specification requires, and where the default follows live services instead. */

const here = limitedSurroundings({ watches: false });
const { call, pay, scan } = here;

/** The bodies about one token transfer whose token and wallets are all watched. */
const bodies = async (strict: boolean) => {
  await here.restart({ strict });
  const { Alice, Treasury } = here.chain.wallets;
  await here.services.watch(here.receiver.url, [Alice, Treasury, here.chain.tokens.dollar.address]);
  await pay(1n, 'erc20');
  await scan();
  return (await here.events()).map(({ addressType, direction }) => `${String(addressType)} ${direction}`).sort();
};

it('sends one body each for token, receiver and sender, and no direction for the token, as live services do', async () => {
  expect(await bodies(false)).toEqual(['Token null', 'Wallet incoming', 'Wallet outgoing']);
});

it('sends one body for the token and one for the wallet, each with a direction, under STRICT', async () => {
  expect(await bodies(true)).toEqual(['Token incoming', 'Wallet incoming']);
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
