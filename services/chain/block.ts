import { type Hex, numberToHex } from 'viem';
import {
  isHeader,
  isOf,
  type Node,
  type NodeBlock,
  NodeBusy,
  type NodeHeader,
  type NodeLog,
  type NodeReceipt,
  NodeUnreachable,
} from './node.ts';
import type { Profile } from './profiles.ts';
import { hasBloom, type Proof, proveLogs, proveTransactions, proveWithdrawals } from './proof.ts';
import { COIN_TOPIC, MINT_TOPIC, RECEIVER_TOPIC, TRANSFER_TOPICS, WRAP_TOPICS } from './transfers.ts';

/** The logs of a block's transfers and, where one call returned them, all receipts. */
export interface BlockLogs {
  logs: NodeLog[];
  receipts: ReadonlyMap<Hex, NodeReceipt>;
}

const READ_TOPICS = [...TRANSFER_TOPICS, ...WRAP_TOPICS, COIN_TOPIC, MINT_TOPIC, RECEIVER_TOPIC];

export class BlockAbsent extends NodeUnreachable {}

/** How many blocks of a chain contradict their transactions root or Bloom filter before it proves nothing there. */
const ENOUGH = 3;
const MAX_PROBES = 20;

interface Habits {
  /** The blocks that contradict their transactions root although each transaction proves its hash; null once one fits. */
  wrongRoots: Set<number> | null;
  lowestProbed?: number;
  /** null: unknown. false: no block ever fit its Bloom filter. */
  hasBlooms: boolean | null;
  wrongBlooms: number;
}

const habitsOfNodes = new WeakMap<Node, Habits>();

function habitsOf(node: Node): Habits {
  const habits = habitsOfNodes.get(node) ?? { wrongRoots: new Set(), hasBlooms: null, wrongBlooms: 0 };
  habitsOfNodes.set(node, habits);
  return habits;
}

/** Whether a chain's transactions roots turned out to prove nothing. */
export const lacksRoots = (node: Node): boolean => (habitsOf(node).wrongRoots?.size ?? 0) > ENOUGH;

function proveRoot(node: Node, block: NodeBlock): Proof {
  const proof = proveTransactions(block);
  if (block.transactions.length === 0) return proof;
  if (proof === 'proven') habitsOf(node).wrongRoots = null;
  if (proof === 'contradicted' && !lacksRoots(node)) habitsOf(node).wrongRoots?.add(Number(block.number));
  return proof;
}

/** Reads one block, checked against its roots. @throws when no node has it. */
export async function readBlock(
  node: Node,
  number: number,
  { withdrawals }: Partial<Profile> = {},
): Promise<NodeBlock> {
  let contradicted: NodeBlock | undefined;
  const block = await blockAt(node, number, (block) => {
    if (proveRoot(node, block) === 'contradicted' && !lacksRoots(node)) {
      contradicted = block;
      throw new NodeUnreachable(`The node returned only some transactions of block ${number}`);
    }
    if (withdrawals === 'proven coins' && proveWithdrawals(block) === 'contradicted') {
      throw new NodeUnreachable(`The node returned only some withdrawals of block ${number}`);
    }
  }).catch(async (error: Error) => {
    if (contradicted === undefined || !(await contradictsRoots(node, number))) throw error;
    return contradicted;
  });
  return habitsOf(node).hasBlooms === false ? { ...block, logsBloom: '0x' } : block;
}

async function blockAt(node: Node, number: number, accept: (block: NodeBlock) => void): Promise<NodeBlock> {
  return await node.call<NodeBlock>('eth_getBlockByNumber', [numberToHex(number), true], (block: NodeBlock | null) => {
    mustBeAt(number, block);
    if (!Array.isArray(block.transactions)) throw new NodeUnreachable(`The node's block ${number} cannot be read`);
    block.withdrawals ??= [];
    accept(block);
  });
}

/** @throws {BlockAbsent} */
export const readHeader = (node: Node, number: number): Promise<NodeHeader> =>
  node.call<NodeHeader>('eth_getBlockByNumber', [numberToHex(number), false], (header: NodeHeader | null) =>
    mustBeAt(number, header),
  );

function mustBeAt<Header extends NodeHeader>(number: number, header: Header | null): asserts header is Header {
  if (header === null) throw new BlockAbsent(`The node does not have block ${number}`);
  if (!isHeader(header) || Number(header.number) !== number) {
    throw new NodeUnreachable(`The node returned another block than ${number}`);
  }
}

async function contradictsRoots(node: Node, number: number): Promise<boolean> {
  const habits = habitsOf(node);
  habits.lowestProbed ??= number;
  const isUndecided = () => habits.wrongRoots !== null && !lacksRoots(node) && habits.lowestProbed! > 0;
  for (let count = 0; count < MAX_PROBES && isUndecided(); count++) {
    await blockAt(node, --habits.lowestProbed, (earlier) => void proveRoot(node, earlier)).catch(() => undefined);
  }
  return lacksRoots(node);
}

