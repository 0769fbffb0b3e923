import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { rpcOf } from '../../sandbox/chain/rpc.ts';
import { inTime } from '../until.ts';
import { HARBOR, limitedSurroundings } from './harness.ts';
import type { NodeFaults } from './limited-node.ts';
import { mineSigned, signedPayment } from './signed.ts';

const MISSING = { code: -32601, message: 'the method does not exist' };

const here = limitedSurroundings();

const { arrived, events, pay, scan, values } = here;

type Case = NodeFaults & { what: string; kind: 'native' | 'internal' | 'erc20' };
type Frame = { traceAddress: number[] };
const NO_RECEIPTS = { eth_getBlockReceipts: MISSING };
const NO_LOGS = { eth_getLogs: { code: -32005, message: 'query returned more than 10000 results' } };
const OTHER = `0x${'7'.repeat(64)}`;

it.each<Case>([
  {
    what: 'a response of many megabytes',
    kind: 'internal',
    changed: {
      trace_block: ([first, ...more]: object[]) => [{ ...first, output: 'f'.repeat(12e6) }, ...more],
    },
  },
  { what: 'each receipt alone', kind: 'erc20', refused: { ...NO_LOGS, ...NO_RECEIPTS } },
  { what: 'HTTP 500 for all receipts', kind: 'erc20', refused: { ...NO_LOGS, eth_getBlockReceipts: 500 } },
  { what: 'no list of logs', kind: 'erc20', refused: NO_RECEIPTS, changed: { eth_getLogs: () => null } },
  {
    what: 'an empty list of logs of a block whose Bloom filter has some',
    kind: 'erc20',
    refused: NO_RECEIPTS,
    changed: { eth_getLogs: () => [] },
  },
  {
    what: 'receipts that lack a log of the Bloom filter',
    kind: 'erc20',
    changed: { eth_getBlockReceipts: (all: object[]) => all.map((one) => ({ ...one, logs: [] })) },
  },
  {
    what: 'debug traces without the hashes of their transactions',
    kind: 'internal',
    refused: { trace_block: MISSING },
    changed: { debug_traceBlockByNumber: (all: { result: object }[]) => all.map(({ result }) => ({ result })) },
  },
])('reports a payment at once where a node returns $what', async ({ kind, ...faults }) => {
  here.node.spoil(faults);
  await pay(8n, kind);
  expect(await arrived()).toEqual(['8']);
});

it.each<NodeFaults & { what: string }>([
  { what: 'are refused from the start', refused: { trace_block: 502, debug_traceBlockByNumber: 502 } },
  {
    what: 'are also of a transaction of another block',
    changed: { trace_block: (all: object[]) => [...all, { ...all[0], transactionHash: OTHER, subtraces: 0 }] },
  },
  {
    what: 'are of another block that holds the same transaction',
    changed: { trace_block: (all: object[]) => all.map((one) => ({ ...one, blockHash: OTHER })) },
  },
  {
    what: 'lack a transaction',
    changed: { trace_block: (all: Frame[]) => all.filter(({ traceAddress }) => traceAddress.length > 0) },
  },
  { what: 'end inside a transaction', changed: { trace_block: (all: Frame[]) => all.slice(0, -1) } },
  {
    what: 'lack a frame in the middle',
    changed: { trace_block: (all: Frame[]) => all.filter(({ traceAddress }) => traceAddress.length !== 1) },
  },
  {
    what: 'were given up by the node in the middle',
    refused: { trace_block: MISSING },
    changed: {
      debug_traceBlockByNumber: (all: { result: object }[]) =>
        all.map(({ result }) => ({ result: { ...result, calls: [] }, error: 'execution timeout' })),
    },
  },
])('reports a payment at once, and internal ones later, not never, where traces $what', async (faults) => {
  here.node.spoil({ refused: { debug_traceBlockByNumber: 502 }, ...faults });
  await pay(1n);
  for (const amount of [7n, 8n]) await pay(amount, 'internal');
  expect(await arrived()).toEqual(['1']);
  expect((await here.services.ready()).gaps).toMatchObject([{ part: 'traces' }]);
  here.node.repair();
  here.advance(1_000);
  expect(await arrived()).toEqual(['1', '7', '8']);
  expect((await here.services.ready()).gaps).toEqual([]);
});

