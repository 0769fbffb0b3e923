import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type Chain, startChain } from '../../sandbox/chain/index.ts';
import { type Rpc, rpcOf } from '../../sandbox/chain/rpc.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { addUnchecked, type Completeness } from '../../src/domain/completeness.ts';
import { networksEnvironment } from '../networks-file.ts';
import { ALERTS, GENERAL, HARBOR, type Pipeline, startPipeline } from '../pipeline/harness.ts';
import { type LimitedNode, startLimitedNode } from '../services/limited-node.ts';

let chain: Chain;
let rpc: Rpc;
beforeAll(async () => {
  chain = await startChain();
  rpc = rpcOf(chain.rpcUrl);
});
afterAll(() => chain.close());

const COIN = 10n ** 18n;
const lower = (address: string) => address.toLowerCase() as AddressText;
const treasury = () => lower(chain.wallets.Treasury);
const FOUND = 'Found on the chain';
const statusOf = (pipeline: Pipeline, network = 0): Completeness =>
  pipeline.app.internals.working().checkers[network]!.status();

/** A time after every block there is, and before every later one. */
async function nextSecond(rpcs = [rpc]): Promise<number> {
  for (const one of rpcs) await one('evm_increaseTime', [2]);
  const blocks = await Promise.all(
    rpcs.map((one) => one<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false])),
  );
  return (Math.max(...blocks.map(({ timestamp }) => Number(timestamp))) + 1) * 1_000;
}

async function start(addresses = [treasury()], rpcUrl = chain.rpcUrl): Promise<Pipeline> {
  const environment = { RPC_URL: rpcUrl, RPC_CONFIRMATIONS: '1', RPC_RATE: '999999999', NATIVE_SYMBOL: 'HARBOR' };
  const pipeline = await startPipeline({ environment, startAt: await nextSecond() });
  for (const address of addresses) await pipeline.watch(address, ALERTS, { createdAt: 0 });
  await settle(pipeline);
  return pipeline;
}

/** Routes what was received, settles everything on the chain, and compares up to there. */
async function settle(pipeline: Pipeline, rpcs = [rpc]): Promise<void> {
  await pipeline.routed();
  for (const [index, checker] of pipeline.app.internals.working().checkers.entries()) {
    await rpcs[index]!('anvil_mine', ['0x2']);
    await checker.check();
    await checker.check();
  }
  await pipeline.routed();
}

async function alerts(pipeline: Pipeline): Promise<string[]> {
  await pipeline.turnUntilSettled();
  return pipeline.alerts(ALERTS).map(({ title, text }) => `${title}\n${text}`);
}

/** Alice pays the treasury coins, and no service delivers it. */
const pay = (coins: bigint, { transfer } = chain) =>
  transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount: coins * COIN });

async function limited(missing: readonly string[] = [], { rpcUrl } = chain): Promise<LimitedNode> {
  const node = await startLimitedNode(rpcUrl, missing);
  onTestFinished(() => node.close());
  return node;
}

const eventOf = ({ hash: txHash, blockNumber }: { hash: string; blockNumber: number }, change: object = {}) => ({
  from: chain.wallets.Alice,
  to: chain.wallets.Treasury,
  tokenType: 'NATIVE',
  value: String(COIN),
  txHash,
  blockNumber,
  ...change,
});
const INVENTED = `0x${'e'.repeat(64)}`;
const NOT_THERE = 'The chain does not have this transfer';

async function moveEverything(): Promise<void> {
  const [from, to] = ['Alice', 'Treasury'] as const;
  await chain.transfer({ kind: 'erc20', from, to, amount: 7_000_001n });
  await chain.transfer({ kind: 'erc721', from, to });
  await chain.transfer({ kind: 'erc1155', from, to, batch: true });
  await chain.transfer({ kind: 'native', from, to, amount: (12n * COIN) / 10n });
  await chain.transfer({ kind: 'internal', from, to, amount: (42n * COIN) / 100n });
  await chain.transfer({ kind: 'native', from: to, to: from, amount: (3n * COIN) / 1000n });
  await chain.identicalTransfers({ from, to, amount: 5_000_000n });
}

