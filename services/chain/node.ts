import type { Hex } from 'viem';

export interface Node {
  /**
   * Calls a method and returns the first result that `accept` does not reject; each node is asked once at most.
   *
   * @throws {NodeRefused} when the node returns an error, {@link NodeBusy} when it limits calls for a while,
   * {@link NodeUnreachable} when it does not respond or nothing it returns is accepted.
   */
  call<Result>(method: string, params?: readonly unknown[], accept?: (result: Result) => void): Promise<Result>;
}

/** The node returned an error: the method is unknown, a call was reverted, a block does not exist. */
export class NodeRefused extends Error {}

export class MethodMissing extends NodeRefused {}

/** The called contract ended the call itself: it reverted, or ran out of gas or stack. */
export class CallEnded extends NodeRefused {}

/** The node did not respond, or not with usable JSON-RPC. The message never contains the URL, which may hold a key. */
export class NodeUnreachable extends Error {}

export class NodeBusy extends NodeUnreachable {
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}

export interface NodeTransaction {
  hash: Hex;
  from: Hex;
  /** null for a deployment. */
  to: Hex | null;
  value: Hex;
  nonce: Hex;
  gas: Hex;
  gasPrice?: Hex;
  type?: Hex;
  input?: Hex;
  /** OP Stack: coins that a deposit creates for its sender. */
  mint?: Hex;
  blockHash: Hex | null;
  blockNumber: Hex | null;
}

/** A payment of the consensus layer that no transaction makes (EIP-4895); `amount` in gwei. */
export interface NodeWithdrawal {
  index: Hex;
  validatorIndex?: Hex;
  address: Hex;
  amount: Hex;
}

export interface NodeHeader {
  number: Hex;
  hash: Hex;
  parentHash: Hex;
  /** Seconds since 1970. */
  timestamp: Hex;
}

export function isHeader(value: unknown): value is NodeHeader {
  const { number, hash, parentHash } = (value ?? {}) as Record<string, unknown>;
  const isNumber = typeof number === 'string' && /^0x[0-9a-f]+$/i.test(number);
  return isNumber && typeof hash === 'string' && typeof parentHash === 'string';
}

export interface NodeBlock extends NodeHeader {
  logsBloom?: Hex;
  transactionsRoot?: Hex;
  receiptsRoot?: Hex;
  transactions: NodeTransaction[];
  withdrawals?: NodeWithdrawal[];
  withdrawalsRoot?: Hex;
}

/** The nodes of a cluster may disagree. What names no block is believed. */
export function isOf({ hash, transactions }: NodeBlock, { blockHash }: { blockHash?: Hex | null }): boolean {
  // On some chains a block's transactions use another hash for it than the block itself.
  const own = [hash, transactions[0]?.blockHash].map((blockHash) => blockHash?.toLowerCase());
  return !blockHash || own.includes(blockHash.toLowerCase());
}

export interface NodeLog {
  address: Hex;
  topics: Hex[];
  data: Hex;
  transactionHash: Hex;
  blockHash?: Hex | null;
  logIndex: Hex;
  removed?: boolean;
}

export interface NodeReceipt {
  transactionHash: Hex;
  blockHash?: Hex;
  status?: Hex;
  /** State root, in receipts older than Byzantium. */
  root?: Hex;
  gasUsed: Hex;
  effectiveGasPrice?: Hex;
  blobGasUsed?: Hex;
  blobGasPrice?: Hex;
  /** OP Stack: the transaction's fee for data on the parent chain, in wei. */
  l1Fee?: Hex;
  contractAddress: Hex | null;
  logs: NodeLog[];
}

/** Gas of a plain payment, of a deployment beside it, and of each zero and other byte of the input, before Byzantium. */
const INTRINSIC = { payment: 21_000, deployment: 32_000, zero: 4, other: 68 };

/**
 * Whether a transaction failed. Receipts before Byzantium do not say so: there every failure uses up all gas, and whoever
 * sets just the gas that a transaction needs before it runs pays without running anything.
 */
export function hasFailed({ to, input = '0x', gas }: NodeTransaction, receipt: NodeReceipt): boolean {
  if (receipt.status !== undefined) return receipt.status === '0x0';
  if (!receipt.root || receipt.logs.length > 0 || Number(receipt.gasUsed) !== Number(gas)) return false;
  const bytes = input.slice(2).match(/../g) ?? [];
  const zeros = bytes.filter((byte) => byte === '00').length;
  const data = zeros * INTRINSIC.zero + (bytes.length - zeros) * INTRINSIC.other;
  return Number(gas) > INTRINSIC.payment + (to === null ? INTRINSIC.deployment : 0) + data;
}
