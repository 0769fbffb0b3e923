import { afterEach, expect, it } from 'vitest';
import { rpcOf } from '../../sandbox/chain/driver.ts';
import { type WalletName, walletNames } from '../../sandbox/chain/index.ts';
import { innerTransfers, outerTransfers, readBlock, readLogs } from '../../services/chain/block.ts';
import { connect } from '../../services/chain/nodes.ts';
import { profileOf } from '../../services/chain/profiles.ts';
import { coinMoves } from '../../services/chain/traces.ts';
import { hasAnvil } from '../chain/kinds.ts';
import { type Harness, harbor, startHarness, surroundings } from './harness.ts';
import { type LimitedNode, startLimitedNode } from './limited-node.ts';

/** Rounds of blocks, faults, reorganizations and restarts: some in CI, more on demand. */
const ROUNDS = Number(process.env.PROOF_ROUNDS ?? 24);
const SEED = Number(process.env.PROOF_SEED ?? 1);
const WATCHED: readonly WalletName[] = ['Treasury', 'Payroll'];
const METHODS = [
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getTransactionReceipt',
  'eth_getLogs',
  'trace_block',
  'debug_traceBlockByNumber',
  'eth_call',
  'eth_chainId',
] as const;

const here = surroundings();
let node: LimitedNode;
let services: Harness;
afterEach(async () => {
  await services?.close();
  await node?.close();
});

/** A small generator of pseudo-random numbers (mulberry32), so that a failure can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomFrom(SEED);
const pick = <One>(list: readonly One[]): One => list[Math.floor(random() * list.length)]!;
const rpc = <Result>(method: string, params: unknown[] = []) => rpcOf(here.chain.rpcUrl)<Result>(method, params);

/** Makes one method fail in one of the ways that nodes fail; half of its calls still work. */
function spoil(method: (typeof METHODS)[number]): void {
  const kind = pick(['null', 'empty', 'cut', 'refused', 'status'] as const);
  if (kind === 'refused') return node.refuse(method, { code: -32000, message: 'header not found' });
  if (kind === 'status') return node.refuse(method, pick([429, 500, 503]));
  node.change(method, (result: unknown) => {
    if (random() < 0.5) return result;
    if (kind === 'null') return null;
    if (Array.isArray(result)) return kind === 'empty' ? [] : result.slice(1);
    return kind === 'empty' ? '0x' : result;
  });
}

function repair(): void {
  for (const method of METHODS) {
    node.refuse(method, null);
    node.change(method, null);
  }
}

async function act(): Promise<void> {
  const between = { from: pick(walletNames), to: pick(WATCHED) };
  const kind = pick(['native', 'internal', 'erc20', 'erc721', 'erc1155'] as const);
  await pick([
    () => here.chain.burst(1 + Math.floor(random() * 12)),
    () => here.chain.transfer({ kind, ...between }),
    () => here.chain.transfer({ kind: 'erc1155', batch: true, ...between }),
    () => here.chain.swap(pick(WATCHED)),
    () => here.chain.twins(between),
    () => here.chain.mint({ to: pick(WATCHED), token: 'bell' }),
  ])();
}

/** The events of the chain as it is in the end, read without faults: block, transaction, place and role. */
async function expected(first: number): Promise<string[]> {
  const clean = connect(here.chain.rpcUrl);
  const watched = new Set<string>(WATCHED.map((name) => here.chain.wallets[name]));
  const head = Number(await rpc<string>('eth_blockNumber'));
  const events: string[] = [];
  for (let number = first; number <= head; number++) {
    const block = await readBlock(clean, number);
    if (block.transactions.length === 0) continue;
    const outer = outerTransfers(block, (await readLogs(clean, block)).logs, profileOf(''));
    const inner = innerTransfers(await coinMoves(clean, block), profileOf(''));
    for (const { txHash, place, from, to } of [...outer.transfers, ...inner.transfers]) {
      if (watched.has(to)) events.push([block.hash, txHash, place, 'incoming'].join(' '));
      if (watched.has(from)) events.push([block.hash, txHash, place, 'outgoing'].join(' '));
    }
  }
  clean.close();
  return events.sort();
}

it.skipIf(!hasAnvil)(
  'reports every transfer once, through faults of the node, reorganizations and restarts',
  async () => {
    node = await startLimitedNode(here.chain.rpcUrl, []);
    const start = async () => {
      services = await startHarness({ rpcUrl: node.url, dir: here.dir });
    };
    await start();
    const first = Number(await rpc<string>('eth_blockNumber')) + 1;
    await services.call('POST', '/webhook', {
      projectId: harbor.id,
      webhookUrl: here.receiver.url,
      eventType: 'ALL',
      withdrawals: true,
      parallel: 8,
      addresses: WATCHED.map((name) => here.chain.wallets[name]),
    });
    const look = async () => {
      // What is under way ends first: the clock would time it out.
      const idle = new Promise((resolve) => setTimeout(resolve, 20));
      await services.notification.scan().catch(() => undefined);
      await idle;
      services.clock.advance(2_000);
    };

    for (let round = 0; round < ROUNDS; round++) {
      const snapshot = random() < 0.5 ? await rpc<string>('evm_snapshot') : null;
      for (let fault = 0; fault < 1 + random() * 3; fault++) spoil(pick(METHODS));
      const depth = 1 + Math.floor(random() * 5);
      for (let block = 0; block < depth; block++) {
        await act();
        if (random() < 0.5) await look();
      }
      if (snapshot !== null) {
        await rpc('evm_revert', [snapshot]);
        for (let block = 0; block < depth + 1; block++) await act();
      }
      await look();
      if (random() < 0.3) {
        await services.close();
        await start();
      }
      if (random() < 0.6) repair();
    }

    repair();
    for (let times = 0; times < 12; times++) {
      services.clock.advance(700_000);
      await services.notification.scan().catch(() => undefined);
    }
    await rpc('anvil_mine', ['0x5']);
    for (let times = 0; times < 200 && services.notification.pending() > 0; times++) {
      await look();
      services.clock.advance(90_000_000);
    }
    await services.notification.scan();
    await services.sent();
    const truth = await expected(first);
    const blocks = new Set(truth.map((event) => event.split(' ')[0]!));
    const told = new Map<string, Set<string>>();
    const withdrawn = new Set<string>();
    for (const { body, headers } of here.receiver.received) {
      const { blockHash, txHash, direction, removed } = JSON.parse(body) as Record<string, string | boolean>;
      const event = [blockHash, txHash, headers['ledgerbell-place'], direction].join(' ');
      if (removed === true) withdrawn.add(event);
      else told.set(event, (told.get(event) ?? new Set<string>()).add(String(headers['webhook-id'])));
    }
    const canonical = [...told.keys()].filter((event) => blocks.has(event.split(' ')[0]!));
    expect(canonical.sort()).toEqual(truth);
    // A second delivery of an event is allowed only after it was withdrawn.
    const repeated = [...told].filter(([event, ids]) => ids.size > 1 && !withdrawn.has(event)).map(([event]) => event);
    expect(repeated).toEqual([]);
    const ready = (await (await fetch(`${services.url}/readyz`)).json()) as { chains: { gaps: []; problems: [] }[] };
    expect(ready.chains[0]).toMatchObject({ gaps: [], problems: [] });
  },
);