it('posts every kind of transfer that was not delivered, once, and says how late it is', async () => {
  const pipeline = await start();
  await moveEverything();
  await settle(pipeline);
  await settle(pipeline);
  const shown = await alerts(pipeline);
  expect(shown).toHaveLength(7);
  expect(shown.every((text) => text.includes(FOUND))).toBe(true);
  const titles = shown.map((text) => text.split('\n')[0]);
  const parts = ['+7.000001', 'Harbor Keys', '+6 × ', '+1.2 HARBOR', '+0.42 HARBOR', '−0.003 HARBOR', '+5 `HUSD` ×2'];
  expect(parts.map((part) => titles.filter((title) => title!.includes(part)).length)).toEqual(parts.map(() => 1));
  expect(statusOf(pipeline)).toMatchObject({ trouble: null, unchecked: [], hasTraces: true });
});

it('finds what was missed between the first start and the first response of a node, and nothing older', async () => {
  const node = await limited();
  node.setAway(true);
  await pay(8n);
  const pipeline = await start([treasury()], node.url);
  await pay(3n);
  await settle(pipeline);
  pipeline.jump((await nextSecond()) - pipeline.clock.now());
  await pipeline.restart();
  node.setAway(false);
  await settle(pipeline);
  await settle(pipeline);
  expect(await alerts(pipeline)).toEqual([expect.stringMatching(/\+3 HARBOR.*\n.*Found on the chain/s)]);
});

it('finds what was mined in the second in which its address was added, and nothing of an earlier one', async () => {
  const pipeline = await start([]);
  for (const to of ['Treasury', 'Payroll'] as const) {
    const late = to === 'Treasury' ? 999 : 1_000;
    const { blockNumber } = await chain.transfer({ kind: 'native', from: 'Alice', to, amount: 2n * COIN });
    const block = await rpc<{ timestamp: string }>('eth_getBlockByNumber', [`0x${blockNumber.toString(16)}`, false]);
    await pipeline.watch(lower(chain.wallets[to]), ALERTS, { createdAt: Number(block.timestamp) * 1_000 + late });
  }
  await settle(pipeline);
  await settle(pipeline);
  expect(await alerts(pipeline)).toEqual([expect.stringMatching(/0x7099.* \+2 HARBOR/)]);
});

it('posts a missed payment once on a chain that repeats it as a log', async () => {
  const node = await limited();
  const pipeline = await start([treasury()], node.url);
  const { hash, blockNumber } = await pay(1n);
  const parties = [chain.wallets.Alice, treasury()].map((one) => `0x${one.slice(2).padStart(64, '0')}`);
  const log = {
    address: `0x${'f'.repeat(39)}e`,
    topics: ['0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef', ...parties],
    data: `0x${COIN.toString(16).padStart(64, '0')}`,
    transactionHash: hash,
    blockNumber: `0x${blockNumber.toString(16)}`,
    logIndex: '0x0',
  };
  node.change('eth_getLogs', (logs: object[]) => [...logs, log]);
  await settle(pipeline);
  const [shown] = await alerts(pipeline);
  expect(shown).toContain('+1 HARBOR');
  expect(shown).not.toContain('2 transfers');
});

it('takes what the service delivers afterwards as a repeat, in whatever form it writes NFTs', async () => {
  const pipeline = await start();
  const mined = await chain.transfer({ kind: 'erc1155', from: 'Alice', to: 'Treasury', id: 1n, amount: 3n });
  const paid = await pay(1n);
  await settle(pipeline);
  expect(await alerts(pipeline)).toHaveLength(2);
  const { address: tokenAddress } = chain.tokens.supplies;
  for (let repeat = 0; repeat < 2; repeat++) {
    await pipeline.receive(eventOf(mined, { tokenType: 'ERC-721', tokenId: 1, tokenAddress, value: undefined }));
    await pipeline.receive(eventOf(paid));
    // A retry comes later.
    await pipeline.pass(15_000);
  }
  expect(await alerts(pipeline)).toHaveLength(2);
});

