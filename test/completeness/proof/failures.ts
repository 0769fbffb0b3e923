import { setTimeout as wait } from 'node:timers/promises';
import type { LimitedNode } from '../../services/limited-node.ts';

/** A node's failure. Behind a `isBlind` one, payments inside of a transaction cannot be distinguished. */
export interface Failure {
  isBlind?: boolean;
  begin(): void;
  end(): void;
}

function refusing(
  node: LimitedNode,
  methods: string[],
  error: Parameters<LimitedNode['refuse']>[1],
  isBlind = false,
): Failure {
  const set = (to: typeof error) => {
    for (const method of methods) node.refuse(method, to);
  };
  return { isBlind, begin: () => set(error), end: () => set(null) };
}

function changing(node: LimitedNode, method: string, make: NonNullable<Parameters<LimitedNode['change']>[1]>): Failure {
  return { begin: () => node.change(method, make), end: () => node.change(method, null) };
}

const PRUNED = { code: -32_000, message: 'missing trie node' };
export const failuresOf = (node: LimitedNode): Failure[] => [
  { begin: () => node.setAway(true), end: () => node.setAway(false) },
  refusing(node, ['eth_getBlockByNumber', 'eth_getTransactionReceipt'], 503),
  refusing(node, ['eth_getLogs'], 429),
  changing(node, 'eth_getLogs', () => wait(2_000)),
  changing(node, 'eth_getLogs', (logs: unknown[], params) => {
    const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
    return Number(toBlock) > Number(fromBlock) ? null : logs;
  }),
  refusing(node, ['eth_call', 'eth_getBalance'], PRUNED, true),
  refusing(node, ['debug_traceBlockByNumber', 'trace_block'], { code: -32_601, message: 'no such method' }, true),
];
