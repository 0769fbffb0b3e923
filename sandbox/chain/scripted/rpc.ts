import { type Hex, numberToHex, zeroAddress } from 'viem';
import type { Address } from '../types.ts';
import { Reverted } from './contracts.ts';
import type { Block, Ledger } from './ledger.ts';
import { GAS_PRICE, type Log, type Transaction } from './machine.ts';

/** A JSON-RPC error with its code. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Params = readonly unknown[];
interface Filter {
  blockHash?: Hex;
  fromBlock?: string;
  toBlock?: string;
  address?: Address | Address[];
  topics?: (null | Hex | Hex[])[];
}

/** Returns the result of a JSON-RPC method in the form that a node returns. @throws {@link RpcError} */
export function callMethod(ledger: Ledger, method: string, params: Params): unknown {
  switch (method) {
    case 'eth_chainId':
      return '0x7a69';
    case 'eth_blockNumber':
      return numberToHex(ledger.blocks.length - 1);
    case 'eth_gasPrice':
      return numberToHex(GAS_PRICE);
    case 'eth_getBalance':
      return numberToHex(ledger.coins(params[0] as Address));
    case 'eth_getTransactionCount':
      return numberToHex(ledger.nonce(params[0] as Address));
    case 'eth_getCode':
      return ledger.code(params[0] as Address);
    case 'eth_call':
      return call(ledger, params[0] as { to: Address; data?: Hex; input?: Hex });
    case 'eth_getBlockByNumber':
      return blockObject(blockAt(ledger, String(params[0])), params[1] === true);
    case 'eth_getBlockByHash':
      return blockObject(blockOf(ledger, String(params[0])), params[1] === true);
    case 'eth_getBlockReceipts':
      return receipts(blockOf(ledger, String(params[0])) ?? blockAt(ledger, String(params[0])));
    case 'eth_getTransactionByHash':
      return withTransaction(ledger, String(params[0]), transactionObject);
    case 'eth_getTransactionReceipt':
      return withTransaction(ledger, String(params[0]), receiptObject);
    case 'eth_getLogs':
      return logs(ledger, params[0] as Filter);
    case 'trace_block':
      return traces(blockAt(ledger, String(params[0])));
    case 'trace_transaction':
      return withTransaction(ledger, String(params[0]), tracesOf);
    default:
      throw new RpcError(-32601, `the method ${method} is not available on the scripted chain`);
  }
}

function call(ledger: Ledger, { to, data, input }: { to: Address; data?: Hex; input?: Hex }): Hex {
  try {
    return ledger.read(to, data ?? input ?? '0x');
  } catch (error) {
    if (error instanceof Reverted) throw new RpcError(3, `execution reverted: ${error.message}`);
    throw error;
  }
}

function blockAt(ledger: Ledger, tag: string): Block | undefined {
  if (tag === 'earliest') return ledger.blocks[0];
  return tag.startsWith('0x') ? ledger.blocks[Number(tag)] : ledger.blocks.at(-1);
}

function blockOf(ledger: Ledger, hash: string): Block | undefined {
  return ledger.blocks.findLast((block) => block.hash === hash);
}

function withTransaction(
  ledger: Ledger,
  hash: string,
  show: (block: Block, transaction: Transaction, index: number) => unknown,
): unknown {
  for (const block of ledger.blocks) {
    const index = block.transactions.findIndex((transaction) => transaction.hash === hash);
    if (index >= 0) return show(block, block.transactions[index]!, index);
  }
  return null;
}

function blockObject(block: Block | undefined, full: boolean): unknown {
  if (block === undefined) return null;
  return {
    number: numberToHex(block.number),
    hash: block.hash,
    parentHash: block.parentHash,
    timestamp: numberToHex(block.timestamp),
    miner: zeroAddress,
    gasLimit: numberToHex(30_000_000),
    gasUsed: numberToHex(block.transactions.reduce((sum, transaction) => sum + transaction.gasUsed, 0n)),
    transactions: block.transactions.map((transaction, index) =>
      full ? transactionObject(block, transaction, index) : transaction.hash,
    ),
  };
}

function transactionObject(block: Block, transaction: Transaction, index: number): unknown {
  return {
    ...place(block, index),
    hash: transaction.hash,
    from: transaction.from.toLowerCase(),
    to: transaction.to?.toLowerCase() ?? null,
    value: numberToHex(transaction.value),
    input: transaction.input,
    nonce: numberToHex(transaction.nonce),
    gas: numberToHex((transaction.gasUsed * 12n) / 10n),
    gasPrice: numberToHex(GAS_PRICE),
    type: '0x0',
  };
}

function receiptObject(block: Block, transaction: Transaction, index: number): unknown {
  return {
    ...place(block, index),
    transactionHash: transaction.hash,
    from: transaction.from.toLowerCase(),
    to: transaction.to?.toLowerCase() ?? null,
    contractAddress: transaction.created?.toLowerCase() ?? null,
    status: '0x1',
    gasUsed: numberToHex(transaction.gasUsed),
    effectiveGasPrice: numberToHex(GAS_PRICE),
    logs: transaction.logs.map((log) => logObject(block, transaction, index, log)),
  };
}

function receipts(block: Block | undefined): unknown {
  return block?.transactions.map((transaction, index) => receiptObject(block, transaction, index)) ?? null;
}

function logObject(block: Block, transaction: Transaction, index: number, log: Log): object {
  const earlier = block.transactions.slice(0, index).reduce((sum, { logs }) => sum + logs.length, 0);
  return {
    ...place(block, index),
    transactionHash: transaction.hash,
    address: log.address.toLowerCase(),
    topics: log.topics,
    data: log.data,
    logIndex: numberToHex(earlier + transaction.logs.indexOf(log)),
    removed: false,
  };
}

function logs(ledger: Ledger, filter: Filter): unknown[] {
  const last = ledger.blocks.length - 1;
  const bound = (tag: string | undefined) => (tag?.startsWith('0x') ? Number(tag) : last);
  const wanted = ledger.blocks.filter((block) =>
    filter.blockHash === undefined
      ? block.number >= bound(filter.fromBlock) && block.number <= bound(filter.toBlock)
      : block.hash === filter.blockHash,
  );
  return wanted.flatMap((block) =>
    block.transactions.flatMap((transaction, index) =>
      transaction.logs.filter((log) => matches(log, filter)).map((log) => logObject(block, transaction, index, log)),
    ),
  );
}

function matches(log: Log, { address, topics = [] }: Filter): boolean {
  const among = (wanted: string | readonly string[] | null | undefined, value: string | undefined) =>
    wanted === null ||
    wanted === undefined ||
    [wanted].flat().some((one) => one.toLowerCase() === value?.toLowerCase());
  return among(address, log.address) && topics.every((topic, index) => among(topic, log.topics[index]));
}

function traces(block: Block | undefined): unknown {
  return block?.transactions.flatMap((transaction, index) => tracesOf(block, transaction, index)) ?? null;
}

function tracesOf(block: Block, transaction: Transaction, index: number): object[] {
  return transaction.traces.map(({ from, to, value, path }) => ({
    type: transaction.created !== null && path.length === 0 ? 'create' : 'call',
    action: { callType: 'call', from: from.toLowerCase(), to: to.toLowerCase(), value: numberToHex(value) },
    traceAddress: path,
    blockHash: block.hash,
    blockNumber: block.number,
    transactionHash: transaction.hash,
    transactionPosition: index,
  }));
}

function place(block: Block, index: number): object {
  return { blockHash: block.hash, blockNumber: numberToHex(block.number), transactionIndex: numberToHex(index) };
}