it('posts what no call explains as that, and the payment behind it is a repeat later', async () => {
  const node = await limited(['debug_traceBlockByNumber', 'trace_block']);
  const pipeline = await start([treasury()], node.url);
  const amount = (15n * COIN) / 10n;
  const mined = await chain.transfer({ kind: 'internal', from: 'Alice', to: 'Treasury', amount });
  const internal = { isInternalTransaction: true, from: chain.contracts.splitter, value: String(amount) };
  // Of a block that left the chain.
  await pipeline.receive(eventOf({ ...mined, hash: INVENTED }, { ...internal, value: '5' }));
  await settle(pipeline);
  const [gone, shown] = await alerts(pipeline);
  expect(gone).toContain(NOT_THERE);
  expect(shown).toContain('+1.5 HARBOR');
  expect(shown).toContain(`/block/${mined.blockNumber}`);
  expect(shown).toContain('an internal payment or a reward in block');
  const ops = async (page: string) => (await fetch(pipeline.app.ops + page)).text();
  expect(await ops('/readyz')).toContain('no traces');
  expect(await ops('/metrics')).toMatch(/^ledgerbell_chain_traces\{network=".*"\} 0$/m);
  await pipeline.receive(eventOf(mined, internal));
  expect(await alerts(pipeline)).toHaveLength(2);
  // It names another block than the one that it was in, before anybody watched: without traces that cannot be disproved.
  const { hash } = await chain.transfer({ kind: 'internal', from: 'Alice', to: 'Grants', amount });
  await settle(pipeline);
  const to = lower(chain.wallets.Grants);
  await pipeline.watch(to, ALERTS, { createdAt: 0 });
  const { blockNumber } = await chain.transfer({ kind: 'native', from: 'Alice', to: 'Bob', amount: COIN });
  await pipeline.receive(eventOf({ hash, blockNumber }, { ...internal, to }));
  await settle(pipeline);
  expect(statusOf(pipeline).block).toBeGreaterThanOrEqual(blockNumber);
  const marked = (await alerts(pipeline)).map((text) => text.includes(NOT_THERE));
  expect(marked).toEqual([true, false, false]);
});

it('marks what the chain does not have, and counts what it has less often', async () => {
  const pipeline = await start();
  const mined = await chain.transfer({ kind: 'erc20', from: 'Alice', to: 'Treasury', amount: 9_000_000n });
  const { address: tokenAddress } = chain.tokens.dollar;
  const dollars = { tokenType: 'ERC-20', tokenAddress, tokenSymbol: 'HUSD', tokenDecimals: '6' };
  const event = eventOf(mined, { ...dollars, value: '9000000' });
  // Twice within ten seconds means two transfers; the chain knows better.
  await pipeline.receive(event);
  await pipeline.receive(event);
  await pipeline.receive({ ...event, value: '9000001' });
  // Mined again, in another block than the one that it was delivered from.
  const again = await chain.transfer({ kind: 'erc20', from: 'Alice', to: 'Treasury', amount: 4_000_000n });
  const moved = eventOf({ ...again, blockNumber: again.blockNumber + 50 }, { ...dollars, value: '4000000' });
  for (let repeat = 0; repeat < 2; repeat++) await pipeline.receive(moved);
  await pipeline.receive(eventOf({ ...mined, hash: INVENTED }));
  expect(await alerts(pipeline)).toHaveLength(3);
  await settle(pipeline);
  const shown = await alerts(pipeline);
  const marked = shown.filter((text) => text.includes(NOT_THERE));
  expect(marked).toHaveLength(2);
  expect(shown.join('\n')).not.toContain(FOUND);
  expect((await pipeline.histories()).flatMap(({ count }) => count).sort()).toEqual([0, 0, 1, 1]);
});

