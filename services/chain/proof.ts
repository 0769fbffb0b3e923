import {
  concat,
  formatTransaction,
  type Hex,
  hexToBytes,
  isHash,
  isHex,
  keccak256,
  type RpcTransaction,
  serializeTransaction,
  type TransactionSerializable,
  toBytes,
  toHex,
  toRlp,
} from 'viem';
import type { NodeBlock, NodeLog, NodeTransaction, NodeWithdrawal } from './node.ts';

/** Whether a response matches its block's roots and filter; `unknown` where this cannot be computed. */
export type Proof = 'proven' | 'contradicted' | 'unknown';

/** `unknown` for types that only this chain has, and where a transaction's bytes do not hash to its own hash. */
export function proveTransactions(block: NodeBlock): Proof {
  const { transactions, transactionsRoot } = block;
  if (!isRoot(transactionsRoot)) return 'unknown';
  // Kaia hashes an empty block's transactions without RLP.
  if (transactions.length === 0 && transactionsRoot.toLowerCase() === keccak256('0x')) return 'proven';
  const bytes = new Map(transactions.map((transaction) => [transaction, provenBytes(transaction)]));
  const fits = (some: readonly NodeTransaction[]) => {
    const encoded = some.map((other) => bytes.get(other));
    return encoded.every((bytes) => bytes !== undefined) && trieRoot(encoded) === transactionsRoot.toLowerCase();
  };
  if (fits(transactions) || fits(transactions.filter(isPaid))) return 'proven';
  return [...bytes.values()].includes(undefined) ? 'unknown' : 'contradicted';
}

/** Some chains leave transactions that they make themselves, and nobody pays for, out of their roots. */
function isPaid(transaction: NodeTransaction): boolean {
  return Number(transaction?.gasPrice ?? 1) !== 0;
}

/** The bytes of a transaction, if they hash to its own hash: then its fields are right. */
export function provenBytes(transaction: NodeTransaction): Hex | undefined {
  const bytes = attempt(() => encodedTransaction(transaction as NodeTransaction & Record<string, never>));
  return bytes !== undefined && keccak256(bytes) === transaction.hash ? bytes : undefined;
}

/** Some chains use the field for another root. */
export function proveWithdrawals({ withdrawals = [], withdrawalsRoot }: NodeBlock): Proof {
  if (withdrawalsRoot === undefined || !isHash(withdrawalsRoot)) return 'unknown';
  const encoded = attempt(() => withdrawals.map(encodedWithdrawal));
  if (encoded === undefined) return 'unknown';
  return trieRoot(encoded) === withdrawalsRoot.toLowerCase() ? 'proven' : 'contradicted';
}

export function proveLogs(block: NodeBlock, logs: readonly NodeLog[]): Proof {
  if (!hasBloom(block)) return 'unknown';
  // Some chains leave out the logs of transactions that they make themselves.
  const paid = new Set(block.transactions.filter(isPaid).map(({ hash }) => hash));
  const ofPaid = logs.filter(({ transactionHash }) => paid.has(transactionHash));
  const blooms = [logs, ofPaid].map((some) => attempt(() => bloomOf(some)));
  if (blooms[0] === undefined) return 'unknown';
  return blooms.includes(BigInt(block.logsBloom)) ? 'proven' : 'contradicted';
}

/** Some chains fill every filter with ones, or with zeros if they have no roots. */
export function hasBloom(block: NodeBlock): block is NodeBlock & { logsBloom: Hex } {
  const { logsBloom, receiptsRoot } = block;
  if (!isHex(logsBloom) || logsBloom.length !== 514 || /^0xf+$/i.test(logsBloom)) return false;
  return BigInt(logsBloom) !== 0n || isRoot(receiptsRoot);
}

/** Some chains fill every root with zeros. */
function isRoot(root: Hex | undefined): root is Hex {
  return root !== undefined && isHash(root) && BigInt(root) !== 0n;
}

function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

function bloomOf(logs: readonly NodeLog[]): bigint {
  const values = new Set(logs.flatMap(({ address, topics }) => [address, ...topics]));
  let bloom = 0n;
  for (const value of values) bloom |= bitsOf(value);
  return bloom;
}

/** Three bits of 2,048, counted from the right. */
function bitsOf(value: Hex): bigint {
  const hash = keccak256(value, 'bytes');
  return [0, 2, 4].reduce((bits, at) => bits | (1n << BigInt(((hash[at]! << 8) | hash[at + 1]!) & 2047)), 0n);
}

/** An integer as RLP writes it: without leading zeros. */
function integer(value: Hex | boolean | undefined): Hex {
  const number = BigInt(value ?? 0);
  return number === 0n ? '0x' : toHex(toBytes(number));
}

