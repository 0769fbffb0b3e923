import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Hex } from 'viem';
import { expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { createManualClock } from '../../sandbox/discord/clock.ts';
import { followHeads } from '../../services/chain/heads.ts';
import { NodeUnreachable } from '../../services/chain/node.ts';
import type { Nodes } from '../../services/chain/nodes.ts';
import { profileOf } from '../../services/chain/profiles.ts';
import { createReader } from '../../services/chain/reader.ts';
import { TracesFailed } from '../../services/chain/traces.ts';
import { createLoop } from '../../services/notification/loop.ts';

const ALICE: Hex = '0x00000000000000000000000000000000000000A1';
const blockAt = (number: number) => {
  const hash: Hex = `0x${number.toString(16).padStart(64, '0')}`;
  const transactions = [{ hash, from: ALICE, to: ALICE, value: '0x1', nonce: '0x0', gas: '0x5208', blockHash: hash }];
  return {
    number: `0x${number.toString(16)}`,
    hash,
    parentHash: `0x${'0'.repeat(64)}`,
    timestamp: '0x1',
    transactions,
  };
};

it('waits for traces that come late only once, and again after some came', async () => {
  const clock = createManualClock();
  let hangs = true;
  const node = {
    async call(method: string, [first]: readonly unknown[]) {
      if (method === 'eth_getBlockByNumber') return blockAt(Number(first));
      if (method === 'trace_block' && hangs) return await new Promise(() => undefined);
      if (method === 'trace_block') return [];
      return method === 'eth_getBlockReceipts' ? [] : Promise.reject(new NodeUnreachable('not here'));
    },
    confirm: async () => undefined,
  } as unknown as Nodes;
  const reader = createReader({ node, clock, profile: () => profileOf('1') });
  const first = reader.read(1);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(5_000);
  expect((await first).moves).toBeInstanceOf(TracesFailed);
  // Nobody moves the clock here.
  expect((await reader.read(2)).moves).toBeInstanceOf(TracesFailed);
  hangs = false;
  expect((await reader.read(3, 60_000)).moves).toEqual([]);
  expect((await reader.read(4)).moves).toEqual([]);
});

it('looks at each new block that a WebSocket announces, and connects again when it breaks', async () => {
  const clock = createManualClock();
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let seen = () => {};
  const stop = followHeads(url, clock, () => seen());
  const announced = async () => {
    const [socket] = await once(server, 'connection');
    const [request] = await once(socket, 'message');
    expect(JSON.parse(String(request))).toMatchObject({ method: 'eth_subscribe', params: ['newHeads'] });
    const head = new Promise<void>((resolve) => {
      seen = resolve;
    });
    socket.send('{"jsonrpc":"2.0","id":1,"result":"0x1"}');
    socket.send('{"jsonrpc":"2.0","method":"eth_subscription","params":{"result":{"number":"0x5"}}}');
    await head;
    return socket;
  };
  const socket = await announced();
  const again = announced();
  socket.terminate();
  await expect
    .poll(() => clock.untilNext(), { message: 'the next attempt to connect is planned', timeout: 60_000, interval: 10 })
    .toBeLessThanOrEqual(1_000);
  clock.advance(1_000);
  await again;
  stop();
  server.close();
  for (const client of server.clients) client.terminate();
});

it('runs a loop only once at a time, and once more after it was woken during a run', async () => {
  const clock = createManualClock();
  const runs: (() => void)[] = [];
  const loop = createLoop(clock, () => new Promise((resolve) => runs.push(resolve)), 1_000);
  const first = loop.run();
  for (let times = 0; times < 5; times++) loop.wake();
  clock.advance(10_000);
  expect(runs).toHaveLength(1);
  runs[0]!();
  await first;
  expect(runs).toHaveLength(2);
  runs[1]!();
  await loop.run();
  clock.advance(999);
  expect(runs).toHaveLength(2);
  clock.advance(1);
  expect(runs).toHaveLength(3);
  const stopped = loop.stop();
  runs[2]!();
  await stopped;
  clock.advance(10_000);
  expect(runs).toHaveLength(3);
});
