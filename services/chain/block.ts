import { numberToHex } from 'viem';
import type { Node, NodeBlock, NodeLog } from './node.ts';
import { coinMoves, type TraceMethod } from './traces.ts';
import { internalTransfers, nativeTransfers, type Transfer, tokenTransfers, transferTopics } from './transfers.ts';

/** A block and its transfers; a payment may belong to a transaction that failed, which only its receipt tells. */
export interface BlockTransfers {
  block: NodeBlock;
  transfers: Transfer[];
}

/** Reads one block with all its transfers; null where the node does not have it yet. */
export async function readBlock(node: Node, number: number, traceMethod: TraceMethod): Promise<BlockTransfers | null> {
  const block = await node.call<NodeBlock | null>('eth_getBlockByNumber', [numberToHex(number), true]);
  if (block === null) return null;
  if (block.transactions.length === 0) return { block, transfers: [] };
  const [logs, moves] = await Promise.all([
    node.call<NodeLog[]>('eth_getLogs', [{ blockHash: block.hash, topics: [transferTopics] }]),
    coinMoves(node, traceMethod, number),
  ]);
  const payments = block.transactions.flatMap(nativeTransfers);
  return { block, transfers: [...payments, ...internalTransfers(moves), ...logs.flatMap(tokenTransfers)] };
}
