import { setTimeout as wait } from 'node:timers/promises';
import { startServices } from '../services/start.ts';
import { type Shape, type State, WATCHED } from './chain-node.ts';
import { many } from './load.ts';
import { newFolder, start } from './processes.ts';
import { type Row, report, short } from './table.ts';

const PROJECT = { id: 'bench', key: 'bench-key', secret: 'bench-secret' };

async function world(shape: Shape, { perSecond, pollMs = 100 }: { perSecond?: number; pollMs?: number } = {}) {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await start('bench/chain-node.ts', [JSON.stringify(shape)]));
  const services = await startServices({
    dir: stack.use(newFolder()).path,
    chains: [{ nodes: [{ url }], ...(perSecond === undefined ? {} : { perSecond }) }],
    projects: [PROJECT],
    webhookAllow: ['127.0.0.1'],
    pollMs,
    only: 'notification',
  });
  stack.defer(() => services.close());
  const ask = async (path: string): Promise<State> => (await fetch(`${url}/${path}`)).json() as Promise<State>;
  const started = stack.move();
  return {
    ask,
    async watch(parallel: number, name = 'all'): Promise<void> {
      const response = await fetch(`${services.notificationUrl}/webhook?apiKey=${PROJECT.key}`, {
        method: 'POST',
        headers: { 'API-SECRET': PROJECT.secret, 'content-type': 'application/json' },
        body: JSON.stringify({
          projectId: PROJECT.id,
          webhookUrl: `${url}/hook/${name}`,
          eventType: 'ALL',
          addresses: WATCHED,
          parallel,
        }),
      });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    },
    async next(): Promise<number> {
      const { chains } = (await (await fetch(`${services.url}/readyz`)).json()) as { chains: { next: number }[] };
      return chains[0]!.next;
    },
    async delivered(count: number): Promise<void> {
      while ((await ask('state')).deliveries < count) await wait(20);
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const SHAPE: Shape = { transfers: 100, watched: 0.15, hasBlockReceipts: true };

async function keepsUp(): Promise<Row> {
  await using here = await world(SHAPE);
  await here.watch(16);
  await here.ask('grow?ms=250');
  let behind = 0;
  for (const end = Date.now() + 20_000; Date.now() < end; await wait(100)) {
    const { height } = await here.ask('state');
    behind = Math.max(behind, height - (await here.next()) + 1);
  }
  const { height } = await here.ask('state');
  await here.delivered(15 * height);
  return { what: 'a block every 0.25 s, for 20 s', wanted: 'keeps up', figure: `${behind} blocks behind at most` };
}

/** Seconds and calls per block. */
async function reads(blocks: number, shape: Shape, options: { perSecond?: number; pollMs?: number } = {}) {
  await using here = await world(shape, options);
  await here.watch(16);
  const before = (await here.ask('state')).calls;
  const begun = Date.now();
  await here.ask(`mine?count=${blocks}`);
  while ((await here.next()) <= blocks) await wait(50);
  const seconds = (Date.now() - begun) / 1_000 / blocks;
  const { calls } = await here.ask('state');
  await here.delivered(Math.floor(shape.transfers * shape.watched) * blocks);
  return { seconds, calls: (calls - before) / blocks };
}

/** How many times faster than a chain of a block every 2 s. */
async function catchesUp(): Promise<Row> {
  const blocks = 600;
  const { seconds } = await reads(blocks, SHAPE);
  const figure = `${short(2 / seconds)} times`;
  return { what: `${blocks} missed blocks of 2 s each`, wanted: '20 times faster', figure };
}

async function frugal(hasBlockReceipts: boolean): Promise<Row> {
  const shape = { ...SHAPE, transfers: 400, hasBlockReceipts };
  const { seconds, calls } = await reads(8, shape, { perSecond: 25, pollMs: 1_000 });
  return {
    what: `400 transfers a block, ${hasBlockReceipts ? 'with' : 'without'} eth_getBlockReceipts, 25 calls/s`,
    wanted: '12 s a block',
    figure: `${short(seconds)} s and ${short(calls)} calls a block`,
  };
}

/** From a block to the last delivery of one transfer that many webhooks watch. */
async function manyWebhooks(count: number): Promise<Row> {
  await using here = await world({ ...SHAPE, transfers: 1, watched: 1 });
  await many(count, 50, (n) => here.watch(1, String(n)));
  const begun = Date.now();
  await here.ask('mine?count=1');
  await here.delivered(count);
  const figure = `${short((Date.now() - begun) / 1_000)} s`;
  return { what: `one transfer to ${count.toLocaleString('en-US')} webhooks`, wanted: 'seconds, linear', figure };
}

/** The notification service over a node whose calls take 50 ms and traces 300 ms. */
export async function chain(): Promise<void> {
  const rows = [await keepsUp(), await catchesUp(), await frugal(true), await frugal(false)];
  report('chain', [...rows, await manyWebhooks(1_000), await manyWebhooks(8_000)]);
}
