import { type Hex, isAddress, isHash, numberToHex } from 'viem';
import { isOf, type Node, type NodeBlock, NodeBusy, type NodeLog, type NodeReceipt, NodeUnreachable } from './node.ts';
import type { Profile } from './profiles.ts';
import { hasBloom, mayHaveTopics, proveLogs, proveReceipts, proveTransactions, proveWithdrawals } from './proof.ts';
import { type CoinMove, isTraced } from './traces.ts';
import {
  COIN_TOPIC,
  internalTransfers,
  loggedCoins,
  MINT_TOPIC,
  nativeTransfers,
  TRANSFER_TOPICS,
  type Transfer,
  tokenTransfers,
  WRAP_TOPICS,
  withdrawalTransfers,
  wrapTransfers,
} from './transfers.ts';

/** The logs of transfers in a block and, where one call returned them, all receipts. */
export interface BlockLogs {
  logs: NodeLog[];
  receipts: ReadonlyMap<Hex, NodeReceipt>;
}

/** A part of a block that cannot be read, with its bytes; the rest of the block can. */
export interface Unreadable {
  part: 'transaction' | 'log' | 'trace' | 'receipt';
  txHash: string | null;
  /** The part itself, as JSON. */
  bytes: string;
  reason: string;
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
  const mayHaveLogs = hasUnlisted || block.transactions.length > 0;
  if (!mayHaveLogs || !(hasUnlisted || mayHaveTopics(block, READ_TOPICS))) return { logs: [], receipts: new Map() };
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
const PARALLEL_RECEIPTS = 8;

/** Reads receipts of a block's transactions, one call each. @throws when no node has one of this block (yet). */
export async function readReceipts(
  node: Node,
  block: NodeBlock,
  hashes: readonly Hex[],
): Promise<Map<Hex, NodeReceipt>> {
  const receipts = new Map<Hex, NodeReceipt>();
  const waiting = [...hashes];
  const readNext = async (): Promise<void> => {
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
  };
  await Promise.all(Array.from({ length: PARALLEL_RECEIPTS }, readNext));
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
  const accept = (receipts: NodeReceipt[] | null) => {
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
    const isContradicted =
      proveLogs(
        block,
        receipts.flatMap(({ logs }) => logs),
      ) === 'contradicted';
    if (isContradicted) throw new NodeUnreachable('The node returned only some logs');
  };
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

/** A block's transfers, and the parts that cannot be read. */
export interface BlockTransfers {
  transfers: Transfer[];
  unreadable: Unreadable[];
}

/** Finds the payments and token transfers of a block; a payment may belong to a transaction that failed. */
export function outerTransfers(block: NodeBlock, logs: readonly NodeLog[], profile: Profile): BlockTransfers {
  const found: BlockTransfers = { transfers: [], unreadable: [] };
  const hashes = new Set(block.transactions.map(({ hash }) => hash));
  const traced = new Set(block.transactions.filter(isTraced).map(({ hash }) => hash));
  const logged = new Set(logs.filter((log) => isOwnLog(log, profile)).map((log) => log.transactionHash));
  for (const transaction of block.transactions) {
    collect(found, 'transaction', transaction, transaction?.hash, () => {
      if (!isHash(transaction.hash)) throw new Error('its hash is not 32 bytes');
      return logged.has(transaction.hash) ? [] : nativeTransfers(transaction);
    });
  }
  if (profile.withdrawals !== 'other') {
    collect(found, 'transaction', block.withdrawals, null, () => withdrawalTransfers(block));
  }
  for (const log of logs) {
    collect(found, 'log', log, log?.transactionHash, () => {
      if (!isAddress(log.address, { strict: false })) throw new Error("its contract's address is not 20 bytes");
      if (!Array.isArray(log.topics) || !Number.isInteger(Number(log.logIndex))) throw new Error('fields are missing');
      if (!hashes.has(log.transactionHash) && !profile.hasUnlistedLogs) {
        throw new Error('the block does not list its transaction');
      }
      return transfersOf(log, profile, traced.has(log.transactionHash));
    });
  }
  return found;
}

/** Whether the coin's own contract wrote a log. */
function isOwnLog(log: NodeLog, { coinContract }: Profile): boolean {
  return coinContract !== null && log?.address?.toLowerCase() === coinContract;
}

/** The transfers of a log, depending on its contract's role on this chain. */
function transfersOf(log: NodeLog, profile: Profile, hasTrace: boolean): Transfer[] {
  const { coinContract, untracedCoins, feeCollectors, wrappers } = profile;
  const address = log.address.toLowerCase();
  const isFee = ({ from, to }: Transfer) =>
    feeCollectors.some((one) => [from, to].some((two) => two.toLowerCase() === one));
  if (log.topics[0] === COIN_TOPIC) return address === untracedCoins && !hasTrace ? loggedCoins(log) : [];
  if (log.topics[0] === MINT_TOPIC)
    return address === coinContract ? loggedCoins(log).filter((one) => !isFee(one)) : [];
  if (WRAP_TOPICS.some((topic) => topic === log.topics[0])) {
    return wrappers.some((one) => one === address) ? wrapTransfers(log) : [];
  }
  const transfers = tokenTransfers(log);
  if (coinContract !== address) return transfers;
  return transfers.flatMap((transfer) => {
    if (transfer.kind !== 'erc20' || isFee(transfer) || transfer.value === 0n) return [];
    const { txHash, from, to, value, place } = transfer;
    return [{ kind: 'native' as const, internal: false, txHash, from, to, value, place }];
  });
}

/** Finds internal payments. */
export function innerTransfers(moves: readonly CoinMove[]): BlockTransfers {
  const found: BlockTransfers = { transfers: [], unreadable: [] };
  for (const move of moves) {
    const shown = { ...move, value: move.value.toString() };
    collect(found, 'trace', shown, move.txHash, () => internalTransfers([move]));
  }
  return found;
}

function collect(
  found: BlockTransfers,
  part: Unreadable['part'],
  source: unknown,
  txHash: unknown,
  read: () => Transfer[],
): void {
  try {
    found.transfers.push(...read());
  } catch (error) {
    found.unreadable.push(unreadableOf(part, source, txHash, error));
  }
}

/** Describes a part that cannot be read, for the quarantine. */
export function unreadableOf(part: Unreadable['part'], source: unknown, txHash: unknown, error: unknown): Unreadable {
  return {
    part,
    txHash: typeof txHash === 'string' ? txHash : null,
    bytes: JSON.stringify(source) ?? 'undefined',
    reason: (error as Error).message.split('\n')[0]!.slice(0, 200),
  };
}
