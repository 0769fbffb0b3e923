import { type Hex, isHex, keccak256, numberToHex } from 'viem';
import { isOf, type Node, type NodeBlock, NodeBusy, type NodeLog, type NodeReceipt, NodeUnreachable } from './node.ts';
import { coinMoves, type TraceMethod, TracesFailed } from './traces.ts';
import { internalTransfers, nativeTransfers, type Transfer, tokenTransfers, transferTopics } from './transfers.ts';

/** Reads one block. @throws when the node does not have it, which a cluster's laggard may not, though another counts it. */
export async function readBlock(node: Node, number: number): Promise<NodeBlock> {
  const block = await node.call<NodeBlock | null>('eth_getBlockByNumber', [numberToHex(number), true]);
  if (block === null) throw new NodeUnreachable(`The node does not have block ${number}`);
  if (Number(block.number) !== number) throw new NodeUnreachable(`The node answers another block than ${number}`);
  return block;
}

/**
 * Reads all transfers of a block; a payment may belong to a transaction that failed, which only its receipt tells.
 *
 * @throws {TracesFailed} among others.
 */
export async function readTransfers(node: Node, block: NodeBlock, traceMethod: TraceMethod): Promise<Transfer[]> {
  if (block.transactions.length === 0) return [];
  const moves = coinMoves(node, traceMethod, block)
    .then(internalTransfers)
    .catch((error: Error) => {
      throw error instanceof NodeBusy ? error : new TracesFailed(error.message);
    });
  // Asked at the same time, because blocks may come quickly. A node that answers neither is away: traces have no part in it.
  moves.catch(() => undefined);
  const logs = await readLogs(node, block);
  const payments = block.transactions.flatMap(nativeTransfers);
  return [...payments, ...(await moves), ...logs.flatMap(tokenTransfers)];
}

/** The logs of transfers, each once and in the chain's order. */
async function readLogs(node: Node, block: NodeBlock): Promise<NodeLog[]> {
  const answer = await node
    .call<NodeLog[] | null>('eth_getLogs', [{ blockHash: block.hash, topics: [transferTopics] }])
    .catch(() => null); // Many providers limit how many logs one answer may hold.
  const logs = answer === null || isContradicted(block, answer) ? await logsOfReceipts(node, block) : answer;
  // Some chains count the logs of each transaction anew.
  const known = new Map(
    logs
      .filter(({ removed }) => removed !== true)
      .map((log) => [`${log.transactionHash} ${Number(log.logIndex)}`, log] as const),
  );
  return [...known.values()].sort((one, other) => Number(one.logIndex) - Number(other.logIndex));
}

/** A cluster's laggard may know no logs of a block yet; whether there are any, the block itself tells. */
function isContradicted({ logsBloom }: NodeBlock, logs: readonly NodeLog[]): boolean {
  if (logs.length > 0 || !isHex(logsBloom) || logsBloom.length !== 514) return false;
  const bits = BigInt(logsBloom);
  // Each topic sets three bits, counted from the right; others may have set them too.
  return transferTopics.some((topic) => {
    const hash = keccak256(topic, 'bytes');
    return [0, 2, 4].every((at) => ((bits >> BigInt(((hash[at]! << 8) | hash[at + 1]!) & 2047)) & 1n) === 1n);
  });
}

async function logsOfReceipts(node: Node, block: NodeBlock): Promise<NodeLog[]> {
  const hashes = block.transactions.map(({ hash }) => hash);
  return [...(await readReceipts(node, block, hashes)).values()]
    .flatMap(({ logs }) => logs)
    .filter(({ topics }) => transferTopics.some((topic) => topic === topics[0]));
}

/** More receipts than these are asked for at once, with all others of their block. */
const fewReceipts = 4;

/**
 * Reads receipts of a block's transactions.
 *
 * @throws when the node does not have one (yet), or only of another block that holds the transaction too.
 */
export async function readReceipts(
  node: Node,
  block: NodeBlock,
  hashes: readonly Hex[],
): Promise<Map<Hex, NodeReceipt>> {
  const all = hashes.length > fewReceipts ? await receiptsAtOnce(node, block.hash) : null;
  const receipts = new Map(all?.map((receipt) => [receipt.transactionHash, receipt]));
  for (const hash of hashes) {
    if (receipts.has(hash)) continue;
    const receipt = await node.call<NodeReceipt | null>('eth_getTransactionReceipt', [hash]);
    if (receipt === null) throw new NodeUnreachable(`The node does not have the receipt of ${hash}`);
    receipts.set(hash, receipt);
  }
  for (const receipt of receipts.values()) {
    if (isOf(block, receipt)) continue;
    throw new NodeUnreachable(`The node answers the receipt of ${receipt.transactionHash} in another block`);
  }
  return receipts;
}

/** All receipts of a block; null where the node does not have them, or not this method. */
function receiptsAtOnce(node: Node, blockHash: Hex): Promise<NodeReceipt[] | null> {
  return node.call<NodeReceipt[] | null>('eth_getBlockReceipts', [blockHash]).catch((error: Error) => {
    if (error instanceof NodeBusy) throw error;
    return null;
  });
}
