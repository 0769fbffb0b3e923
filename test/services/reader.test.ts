import type { Hex } from 'viem';
import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/clock.ts';
import { NodeUnreachable } from '../../services/chain/node.ts';
import type { Nodes } from '../../services/chain/nodes.ts';
import { profileOf } from '../../services/chain/profiles.ts';
import { createReader } from '../../services/chain/reader.ts';
import { TracesFailed } from '../../services/chain/traces.ts';

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

it('says that the traces failed where they fail before the logs have come', async () => {
  const node = {
    async call(method: string, [first]: readonly unknown[]) {
      if (method === 'eth_getBlockByNumber') return blockAt(Number(first));
      if (method !== 'eth_getBlockReceipts') throw new NodeUnreachable('not here');
      return await new Promise((resolve) => setImmediate(resolve, []));
    },
    confirm: async () => undefined,
  } as unknown as Nodes;
  const reader = createReader({ node, clock: createManualClock(), profile: () => profileOf('1') });
  expect((await reader.read(1)).moves).toBeInstanceOf(TracesFailed);
});