it('knows more than what is delivered after the comparison', async () => {
  const pipeline = await start();
  const mined = await pay(1n);
  await chain.transfer({ kind: 'native', from: 'Alice', to: 'Bob', amount: COIN });
  await settle(pipeline);
  const { blockNumber } = mined;
  const event = eventOf(mined, { blockHash: `0x${'a'.repeat(64)}` });
  for (let repeat = 0; repeat < 2; repeat++) await pipeline.receive(event);
  expect(await alerts(pipeline)).toHaveLength(1);
  expect(await pipeline.histories()).toMatchObject([{ count: 1, transfer: { blockNumber } }]);
  // Another amount, in another block, of a payment that is real.
  await pipeline.receive({ ...event, value: '5' });
  await pipeline.receive({ ...event, value: '6', blockNumber: blockNumber + 1 });
  await pipeline.receive({ ...event, value: '7', isInternalTransaction: true });
  await settle(pipeline);
  expect((await alerts(pipeline)).filter((text) => text.includes(NOT_THERE))).toHaveLength(1);
  expect((await pipeline.histories()).map(({ count }) => count).sort()).toEqual([0, 0, 0, 1]);
});

it('finds coins of an address that is watched since the last comparison', async () => {
  const pipeline = await start();
  await pipeline.watch(lower(chain.wallets.Grants), ALERTS, { createdAt: 0 });
  // Nobody watched Bob when that happened.
  await pipeline.watch(lower(chain.wallets.Bob), ALERTS, { createdAt: Number.MAX_SAFE_INTEGER });
  await chain.transfer({ kind: 'native', from: 'Alice', to: 'Grants', amount: 7n * COIN });
  await chain.transfer({ kind: 'native', from: 'Alice', to: 'Bob', amount: COIN });
  await rpc('anvil_mine', ['0x2']);
  await pipeline.app.internals.working().checkers[0]!.check();
  // Not every node may know the latest block yet.
  expect(await alerts(pipeline)).toEqual([]);
  await settle(pipeline);
  expect(await alerts(pipeline)).toEqual([expect.stringContaining('+7 HARBOR')]);
});

it('posts the cause of what was missed twice to the alert channel, once', async () => {
  const pipeline = await start();
  await pipeline.store.guilds.changeSettings(HARBOR, { defaultChannel: GENERAL });
  const later = async () => {
    await pipeline.pass(60_000);
    return pipeline.alerts(GENERAL).map(({ text }) => text);
  };
  const miss = async () => {
    await pay(1n);
    await settle(pipeline);
    for (let minute = 0; minute < 3; minute++) await later();
    return later();
  };
  expect(await miss()).toEqual([]);
  await miss();
  await expect
    .poll(later, { message: 'the cause', timeout: 120_000 })
    .toEqual([expect.stringMatching(/missed transfers.*2 missed transfers.*skipped them/)]);
  expect(await miss()).toHaveLength(1);
});

it('adds nothing to what was delivered in full', async () => {
  const pipeline = await start([treasury(), lower(chain.tokens.bell.address)]);
  const mined = await chain.transfer({ kind: 'native', from: 'Treasury', to: 'Alice', amount: COIN });
  await pipeline.receive(eventOf(mined, { from: chain.wallets.Treasury, to: chain.wallets.Alice }));
  const before = pipeline.app.internals.working().checkers[0]!.calls();
  await settle(pipeline);
  // In each of two rounds the settled block, logs, and balances; once the transaction with its receipt: no search.
  expect(pipeline.app.internals.working().checkers[0]!.calls() - before).toBeLessThan(17);
  expect(await alerts(pipeline)).toHaveLength(1);
  await chain.transfer({ kind: 'erc20', from: 'Alice', to: 'Bob', token: 'bell', amount: 5n * COIN });
  await settle(pipeline);
  expect((await alerts(pipeline)).at(-1)).toContain(FOUND);
});

