import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { startServices } from '../../services/start.ts';
import { newFolder, start } from '../children.ts';
import { type Row, report, short } from '../table.ts';
import type { Arrived } from './receiver.ts';
import { type NodeShape, type NodeState, WATCHED, watchedAddress } from './shape.ts';

/** The services over a node whose calls take 50 ms: keeping up, catching up, frugality, and many webhooks. */

const NODE: NodeShape = {
  latencyMs: 50,
  traceMs: 300,
  blockMs: 0,
  transfers: 100,
  watched: 0.15,
  hasBlockReceipts: true,
};
const WATCHED_ADDRESSES = Array.from({ length: WATCHED }, (_, index) => watchedAddress(index));
const PROJECT = { id: 'bench', key: 'bench-key', secret: 'bench-secret' };

/** Services, their node and a receiver, until they are disposed of. */
async function world(shape: Partial<NodeShape>, options: { perSecond?: number; pollMs?: number } = {}) {
  await using stack = new AsyncDisposableStack();
  const shapeText = JSON.stringify({ ...NODE, ...shape });
  const node = stack.adopt(await start<{ url: string }>('bench/chain/node.ts', [shapeText]), (it) => it.stop());
  const receiver = stack.adopt(await start<{ url: string }>('bench/chain/receiver.ts', []), (it) => it.stop());
  const { path: dir } = stack.use(newFolder());
  const { perSecond, pollMs = 100 } = options;
  const chain = { nodes: [{ url: node.ready.url }], ...(perSecond === undefined ? {} : { perSecond }) };
  const services = await startServices({
    dir,
    chains: [chain],
    projects: [PROJECT],
    webhookAllow: ['127.0.0.1'],
    pollMs,
    only: 'notification',
  });
  stack.defer(() => services.close());
  const call = async (path: string, body: object): Promise<void> => {
    const response = await fetch(`${services.notificationUrl}${path}?apiKey=${PROJECT.key}`, {
      method: 'POST',
      headers: { 'API-SECRET': PROJECT.secret, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  };
  const started = stack.move();
  return {
    node,
    /** Creates a webhook that watches these addresses. */
    watch: (addresses: readonly string[], parallel: number, path = '/') =>
      call('/webhook', {
        projectId: PROJECT.id,
        webhookUrl: `${receiver.ready.url}${path}`,
        eventType: 'ALL',
        addresses,
        parallel,
      }),
    /** The next block to be read. */
    async next(): Promise<number> {
      const { chains } = (await (await fetch(`${services.url}/readyz`)).json()) as { chains: { next: number }[] };
      return chains[0]!.next;
    },
    state: () => node.ask<NodeState>('state'),
    arrived: () => receiver.ask<Arrived>('state'),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

type World = Awaited<ReturnType<typeof world>>;

/** Waits until this many deliveries have arrived; returns when the last one came. */
async function until({ arrived }: World, count: number): Promise<number> {
  for (;;) {
    const now = await arrived();
    if (now.count >= count) return now.last;
    await wait(20);
  }
}

/** A chain with a block every 0.25 s: how many blocks the services are behind at most. */
async function keepsUp(): Promise<Row> {
  const seconds = 20;
  await using here = await world({ blockMs: 250 });
  await here.watch(WATCHED_ADDRESSES, 16);
  await here.node.ask('grow');
  await wait(2_000);
  let maxLag = 0;
  const end = Date.now() + seconds * 1_000;
  while (Date.now() < end) {
    const { height } = await here.state();
    maxLag = Math.max(maxLag, height - (await here.next()) + 1);
    await wait(100);
  }
  const { height, calls } = await here.state();
  await until(here, 15 * height);
  return {
    what: `blocks every 0.25 s, ${seconds} s`,
    wanted: 'keeps up',
    figure: `${maxLag} blocks behind at most`,
    'calls/s': short(calls / (seconds + 2)),
  };
}

/** 600 missed blocks of a chain that grows by one every 2 s: how long catching up takes. */
async function catchesUp(): Promise<Row> {
  const blocks = 600;
  await using here = await world({ blockMs: 2_000 });
  await here.watch(WATCHED_ADDRESSES, 16);
  const begun = Date.now();
  await here.node.ask(`mine ${blocks}`);
  await here.node.ask('grow');
  while ((await here.next()) <= (await here.state()).height) await wait(50);
  const seconds = (Date.now() - begun) / 1_000;
  const { height, calls } = await here.state();
  return {
    what: `${blocks} missed blocks of a chain that grows by one every 2 s`,
    wanted: '20 times faster',
    figure: `${short((height * 2) / seconds)} times (${short(height / seconds)} blocks/s)`,
    'calls/s': short(calls / seconds),
  };
}

/** At most 25 requests a second: how long a block of 400 transfers takes, 15 % of them watched. */
async function frugal(hasBlockReceipts: boolean): Promise<Row> {
  const blocks = 8;
  await using here = await world({ transfers: 400, hasBlockReceipts }, { perSecond: 25, pollMs: 1_000 });
  await here.watch(WATCHED_ADDRESSES, 16);
  const before = (await here.state()).calls;
  const begun = Date.now();
  await here.node.ask(`mine ${blocks}`);
  while ((await here.next()) <= blocks) await wait(50);
  const seconds = (Date.now() - begun) / 1_000;
  const { calls } = await here.state();
  await until(here, 60 * blocks);
  return {
    what: `400 transfers a block, 60 watched, at most 25 calls/s, ${hasBlockReceipts ? 'with' : 'without'} eth_getBlockReceipts`,
    wanted: 'less than 12 s a block',
    figure: `${short(seconds / blocks)} s, ${short((calls - before) / blocks)} calls a block`,
    'calls/s': short((calls - before) / seconds),
  };
}

/** One transfer that many webhooks watch: from its block to the last delivery, and the longest stall of the event loop. */
async function manyWebhooks(count: number): Promise<Row> {
  await using here = await world({ transfers: 1, watched: 1 });
  for (let made = 0; made < count; made += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, at) => here.watch(WATCHED_ADDRESSES, 1, `/${made + at}`)));
  }
  const loop = monitorEventLoopDelay({ resolution: 5 });
  loop.enable();
  const begun = Date.now();
  await here.node.ask('mine 1');
  const seconds = ((await until(here, count)) - begun) / 1_000;
  loop.disable();
  return {
    what: `one transfer to ${count.toLocaleString('en-US')} webhooks`,
    wanted: 'seconds, linear',
    figure: `${short(seconds)} s, ${short((seconds / count) * 1_000)} ms each; longest stall ${short(loop.max / 1e6)} ms`,
    'calls/s': '',
  };
}

/** Measures what the services' README promises about speed. */
export async function chain(): Promise<void> {
  const rows: Row[] = [];
  for (const measure of [
    keepsUp,
    catchesUp,
    () => frugal(true),
    () => frugal(false),
    () => manyWebhooks(1_000),
    () => manyWebhooks(8_000),
  ]) {
    rows.push(await measure());
    process.stdout.write(`${JSON.stringify(rows.at(-1))}\n`);
  }
  report('chain', rows);
}
