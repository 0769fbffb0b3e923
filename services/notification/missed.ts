import { MINUTE } from '../../src/domain/clock.ts';
import { readBlock, readHeader, readReceipts } from '../chain/block.ts';
import { type Node, NodeBusy, type NodeHeader } from '../chain/node.ts';
import { MAX_EMPTY_HEIGHTS } from './store/chain.ts';

/** How long a block that cannot be read may hold up the blocks after it. */
export const MISSED_PATIENCE_MS = 10 * MINUTE;

/** Doubles the distance, then bisects. null where `head` cannot be read either, as at a node that went away. */
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

/** As on Filecoin: the next block continues the one before. null where `first` has a block, or the node does not know. */
export async function lastEmpty(node: Node, first: number): Promise<number | null> {
  const header = (number: number): Promise<NodeHeader | null> => readHeader(node, number).catch(nullUnlessBusy);

  if (first < 1 || (await header(first)) !== null) return null;
  for (let number = first + 1; number <= first + MAX_EMPTY_HEIGHTS; number++) {
    const next = await header(number);
    if (next === null) continue;
    for (let below = first - 1; below >= Math.max(0, first - MAX_EMPTY_HEIGHTS); below--) {
      const before = await header(below);
      if (before !== null) return before.hash.toLowerCase() === next.parentHash.toLowerCase() ? number - 1 : null;
    }
    return null;
  }
  return null;
}

/** Some nodes prune receipts sooner than blocks. */
async function isReadable(node: Node, number: number): Promise<boolean> {
  const block = await readBlock(node, number).catch(nullUnlessBusy);
  if (block === null) return false;
  const hashes = block.transactions.slice(0, 1).map(({ hash }) => hash);
  return (await readReceipts(node, block, hashes).catch(nullUnlessBusy)) !== null;
}

function nullUnlessBusy(error: Error): null {
  if (error instanceof NodeBusy) throw error;
  return null;
}