it.each<NodeFaults & { what: string; error: RegExp }>([
  {
    what: 'another block than the one it was asked for',
    error: /another block/,
    changed: { eth_getBlockByNumber: (block: object, [, isFull]) => (isFull ? { ...block, number: '0x1' } : block) },
  },
  {
    what: 'a block that lacks a transaction of its root',
    error: /only some transactions/,
    changed: {
      eth_getBlockByNumber: (block: { transactions: unknown[] } | null, [, isFull]) =>
        isFull && block !== null ? { ...block, transactions: block.transactions.slice(1) } : block,
    },
  },
  {
    what: 'a receipt of another block that holds the same transaction',
    error: /receipt .* in another block/,
    refused: { ...NO_LOGS, ...NO_RECEIPTS },
    changed: { eth_getTransactionReceipt: (one: object) => ({ ...one, blockHash: OTHER, logs: [] }) },
  },
  {
    what: 'a receipt without a list of logs',
    error: /receipt cannot be read/,
    refused: { ...NO_LOGS, ...NO_RECEIPTS },
    changed: { eth_getTransactionReceipt: (one: object) => ({ ...one, logs: undefined }) },
  },
])('rejects $what, and reads the block again', async ({ error, ...faults }) => {
  here.node.spoil(faults);
  await mineSigned(here.chain, await signedPayment(here.chain, here.chain.wallets.Treasury, 7n));
  await expect(scan()).rejects.toThrow(error);
  here.node.repair();
  expect(await arrived()).toEqual(['7']);
});

it('reads many watched transactions of a block with one call', async () => {
  let calls = 0;
  here.node.change('eth_getTransactionReceipt', (receipt) => {
    calls++;
    return receipt;
  });
  await here.chain.burst(50, { from: 'Alice', to: 'Treasury' });
  await scan();
  expect(await events()).toHaveLength(50);
  expect(calls).toBe(0);
  here.node.refuse('eth_getBlockReceipts', 500);
  await here.chain.burst(50, { from: 'Alice', to: 'Treasury' });
  await scan();
  expect(await events()).toHaveLength(100);
  expect(calls).toBe(50);
});

it('reads the parts of a block and the next block at the same time', async () => {
  const asked = { trace_block: Promise.withResolvers<void>(), next: Promise.withResolvers<void>() };
  const head = Number(await rpcOf(here.chain.rpcUrl)('eth_blockNumber'));
  const both = Promise.all([asked.trace_block.promise, asked.next.promise]).then(() => true);
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  // The node would be waited for half a minute, and then asked in another way.
  const timer = setTimeout(() => resolve(false), 20_000);
  const together: boolean[] = [];
  here.node.change('eth_getBlockReceipts', async (logs) => {
    together.push(await Promise.race([both, late]));
    return logs;
  });
  here.node.change('trace_block', (traces) => {
    asked.trace_block.resolve();
    return traces;
  });
  here.node.change('eth_getBlockByNumber', (block, [number]) => {
    if (Number(number) === head + 2) asked.next.resolve();
    return block;
  });
  await pay(1n, 'erc20');
  await pay(2n, 'erc20');
  await scan();
  clearTimeout(timer);
  expect(together).toEqual([true, true]);
  expect(await values()).toEqual(['1', '2']);
});

it('reports every log where each transaction counts its logs from 0', async () => {
  here.node.refuse('eth_getBlockReceipts', MISSING);
  here.node.change('eth_getLogs', (logs: object[]) => logs.map((log) => ({ ...log, logIndex: '0x0' })));
  await here.chain.burst(10, { from: 'Alice', to: 'Treasury' });
  await scan();
  expect(await events()).toHaveLength(10);
});

it('reports logs newest first and ignores logs of removed blocks', async () => {
  here.node.refuse('eth_getBlockReceipts', MISSING);
  type Log = { topics: string[]; logIndex: string };
  here.node.change('eth_getLogs', (logs: Log[]) => [
    ...logs.toReversed(),
    ...logs.map((log) => ({ ...log, logIndex: '0xff', removed: true })),
  ]);
  const { hash } = await here.chain.sweep({ from: 'Alice', to: 'Treasury', count: 3 });
  const rpc = rpcOf(here.chain.rpcUrl);
  const { logs } = await rpc<{ logs: Log[] }>('eth_getTransactionReceipt', [hash]);
  await scan();
  expect((await events()).map(({ tokenId }) => tokenId)).toEqual(logs.map(({ topics }) => Number(topics[3])).reverse());
});

