import { encodeFunctionResult, parseAbi } from 'viem';
import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/clock.ts';
import { type Node, NodeUnreachable } from '../../services/chain/node.ts';
import type { Nodes } from '../../services/chain/nodes.ts';
import { createTokens } from '../../services/notification/tokens.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { readLog } from '../app.ts';
import { inTime } from '../until.ts';
import { limitedSurroundings } from './harness.ts';
import type { NodeFaults } from './limited-node.ts';

const PATIENCE_MS = 2 * MINUTE;
const here = limitedSurroundings();
const { events, scan } = here;

const pay = (token: 'dollar' | 'bell' | 'fake', amount: bigint) =>
  here.chain.transfer({ kind: 'erc20', token, from: 'Alice', to: 'Treasury', amount });
const delivered = async () => (await events()).map(({ value, tokenDecimals }) => [value, tokenDecimals]).sort();

const EMPTY = '0x';
const TIMEOUTS = [{ code: -32000, message: 'execution aborted (timeout = 5s)' }, 504];
const [NAME, SYMBOL, DECIMALS] = ['0x06fdde03', '0x95d89b41', '0x313ce567'];
const encodedName = (result: string) =>
  encodeFunctionResult({ abi: parseAbi(['function name() view returns (string)']), result });
/** Changes what tokens return to calls with these data from now on. */
const answer = (answers: Readonly<Record<string, string>>) =>
  here.node.change('eth_call', (result, [call]) => answers[(call as { data: string }).data] ?? result);

/** None of this is the token's own response. */
const FAULTS: [what: string, NodeFaults][] = [
  ...[{ code: -32000, message: 'header not found' }, { code: -32603, message: 'Internal error' }, 503, ...TIMEOUTS].map(
    (eth_call): [string, NodeFaults] => [`failed with ${JSON.stringify(eth_call)}`, { refused: { eth_call } }],
  ),
  ...[null, EMPTY, `0x${'0'.repeat(7)}`].map((result): [string, NodeFaults] => [
    `returned ${result}`,
    { changed: { eth_call: () => result } },
  ]),
];

it.each(FAULTS)('sends an event with its decimals after eth_call %s once', async (_what, faults) => {
  await pay('dollar', 1n);
  here.node.spoil(faults);
  await scan();
  expect(here.receiver.received).toEqual([]);
  here.node.repair();
  await scan();
  expect(await delivered()).toEqual([['1', '6']]);
});

it('does not cache a response that lacks one of three facts', async () => {
  await pay('dollar', 1n);
  answer({ [DECIMALS]: EMPTY });
  await scan();
  here.advance(120_000);
  await scan();
  await delivered();
  here.node.change('eth_call', null);
  here.advance(600_000);
  await pay('dollar', 2n);
  await scan();
  expect(await delivered()).toEqual([
    ['1', undefined],
    ['2', '6'],
  ]);
});

it('sends the events of unresponsive tokens without their facts after 2 minutes', async () => {
  here.node.refuse('eth_call', 504);
  for (let count = 0; count < 60; count++) await pay('dollar', 1n);
  await scan();
  here.advance(PATIENCE_MS);
  await scan();
  const all = await events();
  expect(all).toHaveLength(60);
  expect(all.filter(({ tokenDecimals }) => tokenDecimals !== undefined)).toEqual([]);
});

it.each(['execution reverted: rate limit', 'stack limit reached 1024 (1023)', 'out of gas: memory limit exceeded'])(
  'sends an event at once where the contract ends the call with "%s"',
  async (message) => {
    here.node.refuse('eth_call', { code: -32000, message });
    await pay('fake', 1n);
    await scan();
    expect(await delivered()).toEqual([['1', undefined]]);
  },
);

