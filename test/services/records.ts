import { readFileSync } from 'node:fs';
import { type Hex, numberToHex, zeroAddress } from 'viem';
import type { NodeBlock, NodeReceipt, NodeTransaction } from '../../services/chain/node.ts';

/**
 * Transactions and blocks of public chains, in the form in which nodes return them. Look them up by their hashes. Fields
 * that nothing reads are left out, and so are transactions of which only the receipt was found.
 */

export type Receipt = NodeReceipt & { from: Hex; to: Hex; blockHash: Hex; blockNumber: Hex; logsBloom: Hex };

function read<Parts>(name: string): Parts {
  return JSON.parse(readFileSync(new URL(`./records/${name}.json`, import.meta.url), 'utf8')) as Parts;
}
const wholeBlock = (name: string) => read<{ block: NodeBlock; receipts: NodeReceipt[] }>(name);
const transaction = (name: string) => read<{ transaction: NodeTransaction }>(name).transaction;
const receipt = (name: string) => read<{ receipt: Receipt }>(name).receipt;
const both = (name: string) => read<{ transaction: NodeTransaction; receipt: Receipt }>(name);

/** Base, block 77976: the second transaction deposits coins of the parent chain for its own sender. */
export const BASE_DEPOSIT = wholeBlock('base-deposit');

/** Base, block 9821446: a deposit that pays another address. */
export const BASE_DEPOSIT_TO_OTHER = transaction('base-deposit-to-other');

/** Arbitrum One, block 116686799: a deposit of coins of the parent chain. */
export const ARBITRUM_DEPOSIT = wholeBlock('arbitrum-deposit');

/** Degen Chain, an Orbit chain of Arbitrum: a retryable is submitted. The transaction’s fields are those in the input of its trace. */
export const DEGEN_RETRYABLE = read<{ transaction: NodeTransaction; trace: object }>('degen-retryable');

/** Degen Chain, block 2767: a retryable is carried out. */
export const DEGEN_RETRY = transaction('degen-retry');

/** Polygon, block 30002112: the logs of its state sync. */
export const POLYGON_STATE_SYNC = receipt('polygon-state-sync');

/** Gnosis, block 32415703: coins are wrapped. */
export const GNOSIS_WRAP = both('gnosis-wrap');

/** Gnosis, block 32414771: coins are unwrapped. */
export const GNOSIS_UNWRAP = both('gnosis-unwrap');

/** OP Mainnet, block 118321538: coins are wrapped. */
export const OP_WRAP = both('op-wrap');

/** OP Mainnet: a token is burned, and the fee includes one for the parent chain. */
export const OP_BURN = receipt('op-burn');

/** Holesky: a transaction with two blobs. */
export const HOLESKY_BLOBS = receipt('holesky-blobs');

/** zkSync Era: four token transfers between the fee and its refund. */
export const ZKSYNC_SWAP = receipt('zksync-swap');

/** zkSync Era, block 16628100: a payment to a contract, which passes most of it on. */
export const ZKSYNC_PAYMENT = receipt('zksync-payment');

/** The test chain of zkSync Era on Goerli, block 7483775: a deposit. That chain has ended. */
export const ZKSYNC_DEPOSIT = receipt('zksync-deposit');

/** HyperEVM, block 39945138, and the first transaction of block 39993158: it is the chain’s own, and its block’s root leaves it out. */
export const HYPEREVM = read<{ block: NodeBlock; own: NodeTransaction }>('hyperevm');

/** Ethereum, block 22263622: its withdrawals, all to one address. */
export const ETHEREUM_WITHDRAWALS = read<{ block: NodeBlock }>('ethereum-withdrawals').block;

/** The transaction of a receipt, with the amount that it carries. What the receipt does not say is made up. */
export function transactionOf(receipt: Receipt, value = 0n): NodeTransaction {
  const { transactionHash: hash, blockHash = null, from = zeroAddress, to = zeroAddress } = receipt as Partial<Receipt>;
  return { hash: hash!, from, to, value: numberToHex(value), nonce: '0x0', gas: '0x0', blockHash, blockNumber: '0x1' };
}

/** A block of whose transactions only these are known. */
export function blockOf(transactions: readonly NodeTransaction[], more: Partial<NodeBlock> = {}): NodeBlock {
  const hash = transactions[0]?.blockHash ?? `0x${'b'.repeat(64)}`;
  const parentHash: Hex = `0x${'a'.repeat(64)}`;
  return { hash, number: '0x1', parentHash, timestamp: '0x1', transactions: [...transactions], ...more };
}
