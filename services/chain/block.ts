import { type Hex, numberToHex } from 'viem';
import { isOf, type Node, type NodeBlock, NodeBusy, type NodeLog, type NodeReceipt, NodeUnreachable } from './node.ts';
import type { Profile } from './profiles.ts';
import { hasBloom, mayHaveTopics, proveLogs, proveReceipts, proveTransactions, proveWithdrawals } from './proof.ts';
import { COIN_TOPIC, MINT_TOPIC, TRANSFER_TOPICS, WRAP_TOPICS } from './transfers.ts';

/** The logs of a block's transfers and, where one call returned them, all receipts. */
export interface BlockLogs {
  logs: NodeLog[];
  receipts: ReadonlyMap<Hex, NodeReceipt>;
}

/** Everything that may be a transfer on some chain. */
const READ_TOPICS = [...TRANSFER_TOPICS, ...WRAP_TOPICS, COIN_TOPIC, MINT_TOPIC];

/** Reads one block, checked against its roots. @throws when no node has it. */
export async function readBlock(
  node: Node,
  number: number,
  { withdrawals }: Partial<Profile> = {},
): Promise<NodeBlock> {
  return await node.call<NodeBlock>('eth_getBlockByNumber', [numberToHex(number), true], (block: NodeBlock | null) => {
    if (block === null) throw new NodeUnreachable(`The node does not have block ${number}`);
    if (Number(block.number) !== number || typeof block.hash !== 'string') {
      throw new NodeUnreachable(`The node returned another block than ${number}`);
    }
    if (!Array.isArray(block.transactions)) throw new NodeUnreachable(`The node's block ${number} cannot be read`);
    if (proveTransactions(block) === 'contradicted') {
      throw new NodeUnreachable(`The node returned only some transactions of block ${number}`);
    }
    if (withdrawals === 'proven coins' && proveWithdrawals(block) === 'contradicted') {
      throw new NodeUnreachable(`The node returned only some withdrawals of block ${number}`);
    }
  });
}

/**
 * Reads the logs of transfers: from all receipts at once where a node offers them, otherwise from eth_getLogs and, where
 * that contradicts the block, from single receipts.
 */
export async function readLogs(node: Node, block: NodeBlock, hasUnlisted = false): Promise<BlockLogs> {
  const mayHaveLogs = block.transactions.length > 0 && mayHaveTopics(block, READ_TOPICS);
  if (!hasUnlisted && !mayHaveLogs) return { logs: [], receipts: new Map() };
  const all = await receiptsAtOnce(node, block, hasUnlisted);
  if (all !== null) return { logs: transferLogs(all.flatMap(({ logs }) => logs)), receipts: byHash(all) };
  const logs = await logsByFilter(node, block);
  if (logs !== null) return { logs, receipts: new Map() };
  const hashes = block.transactions.map(({ hash }) => hash);
  const receipts = await readReceipts(node, block, hashes);
  return { logs: transferLogs([...receipts.values()].flatMap((one) => one.logs)), receipts };
}

/**
 * The logs of transfers by eth_getLogs; null where they are refused or contradict the block's Bloom filter. That can only
 * be compared with all logs of a block, so these are asked for where there is one.
 */
async function logsByFilter(node: Node, block: NodeBlock): Promise<NodeLog[] | null> {
  try {
    const filter = { blockHash: block.hash, ...(hasBloom(block) ? {} : { topics: [READ_TOPICS] }) };
    const logs = await node.call<NodeLog[]>('eth_getLogs', [filter], (response: NodeLog[] | null) => {
      if (!Array.isArray(response)) throw new NodeUnreachable('The node does not have these logs');
      if (!response.every((log) => isOf(block, log ?? {}))) {
        throw new NodeUnreachable('The node returned logs of another block');
      }
      if (proveLogs(block, response) === 'contradicted') throw new NodeUnreachable('The node returned only some logs');
    });
    return transferLogs(logs);
  } catch (error) {
    if (error instanceof NodeBusy) throw error;
    return null; // Many providers limit how many logs one response may hold.
  }
}

/** Each once and in the chain's order. Some chains count the logs of each transaction from 0. */
function transferLogs(logs: readonly NodeLog[]): NodeLog[] {
  const known = new Map<string, NodeLog>();
  for (const log of logs) {
    if (log?.removed === true) continue;
    if (Array.isArray(log?.topics) && !READ_TOPICS.some((topic) => topic === log.topics[0])) continue;
    known.set(`${log?.transactionHash} ${Number(log?.logIndex)}`, log);
  }
  return [...known.values()].sort((one, other) => Number(one.logIndex) - Number(other.logIndex));
}

