import { expect, it } from 'vitest';
import { rpcOf } from '../../sandbox/chain/rpc.ts';
import { limitedSurroundings } from './harness.ts';
import { mineSigned, signedPayment } from './signed.ts';

const here = limitedSurroundings({ watches: false });
const { pay, scan, watch } = here;

const rpc = <Result = string>(method: string, params: unknown[] = []) =>
  rpcOf(here.chain.rpcUrl)<Result>(method, params);
const mine = (count: number) => rpc('anvil_mine', [`0x${count.toString(16)}`]);
/** Amounts that arrived so far, oldest first; a withdrawn one is negative. */
const delivered = async () => {
  await scan();
  return (await here.events()).map(({ value, removed }) => (removed === true ? -Number(value) : Number(value)));
};
/** Returns what goes back to this place of the chain. */
const fork = async (): Promise<() => Promise<unknown>> => {
  const id = await rpc('evm_snapshot');
  return () => rpc('evm_revert', [id]);
};

it.each([
  ['longer', [4n, 5n, 6n]],
  ['shorter', [4n]],
])('reports the blocks of a reorganization to a %s chain, and nothing twice', async (_length, amounts) => {
  await watch();
  await pay(1n);
  const back = await fork();
  for (const amount of [2n, 3n]) await pay(amount);
  await delivered();
  await back();
  for (const amount of amounts) await pay(amount);
  expect((await delivered()).sort()).toEqual([1, 2, 3, ...amounts.map(Number)]);
});

it.each([
  [true, [1, 2, -1]],
  [false, [1, 2]],
])('notices a reorganization at the same height without a new block (withdrawals: %s)', async (withdrawals, all) => {
  await watch({ withdrawals });
  const back = await fork();
  await pay(1n);
  expect(await delivered()).toEqual([1]);
  await back();
  await pay(2n);
  expect(await delivered()).toEqual([1, 2]);
  await mine(5);
  expect(await delivered()).toEqual(all);
});

it('repeats the body of a withdrawn event with removed: true', async () => {
  await watch({ withdrawals: true });
  const back = await fork();
  await pay(1n);
  await delivered();
  await back();
  await mine(4);
  expect(await delivered()).toEqual([1, -1]);
  const [event, followUp] = here.receiver.received;
  expect(JSON.parse(followUp!.body)).toEqual({ ...JSON.parse(event!.body), removed: true });
  expect(followUp!.headers['ledgerbell-removed']).toBe('true');
  expect(followUp!.headers['webhook-id']).not.toBe(event!.headers['webhook-id']);
});

it('drops deliveries of an orphaned block that were not sent yet', async () => {
  await watch({ withdrawals: true });
  here.services.notification.setFaults({ paused: true });
  const back = await fork();
  await pay(1n);
  await scan();
  await back();
  await pay(2n);
  await scan();
  here.services.notification.setFaults({ paused: false });
  await mine(3);
  expect(await delivered()).toEqual([2]);
});

it('waits for the confirmations of a webhook and never sends an event that lost its block before', async () => {
  await watch({ confirmations: 3 });
  const back = await fork();
  await pay(1n);
  await mine(1);
  await scan();
  expect(here.receiver.received).toEqual([]);
  await back();
  await pay(2n);
  await mine(2);
  await scan();
  expect(here.receiver.received).toEqual([]);
  await mine(1);
  expect(await delivered()).toEqual([2]);
});

it.each(['safe', 'finalized'] as const)('waits for the %s block of the chain', async (tag) => {
  await watch({ confirmations: tag });
  await pay(1n);
  await scan();
  expect(here.receiver.received).toEqual([]);
  // Anvil's safe block is 32 blocks behind its newest, and the finalized one 64.
  await mine(70);
  expect(await delivered()).toEqual([1]);
});

it('reports a transaction mined again in another block as moved, without a withdrawal', async () => {
  await watch({ withdrawals: true });
  const back = await fork();
  const bytes = await signedPayment(here.chain, here.chain.wallets.Treasury, 1n);
  const { hash } = await mineSigned(here.chain, bytes);
  expect(await delivered()).toEqual([1]);
  await back();
  await mine(1);
  await mineSigned(here.chain, bytes);
  await mine(5);
  expect(await delivered()).toEqual([1, 1]);
  expect(here.receiver.received[1]!.headers['ledgerbell-moved-from']).toBe(hash);
});

/** Returns what goes back to this place again and again, each time onto another branch. */
const branches = async () => {
  let back = await fork();
  return async (next: () => Promise<unknown>) => {
    await back();
    back = await fork();
    await next();
    return await delivered();
  };
};

it('reports a block again only if it was withdrawn before the chain came back to it', async () => {
  await watch({ withdrawals: true });
  const follow = await branches();
  const bytes = await signedPayment(here.chain, here.chain.wallets.Treasury, 1n);
  const block = await mineSigned(here.chain, bytes);
  const again = () => mineSigned(here.chain, bytes, block.time);
  expect(await delivered()).toEqual([1]);
  expect(await follow(() => pay(2n))).toEqual([1, 2]);
  expect(await follow(again)).toEqual([1, 2]);
  expect(await rpc<{ hash: string }>('eth_getBlockByNumber', ['latest', false])).toMatchObject({ hash: block.hash });
  const withdrawn = await follow(() => mine(5));
  expect(withdrawn.slice(2).sort()).toEqual([-1, -2]);
  await follow(again);
  await mine(6);
  expect((await delivered()).slice(4)).toEqual([1]);
});

it.each([true, false])(
  'leaves one copy of a transfer on A, then B, then A again (withdrawals: %s)',
  async (withdrawals) => {
    await watch({ withdrawals });
    const follow = await branches();
    const bytes = await signedPayment(here.chain, here.chain.wallets.Treasury, 1n);
    const first = await mineSigned(here.chain, bytes);
    expect(await delivered()).toEqual([1]);
    await follow(async () => {
      await mine(1);
      await mineSigned(here.chain, bytes);
    });
    await follow(() => mineSigned(here.chain, bytes, first.time));
    await mine(5);
    await delivered();
    /** The state of a receiver that keeps the latest event of each transfer. */
    const kept = new Map<string | undefined, string | undefined>();
    for (const { txHash, blockHash, removed } of here.receiver.events()) {
      if (removed !== true) kept.set(txHash, blockHash);
      else if (kept.get(txHash) === blockHash) kept.delete(txHash);
    }
    expect([...kept.values()]).toEqual([first.hash]);
  },
);