it.each(TIMEOUTS)('pauses for 10 minutes after a token wasted the node’s time with %o', async (refusal) => {
  here.node.refuse('eth_call', refusal);
  await pay('bell', 1n);
  await scan();
  here.advance(PATIENCE_MS);
  await scan();
  here.node.refuse('eth_call', null);
  await pay('bell', 2n);
  await scan();
  await delivered();
  here.advance(600_000);
  await pay('bell', 3n);
  await scan();
  expect(await delivered()).toEqual([
    ['1', undefined],
    ['2', undefined],
    ['3', '18'],
  ]);
});

it.each([429, { code: -32000, message: 'Too many requests, please retry' }])(
  'waits for a node that limits calls with %o, however long',
  async (refusal) => {
    await pay('dollar', 1n);
    here.node.refuse('eth_call', refusal);
    for (let times = 0; times < 2; times++) {
      await scan();
      here.advance(PATIENCE_MS);
    }
    expect(here.receiver.received).toEqual([]);
    here.node.refuse('eth_call', null);
    await scan();
    expect(await delivered()).toEqual([['1', '6']]);
  },
);

it('cuts names at 256 characters, and drops NULs and empty bytes', async () => {
  const hex = (text: string) => Buffer.from(text).toString('hex');
  answer({ [NAME]: encodedName('é'.repeat(300)), [SYMBOL]: `0x${hex('OLD').padEnd(64, '0')}` });
  await pay('dollar', 1n);
  await scan();
  expect(await events()).toMatchObject([{ tokenName: 'é'.repeat(256), tokenSymbol: 'OLD' }]);
  answer({ [SYMBOL]: `0x${'0'.repeat(64)}` });
  await pay('bell', 2n);
  await scan();
  expect((await events())[1]).toMatchObject({ tokenSymbol: '' });
});

it.each([600, 2 ** 20])('cuts a name of %i NULs in no time', async (count) => {
  answer({ [NAME]: encodedName(`a${'\0'.repeat(count)}b`) });
  await pay('dollar', 1n);
  await scan();
  expect(await events()).toMatchObject([{ tokenName: 'a' }]);
});

it('limits the gas of the calls to a token', async () => {
  const gas = new Set<unknown>();
  here.node.change('eth_call', (result, [call]) => {
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
  here.node.change('eth_call', async (result) => {
    asked.resolve();
    await hang;
    return result;
  });
  const first = scan();
  await inTime('the token is asked', asked.promise);
  const matched = here.services.step(({ type }) => type === 'matched');
  await here.pay(2n);
  here.advance(1_000);
  await matched;
  release();
  await first;
  expect((await delivered()).length).toBe(2);
});

it('asks silent tokens again four at a time and in turn, after those that were never asked', async () => {
  const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as const;
  const clock = createManualClock();
  const asked: string[] = [];
  const waiting = Array.from({ length: 10 }, (_, n) => address(n));
  const silent: Node = {
    async call(_method, params = []) {
      const { to } = params[0] as { to: string };
      if (!asked.includes(to)) asked.push(to);
      throw new NodeUnreachable('it hangs');
    },
  };
  const store = { deliveries: { unnamedTokens: () => waiting }, tokens: { find: () => undefined } };
  const tokens = createTokens({
    node: silent as Nodes,
    store: store as never,
    clock,
    log: readLog('warn', () => undefined),
  });
  const askedNext = async () => {
    asked.length = 0;
    clock.advance(1_000);
    await tokens.work(async () => undefined);
    return asked.map((one) => Number(one));
  };
  expect(await askedNext()).toHaveLength(10);
  waiting.push(address(10));
  expect((await askedNext()).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 10]);
  expect((await askedNext()).sort((a, b) => a - b)).toEqual([4, 5, 6, 7]);
  expect((await askedNext()).slice(0, 2).sort((a, b) => a - b)).toEqual([8, 9]);
});

it('reads a token’s facts again after a day and keeps the old ones when that fails', async () => {
  await pay('dollar', 1n);
  await scan();
  await delivered();
  here.advance(86_400_001);
  here.node.refuse('eth_call', 504);
  await pay('dollar', 2n);
  await scan();
  here.node.refuse('eth_call', null);
  here.node.change('eth_call', () => `0x${'12'.padStart(64, '0')}`);
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
