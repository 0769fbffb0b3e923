import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Harness, startHarness, surroundings } from './harness.ts';
import { type LimitedNode, startLimitedNode } from './limited-node.ts';

const patience = 120_000;
const here = surroundings({ scripted: true });
let node: LimitedNode;
let services: Harness;

beforeEach(async () => {
  node = await startLimitedNode(here.chain.rpcUrl, []);
  services = await startHarness({ rpcUrl: node.url, dir: here.dir });
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
});
afterEach(async () => {
  await services.close();
  await node.close();
});

const pay = (token: 'dollar' | 'bell' | 'fake', amount: bigint) =>
  here.chain.transfer({ kind: 'erc20', token, from: 'Alice', to: 'Treasury', amount });
const scan = () => services.notification.scan();
/** The events that arrived, once nothing is to be sent any more. */
const events = async () => {
  await services.sent();
  return here.receiver.received.map(({ body }) => JSON.parse(body));
};
/** Their values and decimals, smallest value first. */
const told = async () => (await events()).map(({ value, tokenDecimals }) => [value, tokenDecimals]).sort();

test.each([{ code: -32000, message: 'header not found' }, { code: -32603, message: 'Internal error' }, 503])(
  'a token that cannot be asked for a moment (%o) is told with its decimals',
  async (refusal) => {
    await pay('dollar', 1n);
    node.refuse('eth_call', refusal);
    await expect(scan()).rejects.toThrow(/eth_call/);
    node.refuse('eth_call', null);
    await scan();
    expect(await told()).toEqual([['1', '6']]);
  },
);

test('tokens that never can be asked are told without, after they were all waited for together', async () => {
  node.refuse('eth_call', 504);
  await here.chain.burst(60, { from: 'Alice', to: 'Treasury' });
  await expect(scan()).rejects.toThrow(/504/);
  services.clock.advance(patience);
  await scan();
  const all = await events();
  expect(all).toHaveLength(60);
  expect(all.filter(({ tokenDecimals }) => tokenDecimals !== undefined)).toEqual([]);
});

test.each(['execution reverted: rate limit', 'stack limit reached 1024 (1023)', 'out of gas: memory limit exceeded'])(
  'a contract that ends the call with "%s" holds nothing up',
  async (message) => {
    node.refuse('eth_call', { code: -32000, message });
    await pay('fake', 1n);
    await scan();
    expect(await told()).toEqual([['1', undefined]]);
  },
);

test('a token that does not answer (yet) is asked once for all its transfers of a block', async () => {
  let calls = 0;
  node.change('eth_call', () => {
    calls += 1;
    return '0x';
  });
  await here.chain.transfer({ kind: 'erc1155', from: 'Alice', to: 'Treasury', batch: true });
  await scan();
  expect(await events()).toHaveLength(3);
  expect(calls).toBe(3);
  node.change('eth_call', null);
  await here.chain.transfer({ kind: 'erc1155', from: 'Alice', to: 'Treasury' });
  await scan();
  expect((await events()).map(({ tokenSymbol }) => tokenSymbol)).toEqual([undefined, undefined, undefined, 'HSUP']);
});

test.each([{ code: -32000, message: 'execution aborted (timeout = 5s)' }, 504])(
  'a token that wastes the time of the node with %o is left alone for a while',
  async (refusal) => {
    node.refuse('eth_call', refusal);
    await pay('bell', 1n);
    await scan().catch(() => services.clock.advance(patience));
    await scan();
    node.refuse('eth_call', null);
    await pay('bell', 2n);
    await scan();
    await told();
    services.clock.advance(600_000);
    await pay('bell', 3n);
    await scan();
    expect(await told()).toEqual([
      ['1', undefined],
      ['2', undefined],
      ['3', '18'],
    ]);
  },
);

test('a node that has no time for now is waited for, however long', async () => {
  await pay('dollar', 1n);
  node.refuse('eth_call', 429);
  for (let times = 0; times < 3; times++) {
    await expect(scan()).rejects.toThrow(/429/);
    services.clock.advance(patience);
  }
  node.refuse('eth_call', null);
  await scan();
  expect(await told()).toEqual([['1', '6']]);
});

test('a token that answered in between is waited for anew', async () => {
  await pay('dollar', 1n);
  node.refuse('eth_call', 504);
  await expect(scan()).rejects.toThrow(/504/);
  node.refuse('eth_call', null);
  node.change('eth_call', () => '0x');
  await scan();
  services.clock.advance(patience);
  await pay('dollar', 2n);
  node.refuse('eth_call', 504);
  await expect(scan()).rejects.toThrow(/504/);
});

test('what a token said on another chain counts for nothing', async () => {
  await pay('dollar', 1n);
  await scan();
  node.change('eth_getBlockByNumber', (block: object, [number]) =>
    number === '0x0' ? { ...block, hash: `0x${'9'.repeat(64)}` } : block,
  );
  node.change('eth_call', () => `0x${'12'.padStart(64, '0')}`);
  for (const amount of [2n, 3n]) {
    await pay('dollar', amount);
    await scan();
  }
  expect(await told()).toEqual([
    ['1', '6'],
    ['3', '18'],
  ]);
});
