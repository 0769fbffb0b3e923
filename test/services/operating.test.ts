import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { type Chain, startChain } from '../../sandbox/chain/index.ts';
import { rpcOf } from '../../sandbox/chain/rpc.ts';
import { openStore } from '../../services/notification/store/index.ts';
import { startServices } from '../../services/start.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { HARBOR, limitedSurroundings } from './harness.ts';
import { startLimitedNode } from './limited-node.ts';

const here = limitedSurroundings({ watches: false });

const { arrived, call, pay, scan, watch } = here;
/** A chain with another first block: two that start in the same second have the same one. */
async function startOver(): Promise<Chain> {
  const firstOf = ({ rpcUrl }: Chain) => rpcOf(rpcUrl)('eth_getBlockByNumber', ['0x0', false]);
  const hash = ((await firstOf(here.chain)) as { hash: string }).hash;
  for (;;) {
    const chain = await startChain();
    if (((await firstOf(chain)) as { hash: string }).hash !== hash) return chain;
    await chain.close();
  }
}
const ready = () => here.services.ready();

it('keeps its position when the node reports another first block, and stops scanning until the node is right again', async () => {
  await watch();
  here.advance(60_000);
  const other = (block: object, [number]: readonly unknown[]) =>
    number === '0x0' ? { ...block, hash: `0x${'9'.repeat(64)}` } : block;
  here.node.change('eth_chainId', () => '0x5');
  here.node.change('eth_getBlockByNumber', other);
  await pay(1n);
  for (let times = 0; times < 4; times++) await expect(scan()).rejects.toThrow(/another chain \(id 5,/);
  expect(await ready()).toMatchObject({ status: 503, problems: [expect.stringContaining('another chain')] });
  here.node.repair();
  expect(await arrived()).toEqual(['1']);
  expect(await ready()).toMatchObject({ status: 200, problems: [] });
});

it('rejects a height without a block while nobody watches', async () => {
  here.node.change('eth_getBlockByNumber', (block: object, [tag]) =>
    tag === 'latest' ? { ...block, number: '0x3b9aca00' } : block,
  );
  await expect(scan()).rejects.toThrow(/does not have block 1000000000/);
  here.node.change('eth_getBlockByNumber', null);
  await watch();
  await pay(1n);
  expect(await arrived()).toEqual(['1']);
});

it('reads a developer’s chain that started over from its newest blocks', async () => {
  await watch();
  for (const amount of [1n, 2n, 3n]) await pay(amount);
  expect(await arrived()).toEqual(['1', '2', '3']);
  const restarted = await startOver();
  const forward = await startLimitedNode(restarted.rpcUrl);
  await restarted.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount: 4n });
  await here.restart({ rpcUrl: forward.url });
  for (let times = 0; times < 3; times++) await scan().catch(() => undefined);
  expect(await arrived()).toContain('4');
  await forward.close();
  await restarted.close();
});

it('is not ready when the chain was unreadable for a minute, and shows why', async () => {
  expect((await ready()).status).toBe(200);
  here.node.setAway(true);
  await scan().catch(() => undefined);
  here.advance(60_000);
  await scan().catch(() => undefined);
  expect(await ready()).toMatchObject({ status: 503, problems: [expect.stringContaining('cannot read the chain')] });
  expect((await fetch(`${here.services.url}/healthz`)).status).toBe(200);
});

it('serves Prometheus metrics and a status page', async () => {
  await watch();
  await pay(1n);
  await arrived();
  const metrics = await (await fetch(`${here.services.url}/metrics`)).text();
  expect(metrics).toMatch(/ledgerbell_services_head_block\{chain=""\} \d+/);
  expect(metrics).toMatch(/ledgerbell_services_lag_blocks\{chain=""\} 0/);
  expect(metrics).toMatch(
    /ledgerbell_services_rpc_calls_total\{chain="",method="eth_getBlockByNumber",result="ok"\} \d+/,
  );
  expect(metrics).toMatch(/ledgerbell_services_deliveries\{chain="",webhook="[0-9a-f]{24}",state="delivered"\} 1/);
  expect(metrics).toMatch(/ledgerbell_services_delivery_attempts_total\{chain="",status="200"\} 1/);
  const named = ['rules.yml', 'dashboard.json'].map((name) => readFileSync(`docs/monitoring/${name}`, 'utf8'));
  const series = new Set(named.join('\n').match(/ledgerbell_services_\w+/g));
  expect(series.size).toBeGreaterThan(6);
  expect([...series].filter((name) => !new RegExp(`^# TYPE ${name} `, 'm').test(metrics))).toEqual([]);
  expect(await (await fetch(`${here.services.url}/status`)).text()).toContain('Next block');
});

