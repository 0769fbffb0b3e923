import { type Hex, numberToHex } from 'viem';
import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/clock.ts';
import { NodeUnreachable } from '../../services/chain/node.ts';
import type { Nodes } from '../../services/chain/nodes.ts';
import { profileOf } from '../../services/chain/profiles.ts';
import { createReader } from '../../services/chain/reader.ts';
import { TracesFailed } from '../../services/chain/traces.ts';

const ALICE: Hex = '0x00000000000000000000000000000000000000A1';
const blockAt = (number: number) => {
  const hash = numberToHex(number, { size: 32 });
  const transactions = [{ hash, from: ALICE, to: ALICE, value: '0x1', nonce: '0x0', gas: '0x5208', blockHash: hash }];
  return { number: numberToHex(number), hash, parentHash: `0x${'0'.repeat(64)}`, timestamp: '0x1', transactions };
};

/** A reader of a node that has blocks without receipts, and these traces; other calls fail. */
function readerWith(traces: () => Promise<unknown>, receipts: () => Promise<unknown>) {
  const clock = createManualClock();
  const node = {
    async call(method: string, [first]: readonly unknown[]) {
      if (method === 'eth_getBlockByNumber') return blockAt(Number(first));
      if (method === 'eth_getBlockReceipts') return await receipts();
      if (method === 'trace_block') return await traces();
      throw new NodeUnreachable('not here');
    },
    confirm: async () => undefined,
  } as unknown as Nodes;
  return { clock, reader: createReader({ node, clock, profile: () => profileOf('1') }) };
}

it('waits for traces that come late only once, and again after some came', async () => {
  let hangs = true;
  const traces = () => (hangs ? new Promise(() => undefined) : Promise.resolve([]));
  const { clock, reader } = readerWith(traces, async () => []);
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
  const traces = () => Promise.reject(new NodeUnreachable('not here'));
  const { reader } = readerWith(traces, () => new Promise((resolve) => setImmediate(resolve, [])));
  expect((await reader.read(1)).moves).toBeInstanceOf(TracesFailed);
});
