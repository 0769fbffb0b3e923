import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Chain, startChain } from '../../sandbox/chain/index.ts';
import { openStore } from '../../services/notification/store/index.ts';
import { startServices } from '../../services/start.ts';
import { HARBOR, type Harness, startHarness, surroundings } from './harness.ts';
import { type LimitedNode, startLimitedNode } from './limited-node.ts';

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
});
afterEach(() => stack.disposeAsync());

const pay = (amount: bigint, chain: Chain = here.chain) =>
  chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount });
const watch = () => services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
const arrived = async () => {
  await services.notification.scan();
  await services.sent();
  return here.receiver.received.map(({ body }) => JSON.parse(body).value as string);
};
const ready = async () => {
  const response = await fetch(`${services.url}/readyz`);
  const { chains } = (await response.json()) as { chains: { problems: string[]; next: number; head: number }[] };
  return { status: response.status, ...chains[0]! };
};

it('keeps its position when the node reports another first block, and stops scanning until the node is right again', async () => {
  await watch();
  services.clock.advance(60_000);
  const other = (block: object, [number]: readonly unknown[]) =>
    number === '0x0' ? { ...block, hash: `0x${'9'.repeat(64)}` } : block;
  node.change('eth_chainId', () => '0x5');
  node.change('eth_getBlockByNumber', other);
  await pay(1n);
  for (let times = 0; times < 4; times++)
    await expect(services.notification.scan()).rejects.toThrow(/another chain \(id 5,/);
  expect(await ready()).toMatchObject({ status: 503, problems: [expect.stringContaining('another chain')] });
  node.change('eth_chainId', null);
  node.change('eth_getBlockByNumber', null);
  expect(await arrived()).toEqual(['1']);
  expect(await ready()).toMatchObject({ status: 200, problems: [] });
});

it('rejects a height without a block while nobody watches', async () => {
  node.change('eth_getBlockByNumber', (block: object, [tag]) =>
    tag === 'latest' ? { ...block, number: '0x3b9aca00' } : block,
  );
  await expect(services.notification.scan()).rejects.toThrow(/does not have block 1000000000/);
  node.change('eth_getBlockByNumber', null);
  await watch();
  await pay(1n);
  expect(await arrived()).toEqual(['1']);
});

it('reads a developer’s chain that started over from its newest blocks', async () => {
  await watch();
  for (const amount of [1n, 2n, 3n]) await pay(amount);
  expect((await arrived()).sort()).toEqual(['1', '2', '3']);
  const restarted = await startChain({ scripted: true });
  const forward = await startLimitedNode(restarted.rpcUrl, []);
  await services.close();
  await pay(4n, restarted);
  services = await startHarness({ rpcUrl: forward.url, dir: here.dir });
  for (let times = 0; times < 3; times++) await services.notification.scan().catch(() => undefined);
  expect(await arrived()).toContain('4');
  await forward.close();
  await restarted.close();
});

it('is not ready when the chain was unreadable for a minute, and shows why', async () => {
  expect((await ready()).status).toBe(200);
  node.setAway(true);
  await services.notification.scan().catch(() => undefined);
  services.clock.advance(60_000);
  await services.notification.scan().catch(() => undefined);
  expect(await ready()).toMatchObject({ status: 503, problems: [expect.stringContaining('cannot read the chain')] });
  expect((await fetch(`${services.url}/healthz`)).status).toBe(200);
});

it('serves Prometheus metrics and a status page', async () => {
  await watch();
  await pay(1n);
  await arrived();
  const metrics = await (await fetch(`${services.url}/metrics`)).text();
  expect(metrics).toMatch(/ledgerbell_services_head_block\{chain=""\} \d+/);
  expect(metrics).toMatch(/ledgerbell_services_lag_blocks\{chain=""\} 0/);
  expect(metrics).toMatch(
    /ledgerbell_services_rpc_calls_total\{chain="",method="eth_getBlockByNumber",result="ok"\} \d+/,
  );
  expect(metrics).toMatch(/ledgerbell_services_deliveries\{chain="",webhook="[0-9a-f]{24}",state="delivered"\} 1/);
  expect(metrics).toMatch(/ledgerbell_services_delivery_attempts_total\{chain="",status="200"\} 1/);
  expect(await (await fetch(`${services.url}/status`)).text()).toContain('Next block');
});

it('uses another node when one fails, but never one of another chain', async () => {
  const [broken, foreign] = [
    await startLimitedNode(here.chain.rpcUrl, []),
    await startLimitedNode(here.chain.rpcUrl, []),
  ];
  foreign.change('eth_chainId', () => '0x5');
  await services.close();
  const nodes = [broken, foreign, node].map(({ url }) => ({ url }));
  services = await startHarness({ dir: here.dir, chains: [{ nodes }] });
  await watch();
  broken.setAway(true);
  foreign.change('eth_getBlockByNumber', () => null);
  await pay(1n);
  expect(await arrived()).toEqual(['1']);
  const health = (await (await fetch(`${services.url}/readyz`)).json()) as {
    chains: { nodes: { excluded: string | null }[] }[];
  };
  expect(health.chains[0]!.nodes.map(({ excluded }) => excluded !== null)).toEqual([false, true, false]);
  await Promise.all([broken.close(), foreign.close()]);
});

it('serves several chains in one process, each with its roots and its own place', async () => {
  const second = await startChain({ scripted: true });
  await services.close();
  const chains = [
    { name: 'one', nodes: [{ url: here.chain.rpcUrl }] },
    { name: 'two', nodes: [{ url: second.rpcUrl }], nativeSymbol: 'TWO' },
  ];
  services = await startHarness({ dir: here.dir, chains });
  expect(services.notificationUrl).toBe(`${services.url}/one/notification/v0`);
  const response = await fetch(`${services.url}/two/notification/v0/webhooks/harbor?apiKey=harbor-key`, {
    headers: { 'API-SECRET': 'harbor-secret' },
  });
  expect([response.status, await response.json()]).toEqual([200, []]);
  const { chains: reports } = (await (await fetch(`${services.url}/readyz`)).json()) as { chains: { chain: string }[] };
  expect(reports.map(({ chain }) => chain)).toEqual(['one', 'two']);
  await second.close();
});

it('closes a gap with the traces of another node', async () => {
  const archive = await startLimitedNode(here.chain.rpcUrl, []);
  for (const method of ['trace_block', 'debug_traceBlockByNumber']) {
    node.refuse(method, { code: -32000, message: 'historical state is not available' });
    archive.refuse(method, 503);
  }
  await services.close();
  const nodes = [{ url: node.url }, { url: archive.url, tracesOnly: true }];
  services = await startHarness({ dir: here.dir, chains: [{ nodes }] });
  await watch();
  await here.chain.transfer({ kind: 'internal', from: 'Alice', to: 'Treasury', amount: 7n });
  expect(await arrived()).toEqual([]);
  for (const method of ['trace_block', 'debug_traceBlockByNumber']) archive.refuse(method, null);
  services.clock.advance(2_000);
  await services.notification.scan();
  expect(await arrived()).toEqual(['7']);
  await archive.close();
});

it('serves neither calls nor deliveries of a removed project', async () => {
  let projects = [HARBOR];
  await services.close();
  services = await startHarness({ rpcUrl: node.url, dir: here.dir, projects: () => projects });
  await watch();
  services.notification.setFaults({ paused: true });
  await pay(1n);
  await services.notification.scan();
  projects = [];
  await pay(2n);
  await services.notification.scan();
  expect(services.notification.pending()).toBe(1);
  const steps: string[] = [];
  const stop = services.notification.onProgress(({ type }) => steps.push(type));
  services.notification.setFaults({ paused: false });
  stop();
  // Attempts begin in the same moment.
  expect(steps).toEqual([]);
  expect((await services.call('GET', '/webhooks/harbor')).status).toBe(403);
  projects = [{ ...HARBOR, secret: 'new', otherSecrets: [HARBOR.secret] }];
  expect((await services.call('GET', '/webhooks/harbor')).status).toBe(200);
  services.clock.advance(60_000);
  expect(await arrived()).toEqual(['1']);
});

it('releases its database when it cannot start because its port is in use', async () => {
  const dir = `${here.dir}/second`;
  const port = Number(new URL(services.url).port);
  await expect(startServices({ rpcUrl: node.url, dir, projects: [HARBOR], port })).rejects.toThrow('EADDRINUSE');
  openStore(dir).close();
});
