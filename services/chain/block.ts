import { numberToHex } from 'viem';
import { type Node, type NodeBlock, NodeBusy, type NodeLog, type NodeReceipt, NodeUnreachable } from './node.ts';
import { coinMoves, type TraceMethod } from './traces.ts';
import { internalTransfers, nativeTransfers, type Transfer, tokenTransfers, transferTopics } from './transfers.ts';

/** Everything of a block can be read but what happened within its transactions: pruned, too large, not at hand. */
export class TracesFailed extends Error {}

/** Reads one block. @throws when the node does not have it, which a cluster's laggard may not, though another counts it. */
export async function readBlock(node: Node, number: number): Promise<NodeBlock> {
  const block = await node.call<NodeBlock | null>('eth_getBlockByNumber', [numberToHex(number), true]);
  if (block === null) throw new NodeUnreachable(`The node does not have block ${number}`);
  return block;
}

/**
 * Reads all transfers of a block; a payment may belong to a transaction that failed, which only its receipt tells.
 *
 * @throws {TracesFailed} among others.
 */
export async function readTransfers(node: Node, block: NodeBlock, traceMethod: TraceMethod): Promise<Transfer[]> {
  if (block.transactions.length === 0) return [];
  const logs = await readLogs(node, block);
  const moves = await coinMoves(node, traceMethod, Number(block.number)).catch((error: Error) => {
    throw error instanceof NodeBusy ? error : new TracesFailed(error.message);
  });
  const payments = block.transactions.flatMap(nativeTransfers);
  return [...payments, ...internalTransfers(moves), ...logs.flatMap(tokenTransfers)];
}

/** The logs of transfers, each once and in the chain's order. */
async function readLogs(node: Node, { hash }: NodeBlock): Promise<NodeLog[]> {
  const logs = await node
    .call<NodeLog[]>('eth_getLogs', [{ blockHash: hash, topics: [transferTopics] }])
    .catch(() => logsOfReceipts(node, hash)); // Many providers limit how many logs one answer may hold.
  const byIndex = new Map(logs.filter(({ removed }) => removed !== true).map((log) => [Number(log.logIndex), log]));
  return [...byIndex].sort(([one], [other]) => one - other).map(([, log]) => log);
}

async function logsOfReceipts(node: Node, blockHash: string): Promise<NodeLog[]> {
  const receipts = await node.call<NodeReceipt[] | null>('eth_getBlockReceipts', [blockHash]);
  if (receipts === null) throw new NodeUnreachable(`The node does not have the receipts of block ${blockHash}`);
  return receipts
    .flatMap(({ logs }) => logs)
    .filter(({ topics }) => transferTopics.some((topic) => topic === topics[0]));
}