/** How many receipts are asked for at the same time. */
const MAX_PARALLEL_RECEIPTS = 8;

/** Reads receipts of a block's transactions, one call each. @throws when no node has one of this block (yet). */
export async function readReceipts(
  node: Node,
  block: NodeBlock,
  hashes: readonly Hex[],
): Promise<Map<Hex, NodeReceipt>> {
  const receipts = new Map<Hex, NodeReceipt>();
  const waiting = [...hashes];

  async function readNext(): Promise<void> {
    const hash = waiting.shift();
    if (hash === undefined) return;
    const accept = (receipt: NodeReceipt | null) => {
      if (receipt === null) throw new NodeUnreachable(`The node does not have the receipt of ${hash}`);
      if (receipt.transactionHash?.toLowerCase() !== hash.toLowerCase()) {
        throw new NodeUnreachable(`The node returned another receipt than that of ${hash}`);
      }
      if (isOf(block, receipt)) return;
      throw new NodeUnreachable(`The node returned the receipt of ${hash} in another block`);
    };
    receipts.set(hash, await node.call<NodeReceipt>('eth_getTransactionReceipt', [hash], accept));
    await readNext();
  }

  await Promise.all(Array.from({ length: MAX_PARALLEL_RECEIPTS }, readNext));
  return receipts;
}

/** More receipts than these are read at once, with all others of their block. */
const FEW_RECEIPTS = 4;

/** Completes the receipts that a block's logs came with. @throws as {@link readReceipts}. */
export async function receiptsOf(
  node: Node,
  block: NodeBlock,
  { receipts: known, logs }: BlockLogs,
  hashes: readonly Hex[],
): Promise<ReadonlyMap<Hex, NodeReceipt>> {
  const missing = hashes.filter((hash) => !known.has(hash));
  if (missing.length === 0) return known;
  const all = missing.length > FEW_RECEIPTS ? await receiptsAtOnce(node, block) : null;
  const read = all === null ? await readReceipts(node, block, missing) : byHash(all);
  for (const [hash, receipt] of read) {
    // The logs came from another call, perhaps from another node.
    const own = transferLogs(receipt.logs).length;
    const seen = logs.filter(({ transactionHash }) => transactionHash === hash).length;
    if (own !== seen) throw new NodeUnreachable(`The node's logs and its receipt of ${hash} differ`);
  }
  return new Map([...known, ...read]);
}

/** A block lists fewer transactions than it has receipts. */
class BlockPartial extends NodeUnreachable {}

/** All receipts of a block, checked against its Bloom filter and root; null where no node returns them so. */
async function receiptsAtOnce(node: Node, block: NodeBlock, hasUnlisted = false): Promise<NodeReceipt[] | null> {
  function accept(receipts: NodeReceipt[] | null) {
    const hashes = new Set(Array.isArray(receipts) ? receipts.map((one) => one?.transactionHash) : []);
    const isComplete = block.transactions.every(({ hash }) => hashes.has(hash));
    if (!Array.isArray(receipts) || !isComplete || !receipts.every((one) => isOf(block, one))) {
      throw new NodeUnreachable('The node does not have all receipts');
    }
    if (receipts.length > block.transactions.length && !hasUnlisted) {
      throw new BlockPartial(`The node returned only some transactions of block ${Number(block.number)}`);
    }
    if (!receipts.every(({ logs }) => Array.isArray(logs))) throw new NodeUnreachable('The receipts cannot be read');
    if (proveReceipts(block, receipts) === 'proven') return;
    const logs = receipts.flatMap((one) => one.logs);
    if (proveLogs(block, logs) === 'contradicted') throw new NodeUnreachable('The node returned only some logs');
  }

  try {
    return await node.call<NodeReceipt[]>('eth_getBlockReceipts', [block.hash], accept);
  } catch (error) {
    if (error instanceof NodeBusy || error instanceof BlockPartial) throw error;
    return null;
  }
}

function byHash(receipts: readonly NodeReceipt[]): Map<Hex, NodeReceipt> {
  return new Map(receipts.map((receipt) => [receipt.transactionHash, receipt]));
}
