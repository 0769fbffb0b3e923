import { afterEach, expect, it } from 'vitest';
import { HARBOR, type Harness, startHarness, surroundings } from './harness.ts';

/** What the specification requires, and where the default follows live services instead. */

const here = surroundings();
let services: Harness;
afterEach(() => services.close());

/** The bodies about one token transfer whose token and wallets are all watched. */
const bodies = async (strict: boolean) => {
  services = await startHarness({ rpcUrl: here.chain.rpcUrl, dir: here.dir, strict });
  const { Alice, Treasury } = here.chain.wallets;
  await services.watch(here.receiver.url, [Alice, Treasury, here.chain.tokens.dollar.address]);
  await here.chain.transfer({ kind: 'erc20', from: 'Alice', to: 'Treasury' });
  await services.notification.scan();
  await services.sent();
  return here.receiver
    .events()
    .map(({ addressType, direction }) => `${String(addressType)} ${direction}`)
    .sort();
};

it('sends one body each for token, receiver and sender, and no direction for the token, as live services do', async () => {
  expect(await bodies(false)).toEqual(['Token null', 'Wallet incoming', 'Wallet outgoing']);
});

it('sends one body for the token and one for the wallet, each with a direction, under STRICT', async () => {
  expect(await bodies(true)).toEqual(['Token incoming', 'Wallet incoming']);
});

it('takes the coin’s brand as eventType and as tokenType, and lists only what is documented', async () => {
  services = await startHarness({ rpcUrl: here.chain.rpcUrl, dir: here.dir, nativeSymbol: 'FUSE' });
  const addresses = [here.chain.wallets.Treasury];
  const webhook = { projectId: HARBOR.id, webhookUrl: here.receiver.url, eventType: 'FUSE' };
  expect((await services.call('POST', '/webhook', { ...webhook, addresses })).status).toBe(201);
  await here.chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury' });
  await here.chain.transfer({ kind: 'erc20', from: 'Alice', to: 'Treasury' });
  await services.notification.scan();
  await services.sent();
  expect(here.receiver.events().map(({ tokenType }) => tokenType)).toEqual(['FUSE']);
  expect((await services.call('GET', '/webhooks/harbor')).body).toEqual([webhook]);
});