it('quarantines one unreadable trace and reports everything else at once', async () => {
  here.node.change('trace_block', (traces: { action: object }[]) =>
    traces.map((trace) => ({ ...trace, action: { ...trace.action, to: '0x' } })),
  );
  await pay(9n, 'internal');
  await pay(1n);
  expect(await arrived()).toEqual(['1']);
  expect((await here.services.ready()).quarantined).toBe(1);
});

it('reports transfers whose gas figures cannot be read without them, and quarantines their receipts', async () => {
  const spoiled = (receipt: object) => ({ ...receipt, gasUsed: '0x', effectiveGasPrice: 'cheap' });
  here.node.change('eth_getTransactionReceipt', spoiled);
  here.node.change('eth_getBlockReceipts', (receipts: object[]) => receipts.map(spoiled));
  await pay(3n);
  await pay(4n, 'erc20');
  expect(await arrived()).toEqual(['3', '4']);
  const fields = (await events()).flatMap((body) => Object.keys(body));
  expect(fields.filter((name) => /^gas|^txnValue/.test(name))).toEqual([]);
  expect(await here.services.ready()).toMatchObject({ quarantined: 2, gaps: [] });
});

it('passes heights without a block at once, and still notices a reorganization after them', async () => {
  await pay(1n);
  const rpc = rpcOf(here.chain.rpcUrl);
  const empty = Number(await rpc('eth_blockNumber')) + 1;
  await rpc('anvil_mine', ['0x2']);
  const { hash } = await rpc<{ hash: string }>('eth_getBlockByNumber', [`0x${(empty - 1).toString(16)}`, false]);
  here.node.change('eth_getBlockByNumber', (block: { number: string } | null) => {
    const at = Number(block?.number) - empty;
    if (block === null || at === 0 || at === 1) return null;
    return at === 2 ? { ...block, parentHash: hash } : block;
  });
  const fork = await rpc('evm_snapshot');
  await pay(2n);
  expect(await arrived()).toEqual(['1', '2']);
  expect((await here.services.ready()).gaps).toEqual([]);
  await rpc('evm_revert', [fork]);
  await pay(3n);
  expect(await arrived()).toEqual(['1', '2', '3']);
  // A replay passes them, too.
  const [webhook] = (await here.call('GET', `/webhooks/${HARBOR.id}?full=1`)).body as { _id: string }[];
  await here.call('POST', '/webhook/replay', { webhookId: webhook!._id, fromBlock: empty - 1 });
  await scan();
  expect((await values()).length).toBe(5);
});

it('reports a scanner that has not moved for a minute while the chain grew', async () => {
  here.node.change('eth_getBlockByNumber', (block: object, [, isFull]) => (isFull === true ? null : block));
  await pay(1n);
  await expect(scan()).rejects.toThrow();
  await pay(2n);
  here.advance(61_000);
  await expect(scan()).rejects.toThrow();
  const response = await fetch(`${here.services.url}/readyz`);
  expect(response.status).toBe(503);
  expect(await response.text()).toMatch(/block \d+ is not read although the chain is at \d+/);
  here.node.change('eth_getBlockByNumber', null);
  await scan();
  expect((await fetch(`${here.services.url}/readyz`)).status).toBe(200);
});

it.each([403, 404, 501, { code: -32601, message: 'the method does not exist' }])(
  'is not blind after a node once refused what works with %o',
  async (refusal) => {
    await pay(1n);
    await scan();
    here.node.refuse(['eth_getBlockByNumber', 'trace_block', 'debug_traceBlockByNumber'], refusal);
    await pay(2n, 'internal');
    await expect(scan()).rejects.toThrow();
    here.node.repair();
    expect(await arrived()).toEqual(['1', '2']);
  },
);

it('reads null as an empty list', async () => {
  type Receipt = { logs: object[] };
  const nulls = (one: Receipt) => {
    const odd = one.logs.map((log) => ({ ...log, topics: null, logIndex: '0x9' }));
    return { ...one, logs: odd.length === 0 ? null : [...one.logs, ...odd] };
  };
  here.node.spoil({
    changed: {
      eth_getBlockByNumber: (block: object | null) => block && { ...block, withdrawals: null },
      eth_getBlockReceipts: (receipts: Receipt[]) => receipts.map(nulls),
      eth_getLogs: () => null,
      eth_getTransactionReceipt: nulls,
    },
  });
  await pay(1n);
  await pay(2n, 'erc20');
  expect(await arrived()).toEqual(['1', '2']);
  expect(await here.services.ready()).toMatchObject({ quarantined: 0, gaps: [] });
});

