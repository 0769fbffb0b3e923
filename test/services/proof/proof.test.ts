import { type Hex, toHex } from 'viem';
import { afterEach, expect, it } from 'vitest';
import { rpcOf } from '../../../sandbox/chain/rpc.ts';
import { HOUR, MINUTE } from '../../../src/domain/clock.ts';
import { until } from '../../until.ts';
import { type Harness, startHarness, surroundings } from '../harness.ts';
import { type LimitedNode, startLimitedNode } from '../limited-node.ts';
import type { Received } from '../receiver.ts';
import { faults, spoil } from './node-faults.ts';
import { deployForwarders, luckFrom, operations, type World } from './operations.ts';
import { balancesOf, bodyOf, changesBy, eventOf, eventsOf, feesOf, idsByEvent } from './truth.ts';

/** Rounds, each with one reorganization: 16 in CI, more on demand. In the first 54 each fault of a node comes alone. */
const ROUNDS = Number(process.env.PROOF_ROUNDS ?? 16);
const MAX_DEPTH = 10;
const TIMEOUT_MS = 300_000 + ROUNDS * 30_000;
/** The more there is, the longer the last blocks and deliveries take where the machine is busy. */
const SETTLED_MS = 120_000 + ROUNDS * 5_000;
const SEED = Number(process.env.PROOF_SEED ?? 1);
const RECOVERED_MS = 5 * MINUTE;
const VAULT: Hex = '0x00000000000000000000000000000000c0ffee00';

const here = surroundings();
let node: LimitedNode;
let services: Harness;
afterEach(async () => {
  await services?.close();
  await node?.close();
});

const underWay = new Set<number>();

async function restart(): Promise<void> {
  services = await startHarness({ rpcUrl: node.url, dir: here.dir });
  underWay.clear();
  // Some may have begun before this line: only their responses are seen.
  services.notification.onProgress(({ type, deliveryId }) => {
    if (type === 'attempted') underWay.add(deliveryId);
    if (type === 'answered') underWay.delete(deliveryId);
  });
}

/** Lets much time pass, but not for deliveries under way: they would run into their timeout, and be given up in the end. */
async function pass(ms: number): Promise<void> {
  await until('no delivery is under way', () => underWay.size === 0);
  services.clock.advance(ms);
}

async function begin(seed: number) {
  const rpc = rpcOf(here.chain.rpcUrl);
  const { Treasury, Payroll, Whale } = here.chain.wallets;
  const watched = [Treasury, Payroll, VAULT] as const;
  await rpc('anvil_setBalance', [VAULT, '0xde0b6b3a7640000']);
  const forwarders = await deployForwarders(rpc, Whale, watched);
  const world: World = { chain: here.chain, rpc, luck: luckFrom(seed), watched, forwarders };
  node = await startLimitedNode(here.chain.rpcUrl);
  await restart();
  await services.watch(here.receiver.url, watched, { withdrawals: true, parallel: 8 });
  const height = async () => Number(await rpc<Hex>('eth_blockNumber'));
  return { world, rpc, watched, height, first: (await height()) + 1 };
}

/** Reads the chain once. Time passes meanwhile, because calls wait for it where the node limits their rate. */
async function scan(): Promise<void> {
  const passing = setInterval(() => underWay.size === 0 && services.clock.advance(1_000), 200);
  await services.notification.scan().finally(() => clearInterval(passing));
}

/** Reads the chain once, with whatever success; the time that passes makes whatever waits due. */
async function look(): Promise<void> {
  await scan().catch(() => undefined);
  await pass(2_000);
}

/** Lets time pass until every block was read and everything was sent, whatever it waited for. */
async function settle(): Promise<void> {
  for (let times = 0; times < 12; times++) {
    await pass(700_000);
    await scan().catch(() => undefined);
  }
  const pending = async () => {
    await pass(HOUR);
    await scan();
    return services.notification.pending();
  };
  await expect.poll(pending, { message: 'deliveries that wait', timeout: SETTLED_MS, interval: 100 }).toBe(0);
}

/** The deliveries that arrived, each once: after a timeout a delivery comes again under the same id. */
function deliveries(): Received[] {
  return [...new Map(here.receiver.received.map((one) => [one.headers['webhook-id'], one])).values()];
}