it('posts nothing again after a server got a project of its own, and finds for it what was not delivered before', async () => {
  const pipeline = await start();
  const mined = await pay(3n);
  await pay(4n);
  await pipeline.receive(eventOf(mined, { value: String(3n * COIN) }));
  await pipeline.routed();
  await pipeline.store.projects.save({ guildId: HARBOR, projectId: 'p', sealed: Buffer.alloc(0) }, 'token');
  await settle(pipeline);
  const shown = await alerts(pipeline);
  expect(shown).toHaveLength(2);
  expect(shown.filter((text) => text.includes(FOUND))).toEqual([expect.stringContaining('+4 HARBOR')]);
  await pipeline.store.projects.remove(HARBOR);
  await pay(5n);
  await settle(pipeline);
  expect(await alerts(pipeline)).toHaveLength(3);
});

it('loses nothing when it is killed between two steps, or while the node is away', async () => {
  const node = await limited();
  const pipeline = await start([treasury()], node.url);
  await moveEverything();
  // Deliveries are stored, progress is not.
  const { chainChecks } = pipeline.store;
  const { advance } = chainChecks;
  chainChecks.advance = () => Promise.reject(new Error('killed'));
  await settle(pipeline);
  chainChecks.advance = advance;
  await pipeline.restart();
  node.setAway(true);
  await settle(pipeline);
  expect(statusOf(pipeline).trouble).toMatchObject({ reason: 'away' });
  node.setAway(false);
  await settle(pipeline);
  expect(await alerts(pipeline)).toHaveLength(7);
  expect(statusOf(pipeline).trouble).toBeNull();
  expect((await pipeline.store.metrics.backlog(0)).quarantine.rows).toBe(0);
});

it('halves what a node refuses, and says what could not be checked', async () => {
  const node = await limited();
  const many = Array.from({ length: 40 }, (_, index) => lower(`0x${(index + 1).toString(16).padStart(40, '0')}`));
  const pipeline = await start([treasury(), ...many], node.url);
  node.change('eth_getLogs', (logs: unknown[], params) => {
    const [{ fromBlock, toBlock, topics, address }] = params as [
      { fromBlock: string; toBlock: string; topics: unknown[]; address?: unknown[] },
    ];
    const size = Math.max(...[...topics, address].map((list) => (Array.isArray(list) ? list.length : 0)));
    if (Number(toBlock) - Number(fromBlock) >= 2 || size > 10) return null;
    return logs;
  });
  await moveEverything();
  await settle(pipeline);
  expect(await alerts(pipeline)).toHaveLength(7);
  expect(statusOf(pipeline).unchecked).toEqual([]);

  node.change('eth_getLogs', null);
  node.refuse('eth_call', { code: -32000, message: 'missing trie node' });
  node.refuse('eth_getBalance', { code: -32000, message: 'missing trie node' });
  await pay(1n);
  await chain.transfer({ kind: 'erc20', from: 'Alice', to: 'Treasury', amount: 1_000_000n });
  await settle(pipeline);
  expect(statusOf(pipeline)).toMatchObject({ trouble: { reason: 'refused' }, unchecked: [] });
  await settle(pipeline);
  expect(statusOf(pipeline)).toMatchObject({ trouble: null, unchecked: [{ reason: 'pruned' }] });
  expect(await alerts(pipeline)).toHaveLength(8);
  const ops = async (page: string) => (await fetch(pipeline.app.ops + page)).text();
  expect(await ops('/readyz')).toMatch(
    /complete up to block \d+ \(.* s ago\); not completely checked: blocks \d+-\d+ \(pruned\)/,
  );
  const metrics = await ops('/metrics');
  for (const name of ['checked_block', 'unchecked_blocks'])
    expect(metrics).toMatch(new RegExp(`^ledgerbell_chain_${name}\\{network=".*"\\} [1-9]\\d*$`, 'm'));

  // Invented for a block that was compared, while nothing can be compared.
  const late = eventOf({ hash: INVENTED, blockNumber: 3 }, { value: '5' });
  node.refuse('eth_getLogs', { code: -32000, message: 'no' });
  await pipeline.receive(late);
  await pipeline.receive({ ...late, tokenType: 'ERC-20', tokenAddress: chain.tokens.dollar.address });
  for (let rounds = 0; rounds < 3; rounds++) await settle(pipeline);
  expect(statusOf(pipeline).unchecked).toContainEqual(expect.objectContaining({ after: 2, upTo: 3 }));

  // Invented for a block whose transactions nobody can read, although the balance says that there are some.
  for (const method of ['eth_call', 'eth_getBalance', 'eth_getLogs']) node.refuse(method, null);
  node.change('eth_getBlockByNumber', (block, [, isWhole]) => (isWhole ? null : block));
  const { blockNumber } = await pay(1n);
  await pipeline.receive({ ...late, txHash: `0x${'d'.repeat(64)}`, blockNumber });
  for (let rounds = 0; rounds < 4; rounds++) await settle(pipeline);
  expect(statusOf(pipeline).unchecked.at(-1)).toMatchObject({ reason: 'refused' });
  expect((await pipeline.histories()).map(({ count }) => count)).not.toContain(0);
});

