import { pino } from 'pino';
import { beforeEach, expect, it } from 'vitest';
import { rpcOf } from '../../sandbox/chain/rpc.ts';
import { openStore } from '../../services/notification/store/index.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { limitedSurroundings } from './harness.ts';

const PATIENCE_MS = 10 * MINUTE;
const here = limitedSurroundings();
let lines: string[];
const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
beforeEach(async () => {
  lines = [];
  await here.restart({ log });
});

const { scan } = here;
const pay = async (...amounts: bigint[]) => {
  const blocks: number[] = [];
  for (const amount of amounts) {
    const { blockNumber } = await here.pay(amount, 'erc20');
    blocks.push(blockNumber);
  }
  return blocks;
};
/** The amounts that arrived, after all responses: advancing the clock times out a pending attempt. */
const values = async () => (await here.values()).map(Number);
const numbersOf = (line: string | undefined) => {
  const { level, first, last } = JSON.parse(line!);
  return { level, first, last };
};

/** Prunes what lies below a block: all of it, or only what its transactions left. */
function prune(what: 'blocks' | 'receipts', below: number): void {
  if (what === 'blocks') {
    here.node.change('eth_getBlockByNumber', (block, [number]) => (Number(number) < below ? null : block));
    return;
  }
  const isKept = (one: { blockNumber: string } | undefined) => Number(one?.blockNumber) >= below;
  here.node.change('eth_getLogs', (logs: { blockNumber: string }[]) => (isKept(logs[0]) ? logs : null));
  here.node.change('eth_getBlockReceipts', (all: { blockNumber: string }[]) => (isKept(all[0]) ? all : null));
  here.node.change('eth_getTransactionReceipt', (one: { blockNumber: string }) => (isKept(one) ? one : null));
}

it.each(['blocks', 'receipts'] as const)(
  'logs the pruned %s of a node, continues after 10 minutes, and reports them once a node has them',
  async (what) => {
    const blocks = await pay(1n, 2n, 3n, 4n, 5n, 6n, 7n);
    prune(what, blocks[5]!);
    await expect(scan()).rejects.toThrow(/does not have/);
    here.advance(PATIENCE_MS);
    await scan();
    expect(await values()).toEqual([6, 7]);
    const error = lines.find((line) => line.includes('RPC_URL'));
    expect(numbersOf(error)).toEqual({ level: 50, first: blocks[0], last: blocks[4] });

    await here.restart({ log });
    expect(numbersOf(lines.at(-1))).toEqual({ level: 50, first: blocks[0], last: blocks[4] });
    here.node.repair();
    await pay(8n);
    here.advance(PATIENCE_MS);
    await scan();
    // Advancing the clock times out a pending attempt, which is then repeated: each payment arrives at least once.
    const arrived = () => [...new Set(here.receiver.events().map(({ value }) => Number(value)))];
    const repeated = () => {
      here.advance(20_000);
      return arrived().sort((a, b) => a - b);
    };
    await expect
      .poll(repeated, { message: 'every payment is delivered', interval: 100, timeout: 60_000 })
      .toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  },
);

it('reports a hundred missed blocks at each look until all are reported', async () => {
  const [first] = await pay(1n);
  await rpcOf(here.chain.rpcUrl)('anvil_mine', ['0x78']);
  const [, newest] = await pay(2n, 3n);
  prune('blocks', newest!);
  await expect(scan()).rejects.toThrow(/does not have/);
  here.advance(PATIENCE_MS);
  await scan();
  expect(await values()).toEqual([3]);
  expect(numbersOf(lines.find((line) => line.includes('RPC_URL')))).toMatchObject({ first, last: newest! - 1 });
  here.node.repair();
  here.advance(PATIENCE_MS);
  for (let look = 0; look < 2; look++) await scan();
  expect(await values()).toEqual([1, 2, 3]);
});

it('reports single unreadable blocks later, and waits for the newest one', async () => {
  const [first, , third, , last] = await pay(1n, 2n, 3n, 4n, 5n);
  const broken = new Set([first, third, last]);
  here.node.change('eth_getBlockByNumber', (block, [number]) => (broken.has(Number(number)) ? null : block));
  await expect(scan()).rejects.toThrow(/does not have/);
  here.advance(PATIENCE_MS);
  await expect(scan()).rejects.toThrow(/does not have/);
  broken.delete(last);
  await scan();
  expect(await values()).toEqual([2, 4, 5]);
  broken.clear();
  here.advance(PATIENCE_MS);
  await scan();
  expect(await values()).toEqual([1, 2, 3, 4, 5]);
});

it('reports every block of a reorganization around a missed block once', async () => {
  const rpc = rpcOf(here.chain.rpcUrl);
  const fork = await rpc('evm_snapshot');
  const [, second] = await pay(1n, 2n, 3n);
  here.node.change('eth_getBlockByNumber', (block, [number]) => (Number(number) === second ? null : block));
  await expect(scan()).rejects.toThrow(/does not have/);
  expect(await values()).toEqual([1]);
  here.advance(PATIENCE_MS);
  await scan();
  expect(await values()).toEqual([1, 3]);
  await rpc('evm_revert', [fork]);
  await pay(4n, 5n, 6n, 7n);
  await scan();
  expect(await values()).toEqual([1, 3, 6, 7]);
  here.node.change('eth_getBlockByNumber', null);
  here.advance(PATIENCE_MS);
  await scan();
  await scan();
  expect(await values()).toEqual([1, 3, 4, 5, 6, 7]);
});

it('stores no block at a place that a reorganization has moved meanwhile', async () => {
  const { chain, close } = openStore(`${here.dir}/moved`);
  chain.begin({ chainId: '1', genesis: null }, 3, { number: 2, hash: 'two', time: 0 });
  const block = { time: 0, deliveries: [], unreadable: [], tracesMissing: null };
  for (const number of [3, 4, 5]) await chain.record({ ...block, number, hash: `hash ${number}` }, 0);
  chain.rewind(3);
  expect(await chain.record({ ...block, number: 6, hash: 'hash 6' }, 0)).toBeNull();
  expect(chain.miss(6, 7, 'gone', 0)).toBe(false);
  expect([chain.state()!.nextBlock, chain.gaps()]).toEqual([4, []]);
  close();
});