it.each([
  ['empty', `0x${'0'.repeat(512)}`],
  ['another', `0x${'01'.repeat(256)}`],
  ['a full', `0x${'f'.repeat(512)}`],
])('reports tokens of a chain that writes %s Bloom filter into every block', async (_name, logsBloom) => {
  here.node.change('eth_getBlockByNumber', (block: object | null) => block && { ...block, logsBloom });
  // A full filter proves nothing: all receipts of a block are believed.
  if (logsBloom.includes('f')) here.node.refuse(['eth_getLogs', 'eth_getTransactionReceipt'], 500);
  for (const amount of [1n, 2n, 3n, 4n]) await pay(amount, 'erc20');
  expect(await arrived()).toEqual(['1', '2', '3', '4']);
});

it('reports a payment once on a chain that repeats it as a log', async () => {
  const topics = ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'];
  for (const name of ['Alice', 'Treasury'] as const)
    topics.push(`0x${here.chain.wallets[name].slice(2).padStart(64, '0')}`);
  const log = { address: `0x${'f'.repeat(39)}e`, topics, data: `0x${'1'.padStart(64, '0')}`, logIndex: '0x0' };
  const logged = <Receipt extends { transactionHash: string }>(one: Receipt) => ({
    ...one,
    logs: [{ ...log, transactionHash: one.transactionHash }],
  });
  here.node.change('eth_getBlockByNumber', (block: object | null) => block && { ...block, logsBloom: '0x' });
  here.node.change('eth_getBlockReceipts', (receipts: { transactionHash: string }[]) => receipts.map(logged));
  await pay(1n);
  expect(await arrived()).toEqual(['1']);
});

it('reads a quiet chain whose transactions roots are of its own kind, and says so', async () => {
  const lines: string[] = [];
  const paySigned = async (amount: bigint) =>
    mineSigned(here.chain, await signedPayment(here.chain, here.chain.wallets.Treasury, amount));
  for (const amount of [1n, 2n, 3n, 4n]) await paySigned(amount);
  await scan();
  await here.restart({ log: pino({ level: 'warn' }, { write: (line) => lines.push(line) }) });
  here.node.change('eth_getBlockByNumber', (block: { transactions: unknown[] } | null) =>
    block && block.transactions.length > 0 ? { ...block, transactionsRoot: `0x${'5e'.repeat(32)}` } : block,
  );
  await rpcOf(here.chain.rpcUrl)('anvil_mine', ['0x3c']);
  await paySigned(5n);
  for (let tries = 0; tries < 5; tries++) await scan().catch(() => undefined);
  expect(await values()).toEqual(['1', '2', '3', '4', '5']);
  expect(lines.join()).toContain('no transactions root of this chain fits its blocks');
});

it('reads the transactions root of Kaia for an empty block', async () => {
  const transactionsRoot = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';
  here.node.change('eth_getBlockByNumber', (block: { transactions: unknown[] } | null) =>
    block?.transactions.length === 0 ? { ...block, transactionsRoot } : block,
  );
  await rpcOf(here.chain.rpcUrl)('evm_mine');
  await pay(1n);
  expect(await arrived()).toEqual(['1']);
});

it('ends without waiting for an unresponsive node', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
  await here.restart({ log });
  const asked = Promise.withResolvers<void>();
  here.node.change('eth_getBlockByNumber', () => {
    asked.resolve();
    return new Promise(() => undefined);
  });
  here.advance(1000);
  await inTime('the node is asked for a block', asked.promise);
  const { promise: late, resolve } = Promise.withResolvers<string>();
  // The node would be waited for half a minute.
  const timer = setTimeout(() => resolve('waits for the node'), 20_000);
  expect(await Promise.race([here.services.close().then(() => 'ended'), late])).toBe('ended');
  clearTimeout(timer);
  expect(lines).toEqual([]);
  here.node.change('eth_getBlockByNumber', null);
  await here.restart();
  await pay(1n);
  expect(await arrived()).toEqual(['1']);
});