/** From all receipts at once, else from eth_getLogs and, where that contradicts the block, from single receipts. */
export async function readLogs(node: Node, block: NodeBlock, hasUnlisted = false): Promise<BlockLogs> {
  if (!hasUnlisted && block.transactions.length === 0) return { logs: [], receipts: new Map() };
  const all = await receiptsAtOnce(node, block, hasUnlisted);
  if (all !== null) return { logs: transferLogs(all.flatMap(({ logs }) => logs)), receipts: byHash(all) };
  const logs = await logsByFilter(node, block);
  if (logs !== null) return { logs, receipts: new Map() };
  const hashes = block.transactions.map(({ hash }) => hash);
  const receipts = await readReceipts(node, block, hashes);
  const read = [...receipts.values()].flatMap((receipt) => receipt.logs);
  noteBloom(node, proveLogs(block, read));
  return { logs: transferLogs(read), receipts };
}

function noteBloom(node: Node, proof: Proof): void {
  const habits = habitsOf(node);
  if (proof === 'proven') habits.hasBlooms = true;
  if (proof === 'contradicted' && ++habits.wrongBlooms >= ENOUGH) habits.hasBlooms ??= false;
}

/** null where refused or contradicted by the Bloom filter, which can only be compared with all logs of a block. */
async function logsByFilter(node: Node, block: NodeBlock): Promise<NodeLog[] | null> {
  try {
    const filter = { blockHash: block.hash, ...(hasBloom(block) ? {} : { topics: [READ_TOPICS] }) };
    const logs = await node.call<NodeLog[]>('eth_getLogs', [filter], (response: NodeLog[] | null) => {
      if (!Array.isArray(response)) throw new NodeUnreachable('The node does not have these logs');
      emptyNulls(response);
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

/** Some nodes write null for an empty list of topics. */
function emptyNulls(logs: readonly NodeLog[]): void {
  for (const log of logs) if (log?.topics === null) log.topics = [];
}

export function completeLists(receipt: NodeReceipt): void {
  if (receipt.logs === null) receipt.logs = [];
  if (!Array.isArray(receipt.logs)) throw new NodeUnreachable('The receipt cannot be read');
  emptyNulls(receipt.logs);
}

/** Each once and in the chain's order. Some chains count the logs of each transaction from 0. */
function transferLogs(logs: readonly NodeLog[]): NodeLog[] {
  const known = new Map<string, NodeLog>();
  for (const log of logs) {
    if (log?.removed === true) continue;
    if (Array.isArray(log?.topics) && !READ_TOPICS.some((topic) => topic === log.topics[0])) continue;
    known.set(`${log?.transactionHash} ${Number(log?.logIndex)}`, log);
  }
  return [...known.values()].sort((a, b) => Number(a.logIndex) - Number(b.logIndex));
}

const MAX_PARALLEL_RECEIPTS = 8;

/** @throws when no node has one of this block (yet). */
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
      completeLists(receipt);
      if (isOf(block, receipt)) return;
      throw new NodeUnreachable(`The node returned the receipt of ${hash} in another block`);
    };
    receipts.set(hash, await node.call<NodeReceipt>('eth_getTransactionReceipt', [hash], accept));
    await readNext();
  }

  await Promise.all(Array.from({ length: MAX_PARALLEL_RECEIPTS }, readNext));
  return receipts;
}

const FEW_RECEIPTS = 4;

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

class BlockPartial extends NodeUnreachable {}

/** null where no node offers this call. */
async function receiptsAtOnce(node: Node, block: NodeBlock, hasUnlisted = false): Promise<NodeReceipt[] | null> {
  function accept(receipts: NodeReceipt[] | null) {
    const hashes = new Set(Array.isArray(receipts) ? receipts.map((receipt) => receipt?.transactionHash) : []);
    const isComplete = block.transactions.every(({ hash }) => hashes.has(hash));
    if (!Array.isArray(receipts) || !isComplete || !receipts.every((receipt) => isOf(block, receipt))) {
      throw new NodeUnreachable('The node does not have all receipts');
    }
    if (receipts.length > block.transactions.length && !hasUnlisted) {
      throw new BlockPartial(`The node returned only some transactions of block ${Number(block.number)}`);
    }
    receipts.forEach(completeLists);
    const logs = receipts.flatMap((receipt) => receipt.logs);
    const proof = proveLogs(block, logs);
    if (proof === 'contradicted') throw new NodeUnreachable('The node returned only some logs');
    if (logs.length > 0) noteBloom(node, proof);
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
