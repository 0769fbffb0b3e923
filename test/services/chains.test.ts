import { afterEach, expect, test } from 'vitest';
import { rpcOf } from '../../sandbox/chain/driver.ts';
import { type Chain, startChain } from '../../sandbox/chain/index.ts';
import { hasAnvil } from '../chain/kinds.ts';
import { type Harness, startHarness, surroundings } from './harness.ts';

const here = surroundings();
let services: Harness;
afterEach(() => services.close());

const start = async (chain: Chain) => {
  services = await startHarness({ rpcUrl: chain.rpcUrl, dir: here.dir });
};
const pay = (chain: Chain, amount: bigint) => chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount });
/** What arrived, once nothing is to be sent any more. */
const values = async () => {
  await services.sent();
  return here.receiver.received.map(({ body }) => JSON.parse(body).value as string).sort();
};

test.skipIf(!hasAnvil).each([
  ['longer', [4n, 5n, 6n]],
  ['shorter', [4n]],
])('a reorganisation to a %s chain tells what the new blocks hold, and nothing twice', async (_length, amounts) => {
  const { chain, receiver } = here;
  const rpc = rpcOf(chain.rpcUrl);
  await start(chain);
  await services.watch(receiver.url, [chain.wallets.Treasury]);
  await pay(chain, 1n);
  const fork = await rpc('evm_snapshot');
  await pay(chain, 2n);
  await pay(chain, 3n);
  await services.notification.scan();
  await services.sent();
  await rpc('evm_revert', [fork]);
  for (const amount of amounts) await pay(chain, amount);
  await services.notification.scan();
  expect(await values()).toEqual(['1', '2', '3', ...amounts.map(String)]);
});

test('on another chain scanning goes on from its newest block, whatever was told of the last one', async () => {
  const first = here.chain;
  const second = await startChain({ scripted: true });
  await start(first);
  await services.watch(here.receiver.url, [first.wallets.Treasury, second.wallets.Treasury]);
  const { blockNumber } = await pay(first, 1n);
  await services.notification.scan();
  await services.sent();
  await services.close();
  while ((await pay(second, 2n)).blockNumber < blockNumber);
  await start(second);
  await pay(second, 3n);
  await services.notification.scan();
  expect(await values()).toEqual(['1', '3']);
  await second.close();
});
