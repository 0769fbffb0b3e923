import { afterEach, beforeEach, expect, it } from 'vitest';
import { MINUTE } from '../../src/domain/clock.ts';
import { inTime } from '../until.ts';
import { type Harness, startHarness, surroundings } from './harness.ts';
import { type LimitedNode, startLimitedNode } from './limited-node.ts';

const PATIENCE_MS = 2 * MINUTE;
const here = surroundings({ scripted: true });
let node: LimitedNode;
let services: Harness;

let stack: AsyncDisposableStack;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  node = stack.adopt(await startLimitedNode(here.chain.rpcUrl, []), (it) => it.close());
  services = await startHarness({ rpcUrl: node.url, dir: here.dir });
  // Tests close and restart them.
  stack.defer(() => services.close());
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
});
afterEach(() => stack.disposeAsync());

const pay = (token: 'dollar' | 'bell' | 'fake', amount: bigint) =>
  here.chain.transfer({ kind: 'erc20', token, from: 'Alice', to: 'Treasury', amount });
const scan = () => services.notification.scan();
/** The events that arrived, once nothing is left to send. */
const events = async () => {
  await services.sent();
  return here.receiver.received.map(({ body }) => JSON.parse(body));
};
/** Their values and decimals, smallest value first. */
const delivered = async () => (await events()).map(({ value, tokenDecimals }) => [value, tokenDecimals]).sort();

const EMPTY = '0x';
/** What failing nodes return for a moment: none of it is the token's own response. */
const FAILURES = [{ code: -32000, message: 'header not found' }, { code: -32603, message: 'Internal error' }, 503];
const TIMEOUTS = [{ code: -32000, message: 'execution aborted (timeout = 5s)' }, 504];

it.each([...FAILURES, ...TIMEOUTS])(
  'sends an event with its decimals after eth_call failed once with %o',
  async (refusal) => {
    await pay('dollar', 1n);
    node.refuse('eth_call', refusal);
    await scan();
    expect(here.receiver.received).toEqual([]);
    node.refuse('eth_call', null);
    await scan();
    expect(await delivered()).toEqual([['1', '6']]);
  },
);

it.each([null, EMPTY, `0x${'0'.repeat(7)}`])(
  'sends an event with its decimals after eth_call returned %s once',
  async (answer) => {
    await pay('dollar', 1n);
    node.change('eth_call', () => answer);
    await scan();
    node.change('eth_call', null);
    await scan();
    expect(await delivered()).toEqual([['1', '6']]);
  },
);

it('does not cache a response that lacks one of three facts', async () => {
  await pay('dollar', 1n);
  const decimals = '0x313ce567';
  node.change('eth_call', (result, [call]) => ((call as { data: string }).data === decimals ? EMPTY : result));
  await scan();
  services.clock.advance(120_000);
  await scan();
  await delivered();
  node.change('eth_call', null);
  services.clock.advance(600_000);
  await pay('dollar', 2n);
  await scan();
  expect(await delivered()).toEqual([
    ['1', undefined],
    ['2', '6'],
  ]);
});

it('sends the events of unresponsive tokens without their facts after 2 minutes', async () => {
  node.refuse('eth_call', 504);
  for (let count = 0; count < 60; count++) await pay('dollar', 1n);
  await scan();
  services.clock.advance(PATIENCE_MS);
  await scan();
  const all = await events();
  expect(all).toHaveLength(60);
  expect(all.filter(({ tokenDecimals }) => tokenDecimals !== undefined)).toEqual([]);
});

it.each(['execution reverted: rate limit', 'stack limit reached 1024 (1023)', 'out of gas: memory limit exceeded'])(
  'sends an event at once where the contract ends the call with "%s"',
  async (message) => {
    node.refuse('eth_call', { code: -32000, message });
    await pay('fake', 1n);
    await scan();
    expect(await delivered()).toEqual([['1', undefined]]);
  },
);

it.each(TIMEOUTS)('pauses for 10 minutes after a token wasted the node’s time with %o', async (refusal) => {
  node.refuse('eth_call', refusal);
  await pay('bell', 1n);
  await scan();
  services.clock.advance(PATIENCE_MS);
  await scan();
  node.refuse('eth_call', null);
  await pay('bell', 2n);
  await scan();
  await delivered();
  services.clock.advance(600_000);
  await pay('bell', 3n);
  await scan();
  expect(await delivered()).toEqual([
    ['1', undefined],
    ['2', undefined],
    ['3', '18'],
  ]);
});

it('waits for a node that limits calls, however long', async () => {
  await pay('dollar', 1n);
  node.refuse('eth_call', 429);
  for (let times = 0; times < 3; times++) {
    await scan();
    services.clock.advance(PATIENCE_MS);
  }
  expect(here.receiver.received).toEqual([]);
  node.refuse('eth_call', null);
  await scan();
  expect(await delivered()).toEqual([['1', '6']]);
});

it('limits the gas of the calls to a token', async () => {
  const gas = new Set<unknown>();
  node.change('eth_call', (result, [call]) => {
    gas.add((call as { gas?: string }).gas);
    return result;
  });
  await pay('dollar', 1n);
  await scan();
  expect([...gas]).toEqual(['0x4c4b40']);
});

it('reports a block without waiting for a call to a token that hangs', async () => {
  await pay('dollar', 1n);
  const asked = Promise.withResolvers<void>();
  const { promise: hang, resolve: release } = Promise.withResolvers<void>();
  node.change('eth_call', async (result) => {
    asked.resolve();
    await hang;
    return result;
  });
  const first = scan();
  await inTime('the token is asked', asked.promise);
  const matched = services.step(({ type }) => type === 'matched');
  await here.chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount: 2n });
  services.clock.advance(1_000);
  await matched;
  release();
  await first;
  expect((await delivered()).length).toBe(2);
});

it('reads a token’s facts again after a day and keeps the old ones when that fails', async () => {
  await pay('dollar', 1n);
  await scan();
  await delivered();
  services.clock.advance(86_400_001);
  node.refuse('eth_call', 504);
  await pay('dollar', 2n);
  await scan();
  node.refuse('eth_call', null);
  node.change('eth_call', () => `0x${'12'.padStart(64, '0')}`);
  await scan();
  // The facts of a day ago are used once more while they are read again.
  for (const amount of [3n, 4n]) {
    await pay('dollar', amount);
    await scan();
  }
  expect(await delivered()).toEqual([
    ['1', '6'],
    ['2', '6'],
    ['3', '6'],
    ['4', '18'],
  ]);
});
