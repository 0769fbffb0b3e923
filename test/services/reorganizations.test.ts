import { afterEach, expect, it } from 'vitest';
import { rpcOf } from '../../sandbox/chain/driver.ts';
import type { Chain } from '../../sandbox/chain/index.ts';
import { hasAnvil } from '../chain/kinds.ts';
import { type Harness, startHarness, surroundings } from './harness.ts';

const here = surroundings();
let services: Harness;
afterEach(() => services.close());

const start = async (chain: Chain) => {
  services = await startHarness({ rpcUrl: chain.rpcUrl, dir: here.dir });
};
const pay = (chain: Chain, amount: bigint) => chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount });
/** What arrived, once nothing is left to send. */
const values = async () => {
  await services.sent();
  return here.receiver.received.map(({ body }) => JSON.parse(body).value as string).sort();
};

it.skipIf(!hasAnvil).each([
  ['longer', [4n, 5n, 6n]],
  ['shorter', [4n]],
])('reports the blocks of a reorganization to a %s chain, and nothing twice', async (_length, amounts) => {
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