it('uses another node when one fails, but never one of another chain', async () => {
  const [broken, foreign] = [await startLimitedNode(here.chain.rpcUrl), await startLimitedNode(here.chain.rpcUrl)];
  foreign.change('eth_chainId', () => '0x5');
  const nodes = [broken, foreign, here.node].map(({ url }) => ({ url }));
  await here.restart({ chains: [{ nodes }] });
  await watch();
  broken.setAway(true);
  foreign.change('eth_getBlockByNumber', () => null);
  await pay(1n);
  expect(await arrived()).toEqual(['1']);
  expect((await ready()).nodes.map(({ excluded }) => excluded !== null)).toEqual([false, true, false]);
  await Promise.all([broken.close(), foreign.close()]);
});

it('serves several chains in one process, each with its roots and its own place', async () => {
  const second = await startChain();
  const chains = [
    { name: 'one', nodes: [{ url: here.chain.rpcUrl }] },
    { name: 'two', nodes: [{ url: second.rpcUrl }], nativeSymbol: 'TWO' },
  ];
  await here.restart({ chains });
  expect(here.services.notificationUrl).toBe(`${here.services.url}/one/notification/v0`);
  const response = await fetch(`${here.services.url}/two/notification/v0/webhooks/harbor?apiKey=harbor-key`, {
    headers: { 'API-SECRET': 'harbor-secret' },
  });
  expect([response.status, await response.json()]).toEqual([200, []]);
  const { chains: reports } = (await (await fetch(`${here.services.url}/readyz`)).json()) as {
    chains: { chain: string }[];
  };
  expect(reports.map(({ chain }) => chain)).toEqual(['one', 'two']);
  await second.close();
});

it('closes a gap with the traces of another node, and logs once that it was open for ten minutes', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => lines.push(line) });
  const archive = await startLimitedNode(here.chain.rpcUrl);
  const traces = ['trace_block', 'debug_traceBlockByNumber'];
  here.node.refuse(traces, { code: -32000, message: 'historical state is not available' });
  archive.refuse(traces, 503);
  const nodes = [{ url: here.node.url }, { url: archive.url, tracesOnly: true }];
  await here.restart({ chains: [{ nodes }], log });
  await watch();
  await pay(7n, 'internal');
  expect(await arrived()).toEqual([]);
  for (const alarms of [0, 1, 1]) {
    expect(lines).toHaveLength(alarms);
    here.advance(10 * MINUTE);
    await scan();
  }
  expect(lines[0]).toContain('no node has the traces of these blocks');
  archive.repair();
  here.advance(10 * MINUTE);
  await scan();
  expect(await arrived()).toEqual(['7']);
  await archive.close();
});

it('serves neither calls nor deliveries of a removed project', async () => {
  let projects = [HARBOR];
  await here.restart({ projects: () => projects });
  await watch();
  here.services.notification.setFaults({ paused: true });
  await pay(1n);
  await scan();
  projects = [];
  await pay(2n);
  await scan();
  expect(here.services.notification.pending()).toBe(1);
  const steps: string[] = [];
  const stop = here.services.notification.onProgress(({ type }) => steps.push(type));
  here.services.notification.setFaults({ paused: false });
  stop();
  // Attempts begin in the same moment.
  expect(steps).toEqual([]);
  expect((await call('GET', '/webhooks/harbor')).status).toBe(403);
  projects = [{ ...HARBOR, secret: 'new', otherSecrets: [HARBOR.secret] }];
  expect((await call('GET', '/webhooks/harbor')).status).toBe(200);
  here.advance(60_000);
  expect(await arrived()).toEqual(['1']);
});

it('releases its database when it cannot start because its port is in use', async () => {
  const dir = `${here.dir}/second`;
  const port = Number(new URL(here.services.url).port);
  await expect(startServices({ rpcUrl: here.node.url, dir, projects: [HARBOR], port })).rejects.toThrow('EADDRINUSE');
  openStore(dir).close();
});