/** The fields of transactions that only the OP Stack or Arbitrum has, in the order in which they are encoded. */
const OWN_TYPES = new Map([
  // A deposit on the OP Stack.
  [0x7e, 'sourceHash from to mint value gas isSystemTx input'],
  // Arbitrum: a deposit of coins, a retry of a retryable, its submission, and the chain's own record of a block's beginning.
  [0x64, 'chainId requestId from to value'],
  [0x68, 'chainId nonce from maxFeePerGas gas to value input ticketId refundTo maxRefund submissionFeeRefund'],
  [
    0x69,
    'chainId requestId from l1BaseFee depositValue maxFeePerGas gas retryTo retryValue beneficiary maxSubmissionFee ' +
      'refundTo retryData',
  ],
  [0x6a, 'chainId input'],
]);
/** Those of {@link OWN_TYPES} that are not encoded as integers. */
const BYTES = new Set('sourceHash requestId from to input ticketId refundTo retryTo beneficiary retryData'.split(' '));

function encodedTransaction(raw: NodeTransaction & Record<string, Hex | undefined>): Hex {
  const type = Number(raw.type ?? 0);
  if (type <= 4) return commonTransaction({ type: toHex(type), ...raw } as unknown as RpcTransaction);
  const names = OWN_TYPES.get(type);
  if (names === undefined) throw new Error('a chain-specific transaction type');
  const fields = names.split(' ').map((name) => (BYTES.has(name) ? (raw[name] ?? '0x') : integer(raw[name])));
  return concat([toHex(type, { size: 1 }), toRlp(fields)]);
}

function commonTransaction(raw: RpcTransaction): Hex {
  const { r, s, v, yParity, chainId, ...rest } = formatTransaction(raw);
  // An old transaction names its chain in `v`, if anywhere.
  const fields = { ...rest, ...(rest.type !== 'legacy' && { chainId }), data: raw.input } as TransactionSerializable;
  return serializeTransaction(fields, { r: r!, s: s!, v: v!, yParity: yParity! });
}

function encodedWithdrawal({ index, validatorIndex, address, amount }: NodeWithdrawal): Hex {
  return toRlp([integer(index), integer(validatorIndex), address, integer(amount)]);
}

type Entry = { path: number[]; value: Uint8Array };
type TrieNode = Uint8Array | TrieNode[];

/** The root of the Merkle Patricia trie of a list, whose keys are the RLP of the positions. */
function trieRoot(values: readonly Hex[]): Hex {
  const entries = values.map((value, index): Entry => {
    const key = toRlp(index === 0 ? '0x' : toHex(index), 'bytes') as Uint8Array;
    return { path: [...key].flatMap((byte) => [byte >> 4, byte & 15]), value: hexToBytes(value) };
  });
  if (entries.length === 0) return keccak256('0x80');
  return keccak256(toRlp(trieNode(entries, 0) as Uint8Array, 'bytes'));
}

const NOTHING = new Uint8Array();

function trieNode(entries: readonly Entry[], depth: number): TrieNode {
  const [first] = entries as [Entry, ...Entry[]];
  if (entries.length === 1) return [compact(first.path.slice(depth), true), first.value];
  let shared = 0;
  while (
    entries.every(({ path }) => path.length > depth + shared && path[depth + shared] === first.path[depth + shared])
  ) {
    shared++;
  }
  if (shared > 0) {
    const below = reference(trieNode(entries, depth + shared));
    return [compact(first.path.slice(depth, depth + shared), false), below];
  }
  const groups: Entry[][] = Array.from({ length: 16 }, () => []);
  for (const entry of entries) if (entry.path.length > depth) groups[entry.path[depth]!]!.push(entry);
  const ending = entries.find(({ path }) => path.length === depth);
  return [
    ...groups.map((group) => (group.length === 0 ? NOTHING : reference(trieNode(group, depth + 1)))),
    ending?.value ?? NOTHING,
  ];
}

/** Short nodes are embedded in their parent; others are referenced by their hash. */
function reference(node: TrieNode): TrieNode {
  const encoded = toRlp(node as Uint8Array, 'bytes') as Uint8Array;
  return encoded.length < 32 ? node : keccak256(encoded, 'bytes');
}

/** Half-bytes in bytes, with a flag for leaves and one for an odd count. */
function compact(path: readonly number[], isLeaf: boolean): Uint8Array {
  const flag = (isLeaf ? 2 : 0) + (path.length % 2);
  const padded = path.length % 2 === 1 ? [flag, ...path] : [flag, 0, ...path];
  return Uint8Array.from({ length: padded.length / 2 }, (_, at) => (padded[at * 2]! << 4) | padded[at * 2 + 1]!);
}
