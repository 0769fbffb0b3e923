import { type Hex, isHex, keccak256 } from 'viem';
import { isProvingRoot, type NodeBlock, type NodeLog } from './node.ts';

/** Whether logs match their block's Bloom filter; `unknown` where this cannot be computed. */
export type Proof = 'proven' | 'contradicted' | 'unknown';

/** Compares all logs of a block with its Bloom filter. */
export function proveLogs(block: NodeBlock, logs: readonly NodeLog[]): Proof {
  if (!hasBloom(block)) return 'unknown';
  // Some chains leave out the logs of transactions that they make themselves, which nobody pays for.
  const paid = new Set(block.transactions.filter((one) => Number(one?.gasPrice ?? 1) !== 0).map(({ hash }) => hash));
  const ofPaid = logs.filter(({ transactionHash }) => paid.has(transactionHash));
  try {
    return [logs, ofPaid].map(bloomOf).includes(BigInt(block.logsBloom)) ? 'proven' : 'contradicted';
  } catch {
    return 'unknown';
  }
}

/** Whether a block carries a usable Bloom filter. Some chains fill every filter with ones, or with zeros if they have no roots. */
export function hasBloom(block: NodeBlock): block is NodeBlock & { logsBloom: Hex } {
  const { logsBloom, receiptsRoot } = block;
  if (!isHex(logsBloom) || logsBloom.length !== 514 || /^0xf+$/i.test(logsBloom)) return false;
  return BigInt(logsBloom) !== 0n || isProvingRoot(receiptsRoot);
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
