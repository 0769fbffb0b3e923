import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { rpcOf } from '../../sandbox/chain/driver.ts';
import { NotificationStore } from '../../services/notification/store.ts';
import { hasAnvil } from '../chain/kinds.ts';
import { type Harness, startHarness, surroundings } from './harness.ts';
import { type LimitedNode, startLimitedNode } from './limited-node.ts';

const patience = 600_000;
const here = surroundings();
let node: LimitedNode;
let services: Harness;
let lines: string[];

const start = async () => {
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
  services = await startHarness({ rpcUrl: node.url, dir: here.dir, log });
};
beforeEach(async () => {
  lines = [];
  node = await startLimitedNode(here.chain.rpcUrl, []);
  await start();
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
});
afterEach(async () => {
  await services.close();
  await node.close();
});

const scan = () => services.notification.scan();
const pay = async (...amounts: bigint[]) => {
  const blocks: number[] = [];
  for (const amount of amounts) {
    const { blockNumber } = await here.chain.transfer({ kind: 'erc20', from: 'Alice', to: 'Treasury', amount });
    blocks.push(blockNumber);
  }
  return blocks;
};
/** What arrived, once every answer was heard: a clock that is moved before ends the attempt at hand. */
const values = async () => {
  await services.sent();
  return here.receiver.received.map(({ body }) => Number(JSON.parse(body).value)).sort((a, b) => a - b);
};
const numbersOf = (line: string | undefined) => {
  const { level, first, last } = JSON.parse(line!);
  return { level, first, last };
};

/** Prunes what lies below a block: all of it, or only what its transactions left. */
function prune(what: 'blocks' | 'receipts', below: number): void {
  if (what === 'blocks') {
    node.change('eth_getBlockByNumber', (block, [number]) => (Number(number) < below ? null : block));
    return;
  }
  const isKept = (one: { blockNumber: string } | undefined) => Number(one?.blockNumber) >= below;
  node.change('eth_getLogs', (logs: { blockNumber: string }[]) => (isKept(logs[0]) ? logs : null));
  node.change('eth_getBlockReceipts', (all: { blockNumber: string }[]) => (isKept(all[0]) ? all : null));
  node.change('eth_getTransactionReceipt', (one: { blockNumber: string }) => (isKept(one) ? one : null));
}

function keepAll(): void {
  for (const method of ['BlockByNumber', 'Logs', 'BlockReceipts', 'TransactionReceipt']) {
    node.change(`eth_get${method}`, null);
  }
}

test.each(['blocks', 'receipts'] as const)(
  'what a node has pruned (%s) is named, holds up nothing for good, and is told once another node has it',
  async (what) => {
    const blocks = await pay(1n, 2n, 3n, 4n, 5n, 6n, 7n);
    prune(what, blocks[5]!);
    await expect(scan()).rejects.toThrow(/does not have/);
    services.clock.advance(patience);
    await scan();
    expect(await values()).toEqual([6, 7]);
    const error = lines.find((line) => line.includes('RPC_URL'));
    expect(numbersOf(error)).toEqual({ level: 50, first: blocks[0], last: blocks[4] });

    await services.close();
    await start();
    expect(numbersOf(lines.at(-1))).toEqual({ level: 40, first: blocks[0], last: blocks[4] });
    keepAll();
    await pay(8n);
    services.clock.advance(patience);
    await scan();
    expect(await values()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  },
);

test.skipIf(!hasAnvil)('of very many missed blocks a hundred are told at each look, all without a wait', async () => {
  const [first] = await pay(1n);
  await rpcOf(here.chain.rpcUrl)('anvil_mine', ['0x78']);
  const [, newest] = await pay(2n, 3n);
  prune('blocks', newest!);
  await expect(scan()).rejects.toThrow(/does not have/);
  services.clock.advance(patience);
  await scan();
  expect(await values()).toEqual([3]);
  expect(numbersOf(lines.find((line) => line.includes('RPC_URL')))).toMatchObject({ first, last: newest! - 1 });
  keepAll();
  services.clock.advance(patience);
  for (let look = 0; look < 2; look++) await scan();
  expect(await values()).toEqual([1, 2, 3]);
});

test('single blocks that cannot be read are told later, the newest one is waited for', async () => {
  const [first, , third, , last] = await pay(1n, 2n, 3n, 4n, 5n);
  const broken = new Set([first, third, last]);
  node.change('eth_getBlockByNumber', (block, [number]) => (broken.has(Number(number)) ? null : block));
  await expect(scan()).rejects.toThrow(/does not have/);
  services.clock.advance(patience);
  await expect(scan()).rejects.toThrow(/does not have/);
  broken.delete(last);
  await scan();
  expect(await values()).toEqual([2, 4, 5]);
  broken.clear();
  services.clock.advance(patience);
  await scan();
  expect(await values()).toEqual([1, 2, 3, 4, 5]);
});

test.skipIf(!hasAnvil)(
  'a reorganisation of a missed block and of those around it is told whole, and nothing twice',
  async () => {
    const rpc = rpcOf(here.chain.rpcUrl);
    const fork = await rpc('evm_snapshot');
    const [, second] = await pay(1n, 2n, 3n);
    node.change('eth_getBlockByNumber', (block, [number]) => (Number(number) === second ? null : block));
    await expect(scan()).rejects.toThrow(/does not have/);
    expect(await values()).toEqual([1]);
    services.clock.advance(patience);
    await scan();
    expect(await values()).toEqual([1, 3]);
    await rpc('evm_revert', [fork]);
    await pay(4n, 5n, 6n, 7n);
    await scan();
    expect(await values()).toEqual([1, 3, 6, 7]);
    node.change('eth_getBlockByNumber', null);
    services.clock.advance(patience);
    await scan();
    await scan();
    expect(await values()).toEqual([1, 3, 4, 5, 6, 7]);
  },
);

test('missed blocks are kept as ranges: what is told, read again or of another chain is none of them', () => {
  const store = new NotificationStore(`${here.dir}/ranges`);
  const at = (next: number, genesis = 'one') => ({ genesis, next });
  store.commit(at(3));
  store.miss(at(6), 3);
  store.miss(at(9), 6);
  store.commit(at(10));
  store.miss(at(12), 10);
  const left = [[...store.missed()]];
  for (const number of [3, 4]) store.commitMissed(number, `hash ${number}`, []);
  left.push(store.missed());
  store.commit(at(7));
  left.push(store.missed());
  for (const number of [5, 6]) store.commitMissed(number, `hash ${number}`, []);
  left.push(store.missed());
  expect(left).toEqual([
    [
      { first: 3, last: 8 },
      { first: 10, last: 11 },
    ],
    [
      { first: 5, last: 8 },
      { first: 10, last: 11 },
    ],
    [{ first: 5, last: 6 }],
    [],
  ]);
  store.miss(at(9), 7);
  store.commit(at(7));
  expect(store.missed()).toEqual([]);
  store.miss(at(9), 7);
  store.restart(at(20, 'other'));
  expect([store.missed(), store.toldAt(3)]).toEqual([[], []]);
  store.close();
});