it('continues at the same block of a node that does not keep the first block', async () => {
  here.node.change('eth_getBlockByNumber', (block: object, [number]) => (number === '0x0' ? null : block));
  await here.services.close();
  await pay(1n);
  await here.restart();
  expect(await values()).toEqual(['1']);
  here.dir = join(here.dir, 'another');
  await here.restart();
  await here.watch();
  await here.services.close();
  await pay(2n);
  here.node.change('eth_getBlockByNumber', null);
  await here.restart();
  expect(await values()).toEqual(['1', '2']);
});

it('accepts addresses only once it knows the block to begin with, and reports everything after that', async () => {
  here.dir = join(here.dir, 'another');
  here.node.setAway(true);
  await here.restart();
  const webhook = { projectId: HARBOR.id, webhookUrl: here.receiver.url, eventType: 'ALL' };
  const { Treasury } = here.chain.wallets;
  const created = await here.call('POST', '/webhook', webhook);
  const { webhookId } = created.body as { webhookId: string };
  const add = () => here.call('POST', '/webhook/add-addresses', { webhookId, addresses: [Treasury] });
  expect(await add()).toMatchObject({ status: 503, body: { statusCode: 503, error: 'Service Unavailable' } });
  expect(await here.call('POST', '/webhook', { ...webhook, addresses: [Treasury] })).toMatchObject({
    status: 503,
  });
  // The newest block is unreadable, so no place is known either.
  here.node.setAway(false);
  here.node.change('eth_getBlockByNumber', (block, [tag]) => (tag === 'latest' ? null : block));
  expect(await add()).toMatchObject({ status: 503 });
  here.node.change('eth_getBlockByNumber', null);
  await pay(1n);
  expect(await here.call('GET', `/webhook/addresses/${webhookId}`)).toMatchObject({ body: [] });
  expect(await here.call('GET', `/webhooks/${HARBOR.id}`)).toMatchObject({ body: [webhook] });
  expect(await add()).toMatchObject({ status: 201 });
  here.node.setAway(true);
  await pay(2n);
  await pay(3n);
  await expect(scan()).rejects.toThrow();
  here.node.setAway(false);
  expect(await arrived()).toEqual(['2', '3']);
});

it('rejects a list of logs that lacks some of those in the Bloom filter', async () => {
  here.node.spoil({ refused: NO_RECEIPTS, changed: { eth_getLogs: (logs: object[]) => logs.slice(1) } });
  await here.chain.sweep({ from: 'Alice', to: 'Treasury', count: 3 });
  await scan();
  expect(await events()).toHaveLength(3);
});

it('rejects logs of another block, although they fit its Bloom filter', async () => {
  here.node.refuse('eth_getBlockReceipts', MISSING);
  await pay(7n, 'erc20');
  expect(await arrived()).toEqual(['7']);
  let earlier: object[] = [];
  here.node.change('eth_getLogs', (logs: object[]) => {
    const stale = earlier;
    earlier = logs;
    return stale.length > 0 ? stale : logs;
  });
  await pay(8n, 'erc20');
  await pay(9n, 'erc20');
  expect(await arrived()).toEqual(['7', '8', '9']);
});

it('rejects the receipt of another transaction in the same block', async () => {
  here.node.refuse('eth_getBlockReceipts', MISSING);
  const rpc = rpcOf(here.chain.rpcUrl);
  const { Alice, Treasury } = here.chain.wallets;
  const transaction = { from: Alice, gas: '0x30d40' };
  const failing = await rpc<string>('eth_sendTransaction', [{ ...transaction, data: '0xfe' }]);
  await rpc('eth_sendTransaction', [{ ...transaction, to: Treasury, value: '0x5' }]);
  await rpc('evm_mine');
  const reverted = await rpc('eth_getTransactionReceipt', [failing]);
  let isFirst = true;
  here.node.change('eth_getTransactionReceipt', (receipt) => {
    const given = isFirst ? reverted : receipt;
    isFirst = false;
    return given;
  });
  await expect(arrived()).rejects.toThrow(/another receipt/);
  expect(await arrived()).toEqual(['5']);
});

it('uses the other way of tracing at once where one is no longer offered', async () => {
  await pay(1n, 'internal');
  expect(await arrived()).toEqual(['1']);
  here.node.refuse('trace_block', MISSING);
  await pay(2n, 'internal');
  expect(await arrived()).toEqual(['1', '2']);
});
