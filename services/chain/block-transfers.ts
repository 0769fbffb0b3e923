import { isAddress, isHash } from 'viem';
import type { NodeBlock, NodeLog } from './node.ts';
import type { Profile } from './profiles.ts';
import { type CoinMove, isTraced } from './traces.ts';
import {
  COIN_TOPIC,
  internalTransfer,
  loggedCoins,
  MINT_TOPIC,
  nativeTransfers,
  RECEIVER_TOPIC,
  type Transfer,
  tokenTransfers,
  WRAP_TOPICS,
  withdrawalTransfers,
  wrapTransfers,
} from './transfers.ts';

/** A part of a block that cannot be read; the rest of the block can. */
export interface Unreadable {
  part: 'transaction' | 'log' | 'trace' | 'receipt';
  txHash: string | null;
  /** JSON. */
  bytes: string;
  reason: string;
}

export interface BlockTransfers {
  transfers: Transfer[];
  unreadable: Unreadable[];
}

/** Includes the payments of failed transactions. */
export function outerTransfers(block: NodeBlock, logs: readonly NodeLog[], profile: Profile): BlockTransfers {
  const found: BlockTransfers = { transfers: [], unreadable: [] };
  const hashes = new Set(block.transactions.map(({ hash }) => hash));
  const traced = new Set(block.transactions.filter(isTraced).map(({ hash }) => hash));
  const ownLogs = logs.filter((log) => log?.address?.toLowerCase() === profile.coinContract);
  const logged = new Set(ownLogs.map((log) => log.transactionHash));
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

function transfersOf(log: NodeLog, profile: Profile, hasTrace: boolean): Transfer[] {
  const { coinContract, untracedCoins, bridgedCoins, feeCollectors, wrappers } = profile;
  const address = log.address.toLowerCase();
  const isFee = ({ from, to }: Transfer) =>
    feeCollectors.some((feeCollector) => [from, to].some((two) => two.toLowerCase() === feeCollector));
  const [topic] = log.topics;
  if (topic === COIN_TOPIC) return address === untracedCoins && !hasTrace ? loggedCoins(log) : [];
  if (topic === RECEIVER_TOPIC) return address === bridgedCoins ? loggedCoins(log) : [];
  if (topic === MINT_TOPIC)
    return address === coinContract ? loggedCoins(log).filter((loggedCoin) => !isFee(loggedCoin)) : [];
  if (WRAP_TOPICS.some((known) => known === topic)) {
    return wrappers.some((wrapper) => wrapper === address) ? wrapTransfers(log) : [];
  }
  const transfers = tokenTransfers(log);
  if (coinContract !== address) return transfers;
  return transfers.flatMap((transfer) => {
    if (transfer.kind !== 'erc20' || isFee(transfer) || transfer.value === 0n) return [];
    const { txHash, from, to, value, place } = transfer;
    return [{ kind: 'native' as const, internal: false, txHash, from, to, value, place }];
  });
}

export function innerTransfers(moves: readonly CoinMove[]): BlockTransfers {
  const found: BlockTransfers = { transfers: [], unreadable: [] };
  for (const move of moves) {
    const shown = { ...move, value: move.value.toString() };
    collect(found, 'trace', shown, move.txHash, () => [internalTransfer(move)]);
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

export function unreadableOf(part: Unreadable['part'], source: unknown, txHash: unknown, error: unknown): Unreadable {
  return {
    part,
    txHash: typeof txHash === 'string' ? txHash : null,
    bytes: JSON.stringify(source) ?? 'undefined',
    reason: (error as Error).message.split('\n')[0]!.slice(0, 200),
  };
}
