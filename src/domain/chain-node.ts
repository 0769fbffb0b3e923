import type { AddressText } from './address.ts';
import type { Holding } from './balance.ts';
import type { Balances, BlockRange, ChainLog } from './completeness.ts';

/** `away`: no node responds, or all limit requests. `refused`: anything else, such as too large a range. */
export type ChainFailure = 'away' | 'pruned' | 'unsupported' | 'refused';

/** Its message contains nothing that a node wrote. */
export class ChainError extends Error {
  readonly failure: ChainFailure;
  constructor(failure: ChainFailure, method: string) {
    super(`${method}: ${failure}`);
    this.failure = failure;
  }
}

/** Rethrows all but refusals: a node that is away may respond later. */
export function refusalOf(error: unknown): ChainError {
  if (!(error instanceof ChainError) || error.failure === 'away') throw error;
  return error;
}

export interface ChainHead {
  number: number;
  hash: string;
  /** Milliseconds. */
  at: number;
}

/** As nodes return it: every field may lack. */
export interface ChainBlock {
  number: string;
  hash: string;
  timestamp: string;
  transactions: ChainTransaction[];
  withdrawals?: { index: string; address: string; amount: string }[];
}

/** `mint`: coins that a deposit of the OP Stack creates. */
export interface ChainTransaction {
  hash: string;
  from: string;
  to: string | null;
  value: string;
  blockNumber: string | null;
  mint?: string;
}

/** `l1Fee`: what a rollup charges for its parent chain. */
export interface ChainReceipt {
  status?: string;
  transactionHash: string;
  contractAddress: string | null;
  blockNumber: string;
  gasUsed: string;
  effectiveGasPrice?: string;
  l1Fee?: string;
  blobGasUsed?: string;
  blobGasPrice?: string;
  logs: ChainLog[];
}

/** `path`: the payment's position in the transaction's calls. */
export interface ChainPayment {
  txHash: string;
  from: string;
  to: string;
  value: bigint;
  path: string;
}

/** Every method throws a {@link ChainError} when no node responds with a result. */
export interface ChainNode {
  calls(): number;
  chainId(): Promise<string>;
  latest(): Promise<number>;
  /** `finalized`, `safe`, or this many blocks behind the latest one. */
  settled(confirmations: 'finalized' | 'safe' | number): Promise<ChainHead>;
  header(block: number): Promise<ChainHead>;
  block(number: number): Promise<ChainBlock>;
  /** null: not on the chain. */
  transaction(hash: string): Promise<ChainTransaction | null>;
  receipt(hash: string): Promise<ChainReceipt | null>;
  logs(range: BlockRange, filter: object): Promise<ChainLog[]>;
  /** At the end of the block. */
  balances(block: number, addresses: readonly AddressText[]): Promise<Balances>;
  /** At the end of the block; null: the token does not say. */
  holdings(block: number, wanted: readonly Holding[]): Promise<(bigint | null)[]>;
  sent(block: number, address: AddressText): Promise<number>;
  payments(block: ChainBlock): Promise<ChainPayment[] | null>;
  /** The result of a function without arguments now, as hex; null: nothing. */
  read(contract: AddressText, selector: string): Promise<string | null>;
}

/** The last block before a time, which is not after `head`. */
export async function blockBefore(chain: Pick<ChainNode, 'header'>, time: number, head: ChainHead): Promise<ChainHead> {
  if (head.at < time) return head;
  let high = head;
  let low = await chain.header(Math.max(0, head.number - 1_000));
  while (low.at >= time && low.number > 0) {
    const perBlock = Math.max(1, (head.at - low.at) / (head.number - low.number));
    high = low;
    low = await chain.header(
      Math.max(0, Math.min(low.number, head.number - Math.ceil((head.at - time) / perBlock)) - 1_000),
    );
  }
  for (let halves = false; high.number - low.number > 1 && low.at < time; halves = !halves) {
    const share = halves ? 0.5 : (time - low.at) / Math.max(1, high.at - low.at);
    const guess = low.number + Math.floor((high.number - low.number) * share);
    const block = await chain.header(Math.min(high.number - 1, Math.max(low.number + 1, guess)));
    if (block.at < time) low = block;
    else high = block;
  }
  return low;
}
