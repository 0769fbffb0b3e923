import type { Hex } from 'viem';
import { isOf, type Node, type NodeBlock, NodeBusy, NodeRefused, NodeUnreachable } from './node.ts';

/** Coins that a contract sent within a transaction. */
export interface CoinMove {
  txHash: Hex;
  from: Hex;
  to: Hex;
  /** In wei, above 0. */
  value: bigint;
}

/** How a node tells what happened within transactions. */
export type TraceMethod = 'trace_block' | 'debug_traceBlockByNumber' | 'none';

interface ParityTrace {
  type: string;
  action: {
    callType?: string;
    from?: Hex;
    to?: Hex;
    value?: Hex;
    address?: Hex;
    refundAddress?: Hex;
    balance?: Hex;
  };
  result?: { address?: Hex } | null;
  error?: string;
  traceAddress: number[];
  transactionHash?: Hex | null;
  blockHash?: Hex;
}

interface GethCall {
  type: string;
  from: Hex;
  to?: Hex;
  value?: Hex;
  error?: string;
  calls?: GethCall[];
}

/** One transaction's trace, or why it could not be made; older nodes leave out the hash. */
interface GethTrace {
  txHash?: Hex;
  result?: GethCall;
  error?: string;
}

const callTracer = { tracer: 'callTracer' };

/** Everything of a block can be read but what happened within its transactions: pruned, too large, not at hand. */
export class TracesFailed extends Error {}

/**
 * Finds out which way of tracing a node offers, by trying them on its newest block.
 *
 * @throws {TracesFailed} when one of them is not answered at all, and {@link NodeBusy}.
 */
export async function findTraceMethod(node: Node): Promise<TraceMethod> {
  let unanswered: Error | undefined;
  for (const method of ['trace_block', 'debug_traceBlockByNumber'] as const) {
    try {
      await node.call(method, paramsOf(method, 'latest'));
      return method;
    } catch (error) {
      if (error instanceof NodeBusy) throw error;
      if (!(error instanceof NodeRefused)) unanswered = error as Error;
    }
  }
  if (unanswered !== undefined) throw new TracesFailed(unanswered.message);
  return 'none';
}

/** The coins moved inside the transactions of a block that has some; what was reverted is left out. */
export async function coinMoves(node: Node, method: TraceMethod, block: NodeBlock): Promise<CoinMove[]> {
  switch (method) {
    case 'none':
      return [];
    case 'trace_block': {
      const traces = await traced<ParityTrace>(node, method, block);
      const hashes = traces.map(({ transactionHash }) => transactionHash);
      mustBeOf(block, hashes, traces);
      return parityMoves(traces);
    }
    case 'debug_traceBlockByNumber': {
      const traces = await traced<GethTrace>(node, method, block);
      const hashes = traces.map(({ txHash }, index) => txHash ?? block.transactions[index]?.hash);
      mustBeOf(block, hashes, []);
      return traces.flatMap(({ result, error }, index) => {
        if (result === undefined) throw new NodeRefused(`${method}: ${error}`);
        const txHash = hashes[index];
        return txHash ? gethMoves(txHash, result) : [];
      });
    }
  }
}

/** The coins moved inside one transaction. @throws when the node does not trace it. */
export async function coinMovesOf(node: Node, method: TraceMethod, txHash: Hex): Promise<CoinMove[]> {
  switch (method) {
    case 'none':
      return [];
    case 'trace_block': {
      const traces = await node.call<ParityTrace[] | null>('trace_transaction', [txHash]);
      if (traces === null) throw new NodeRefused(`The node does not have the traces of ${txHash}`);
      return parityMoves(traces);
    }
    case 'debug_traceBlockByNumber':
      return gethMoves(txHash, await node.call<GethCall>('debug_traceTransaction', [txHash, callTracer]));
  }
}

/** No traces of a block with transactions: the node that was asked does not have the block yet. */
async function traced<Trace>(node: Node, method: TraceMethod, block: NodeBlock): Promise<Trace[]> {
  const traces = await node.call<Trace[] | null>(method, paramsOf(method, block.number));
  if (traces === null || traces.length === 0) {
    throw new NodeUnreachable(`The node does not have the traces of block ${Number(block.number)}`);
  }
  return traces;
}

/** Traces are asked by number: a cluster's other node may have another block there. */
function mustBeOf(
  block: NodeBlock,
  txHashes: readonly (Hex | null | undefined)[],
  traces: readonly { blockHash?: Hex }[],
): void {
  const own = new Set(block.transactions.map(({ hash }) => hash));
  const isOwn = txHashes.every((hash) => !hash || own.has(hash)) && traces.every((trace) => isOf(block, trace));
  if (!isOwn) throw new NodeUnreachable(`The node answers the traces of another block ${Number(block.number)}`);
}

function paramsOf(method: TraceMethod, block: Hex | 'latest'): unknown[] {
  return method === 'trace_block' ? [block] : [block, callTracer];
}

function parityMoves(traces: readonly ParityTrace[]): CoinMove[] {
  const place = (trace: ParityTrace, depth: number) =>
    [trace.transactionHash, ...trace.traceAddress.slice(0, depth)].join();
  const failed = new Set(traces.filter(({ error }) => error).map((trace) => place(trace, trace.traceAddress.length)));
  return traces.flatMap((trace): CoinMove[] => {
    const { transactionHash: txHash, traceAddress, type, action } = trace;
    if (!txHash || traceAddress.length === 0) return [];
    // A call that succeeded inside one that failed is undone with it.
    if ([...traceAddress.keys(), traceAddress.length].some((depth) => failed.has(place(trace, depth)))) return [];
    if (type === 'suicide') return moved(txHash, action.address, action.refundAddress, action.balance);
    if (type === 'create') return moved(txHash, action.from, trace.result?.address, action.value);
    if (type !== 'call' || action.callType !== 'call') return [];
    return moved(txHash, action.from, action.to, action.value);
  });
}

function gethMoves(txHash: Hex, call: GethCall, inside = false): CoinMove[] {
  if (call.error) return [];
  const carries = inside && ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'].includes(call.type.toUpperCase());
  return [
    ...(carries ? moved(txHash, call.from, call.to, call.value) : []),
    ...(call.calls ?? []).flatMap((inner) => gethMoves(txHash, inner, true)),
  ];
}

function moved(txHash: Hex, from: Hex | undefined, to: Hex | undefined, value: Hex | undefined): CoinMove[] {
  const wei = BigInt(value ?? 0);
  return from !== undefined && to !== undefined && wei > 0n ? [{ txHash, from, to, value: wei }] : [];
}