it('compares nothing with the node of another chain', async () => {
  const node = await limited();
  const pipeline = await start([treasury()], node.url);
  node.change('eth_chainId', () => '0x1');
  await pipeline.restart();
  await pay(1n);
  await settle(pipeline);
  expect(statusOf(pipeline).trouble).toMatchObject({ reason: 'other-chain' });
  expect(await alerts(pipeline)).toEqual([]);
  node.change('eth_chainId', null);
  await settle(pipeline);
  await settle(pipeline);
  expect(await alerts(pipeline)).toHaveLength(1);
});

it('compares each of two networks at its own node, one also while the node of the other is away', async () => {
  const other = await startChain(8453);
  onTestFinished(() => other.close());
  const chains = [chain, other];
  const rpcs = chains.map(({ rpcUrl }) => rpcOf(rpcUrl));
  const nodes = [await limited(), await limited([], other)];
  const environment = networksEnvironment(
    ['harbor', 'base'].map((name, index) => ({
      name,
      title: name.toUpperCase(),
      chainId: [31_337, 8453][index],
      rpc: [nodes[index]!.url],
      rpcConfirmations: 1,
      rpcRate: 999_999_999,
    })),
  );
  const pipeline = await startPipeline({ environment, startAt: await nextSecond(rpcs) });
  await pipeline.watch(treasury(), ALERTS, { createdAt: 0 });
  await settle(pipeline, rpcs);
  const shown = async () =>
    (await alerts(pipeline)).map((text) => `${/\+(\d)/.exec(text)![1]} ${/HARBOR|BASE/.exec(text)![0]}`).sort();
  await pay(1n);
  await pay(2n, other);
  nodes[1]!.setAway(true);
  await settle(pipeline, rpcs);
  expect(await shown()).toEqual(['1 HARBOR']);
  expect([0, 1].map((network) => statusOf(pipeline, network).trouble?.reason ?? null)).toEqual([null, 'away']);
  nodes[1]!.setAway(false);
  await pay(3n);
  await settle(pipeline, rpcs);
  await settle(pipeline, rpcs);
  expect(await shown()).toEqual(['1 HARBOR', '2 BASE', '3 HARBOR']);
  expect(statusOf(pipeline, 1)).toMatchObject({ trouble: null, unchecked: [] });
});

it('compares with nothing where no node is configured', async () => {
  const pipeline = await startPipeline();
  expect(pipeline.app.internals.working().checkers).toEqual([]);
  expect(await pipeline.store.chainChecks.missed(HARBOR, 0)).toEqual([]);
});

it('forgets no range of unchecked blocks, and keeps few', () => {
  const range = (after: number, upTo: number) => ({ after, upTo, reason: 'refused' as const, at: after });
  const apart = Array.from({ length: 30 }, (_, index) => range(index * 10, index * 10 + 2));
  const known = addUnchecked([], apart);
  expect(known).toHaveLength(20);
  expect(apart.every(({ upTo }) => known.some((one) => one.after < upTo && one.upTo >= upTo))).toBe(true);
  // Late ones come in any order.
  expect(addUnchecked([range(90, 95), range(97, 99)], [range(3, 4), range(95, 97)])).toEqual([
    range(3, 4),
    { ...range(90, 99), at: 97 },
  ]);
});
