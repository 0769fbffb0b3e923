import { type Hex, numberToHex } from 'viem';
import { type Node, NodeRefused, NodeUnreachable } from './node.ts';

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
}

interface GethCall {
  type: string;
  from: Hex;
  to?: Hex;
  value?: Hex;
  error?: string;
  calls?: GethCall[];
}

/** One transaction's trace, or why it could not be made. */
interface GethTrace {
  txHash: Hex;
  result?: GethCall;
  error?: string;
}

/** Finds out which way of tracing a node offers, by trying them on its newest block. */
export async function findTraceMethod(node: Node): Promise<TraceMethod> {
  for (const method of ['trace_block', 'debug_traceBlockByNumber'] as const) {
    try {
      await node.call(method, paramsOf(method, 'latest'));
      return method;
    } catch (error) {
      if (!(error instanceof NodeRefused)) throw error;
    }
  }
  return 'none';
}

/** The coins moved inside the transactions of a block that has some; what was reverted is left out. */
export async function coinMoves(node: Node, method: TraceMethod, blockNumber: number): Promise<CoinMove[]> {
  switch (method) {
    case 'none':
      return [];
    case 'trace_block':
      return parityMoves(await traced<ParityTrace>(node, method, blockNumber));
    case 'debug_traceBlockByNumber':
      return (await traced<GethTrace>(node, method, blockNumber)).flatMap(({ txHash, result, error }) => {
        if (result === undefined) throw new NodeRefused(`${method}: ${error}`);
        return gethMoves(txHash, result);
      });
  }
}

/** No traces of a block with transactions: the node that was asked does not have the block yet. */
async function traced<Trace>(node: Node, method: TraceMethod, blockNumber: number): Promise<Trace[]> {
  const traces = await node.call<Trace[] | null>(method, paramsOf(method, numberToHex(blockNumber)));
  if (traces === null || traces.length === 0) {
    throw new NodeUnreachable(`The node does not have the traces of block ${blockNumber}`);
  }
  return traces;
}

function paramsOf(method: TraceMethod, block: Hex | 'latest'): unknown[] {
  return method === 'trace_block' ? [block] : [block, { tracer: 'callTracer' }];
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
  const carries = inside && ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'].includes(call.type);
  return [
    ...(carries ? moved(txHash, call.from, call.to, call.value) : []),
    ...(call.calls ?? []).flatMap((inner) => gethMoves(txHash, inner, true)),
  ];
}

function moved(txHash: Hex, from: Hex | undefined, to: Hex | undefined, value: Hex | undefined): CoinMove[] {
  const wei = BigInt(value ?? 0);
  return from !== undefined && to !== undefined && wei > 0n ? [{ txHash, from, to, value: wei }] : [];
}
