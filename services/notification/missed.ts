import { MINUTE } from '../../src/domain/clock.ts';
import { readBlock, readReceipts } from '../chain/block.ts';
import { type Node, NodeBusy } from '../chain/node.ts';

/** How long a block that cannot be read may hold up the blocks after it. */
export const MISSED_PATIENCE_MS = 10 * MINUTE;

/**
 * Finds the last of the blocks from `first` on that cannot be read although the block at `head` can: doubles the
 * distance, then bisects. Returns null where the newest block cannot be read either, as at a node that went away.
 */
export async function findUnreadable(node: Node, first: number, head: number): Promise<number | null> {
  if (!(await isReadable(node, head))) return null;
  let last = first;
  let readable = head;
  for (let step = 1; last + step < readable; step *= 2) {
    if (await isReadable(node, last + step)) readable = last + step;
    else last += step;
  }
  while (readable - last > 1) {
    const between = Math.floor((last + readable) / 2);
    if (await isReadable(node, between)) readable = between;
    else last = between;
  }
  // A node that went away meanwhile returns no block at all.
  return (await isReadable(node, head)) ? last : null;
}

/** Whether the node has a block and its receipts; some prune receipts sooner. */
async function isReadable(node: Node, number: number): Promise<boolean> {
  try {
    const block = await readBlock(node, number);
    const hashes = block.transactions.slice(0, 1).map(({ hash }) => hash);
    await readReceipts(node, block, hashes);
    return true;
  } catch (error) {
    if (error instanceof NodeBusy) throw error;
    return false;
  }
}