it.each([
  ['trace_block', 'debug_traceBlockByNumber'],
  ['debug_traceBlockByNumber', 'trace_block'],
])(
  'reports events whose sum is the change of every balance, whatever happens on a chain traced with %s',
  async (_traced, missing) => {
    const { world, rpc, watched, height, first } = await begin(SEED);
    node.refuse(missing, { code: -32601, message: 'the method does not exist' });
    const before = await balancesOf(rpc, here.chain, watched);
    for (let round = 0; round < Math.ceil(ROUNDS / 5); round++) {
      for (const operate of Object.values(operations)) {
        await operate(world);
        if (world.luck.next() < 0.4) await rpc('evm_mine');
      }
      await rpc('evm_mine');
    }
    const last = await height();
    await settle();

    const after = await balancesOf(rpc, here.chain, watched);
    const fees = await feesOf(rpc, watched, first, last);
    const bodies = deliveries().map(bodyOf);
    const changes = changesBy(bodies, new Set(before.keys()), 'NATIVE');
    for (const [key, balance] of before) {
      const [owner, asset] = key.split(' ') as [Hex, string];
      const fee = asset === 'coin' ? fees.get(owner)! : 0n;
      expect([key, after.get(key)! - balance + fee]).toEqual([key, changes.get(key) ?? 0n]);
    }
    expect(deliveries().map(eventOf).sort()).toEqual(await eventsOf(rpc, here.chain.rpcUrl, watched, first, last));
  },
  TIMEOUT_MS,
);

type Begun = Awaited<ReturnType<typeof begin>>;

async function mine({ world, rpc }: Begun, blocks: number): Promise<void> {
  for (let block = 0; block < blocks; block++) {
    await world.luck.pick(Object.values(operations))(world);
    await rpc('evm_mine');
    if (world.luck.next() < 0.3) await look();
  }
}

/** Reads until no block is unread, in the end without the node's faults: only what was read can leave the chain. */
async function readAll({ height }: Begun): Promise<void> {
  for (let looks = 0; (await services.ready()).next <= (await height()); looks++) {
    if (looks >= 3) node.repair();
    expect(looks).toBeLessThan(20);
    await look();
  }
}

/** Replaces `depth` blocks that were read by a branch that is one block shorter, as long, or one block longer. */
async function reorganize(begun: Begun, depth: number, spoilAgain: () => void): Promise<void> {
  const { rpc, height, world } = begun;
  const first = (await height()) + 1;
  const hashOfFirst = async () => (await rpc<{ hash: string }>('eth_getBlockByNumber', [toHex(first), false])).hash;
  const snapshot = await rpc<string>('evm_snapshot');
  await mine(begun, depth);
  await readAll(begun);
  spoilAgain();
  const gone = await hashOfFirst();
  await rpc('evm_revert', [snapshot]);
  await mine(begun, Math.max(1, depth - 1 + Math.floor(world.luck.next() * 3)));
  expect(await hashOfFirst()).not.toBe(gone);
  await look();
}

it(
  'reports every transfer once, through each fault of the node, mixed faults, reorganizations and restarts',
  async () => {
    const begun = await begin(SEED + 1);
    const { luck } = begun.world;
    const alone = faults().sort(() => luck.next() - 0.5);
    for (let round = 0; round < ROUNDS; round++) {
      const single = alone[round];
      const chosen = single ? [single] : Array.from({ length: 1 + luck.next() * 3 }, () => luck.pick(alone));
      const spoilAll = () => {
        for (const fault of chosen) spoil(node, fault, luck);
      };
      spoilAll();
      await reorganize(begun, 1 + (round % MAX_DEPTH), spoilAll);
      if (luck.next() < 0.2) {
        await services.close();
        await restart();
      }
      if (single || luck.next() < 0.7) {
        node.repair();
        // A rate that was learned from a fault is forgotten.
        await pass(RECOVERED_MS);
      }
    }
    const { rpc, watched, height, first } = begun;
    node.repair();
    await rpc('anvil_mine', ['0x5']);
    await settle();

    const truth = await eventsOf(rpc, here.chain.rpcUrl, watched, first, await height());
    const blocks = new Set(truth.map((event) => event.split(' ')[0]));
    const { received } = here.receiver;
    const isWithdrawal = (one: Received) => bodyOf(one).removed === true;
    const idsOf = idsByEvent(received.filter((one) => !isWithdrawal(one)));
    const withdrawn = new Set(received.filter(isWithdrawal).map(eventOf));
    /** Blocks and transactions that were reported again from another block. */
    const moved = new Set(
      received.map((one) => `${String(one.headers['ledgerbell-moved-from'])} ${bodyOf(one).txHash}`),
    );
    const canonical = [...idsOf.keys()].filter((event) => blocks.has(event.split(' ')[0]));
    expect(canonical.sort()).toEqual(truth);
    // A second delivery of an event is right only after the first was withdrawn.
    const repeated = [...idsOf].filter(([event, ids]) => ids.size > 1 && !withdrawn.has(event)).map(([event]) => event);
    expect(repeated).toEqual([]);
    // Whatever was reported of a block that left the chain was withdrawn, or reported as moved to another block.
    const orphaned = [...idsOf.keys()].filter((event) => !blocks.has(event.split(' ')[0]));
    const isMoved = (event: string) => moved.has(event.split(' ').slice(0, 2).join(' '));
    expect(orphaned.filter((event) => !withdrawn.has(event) && !isMoved(event))).toEqual([]);
    expect(orphaned.length).toBeGreaterThan(0);
    expect(await services.ready()).toMatchObject({ gaps: [], problems: [] });
  },
  TIMEOUT_MS,
);
