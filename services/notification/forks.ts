import { BlockAbsent, readHeader } from '../chain/block.ts';
import { type NodeHeader, NodeRefused, NodeUnreachable } from '../chain/node.ts';
import type { BlockReader } from '../chain/reader.ts';
import type { ChainCheck } from './chain-check.ts';
import type { Parts } from './parts.ts';

export type Forks = ReturnType<typeof createForks>;

export const RESTART_DEPTH = 256;

export function createForks({ node, store, log }: Parts, reader: BlockReader, check: ChainCheck) {
  /** null where the chain has no block at that height. */
  const hashNow = (number: number): Promise<string | null> =>
    readHeader(node, number).then(
      ({ hash }) => hash,
      (error: Error) => {
        if (error instanceof BlockAbsent || error instanceof NodeRefused) return null;
        throw error;
      },
    );

  function rewind(number: number): void {
    reader.reset();
    const gone = store.chain.rewind(number);
    log.warn({ blockNumber: number, blocks: gone.length }, 'chain reorganized: reading on after this block');
  }

  /** The head, if the node also returns it by its number. @throws otherwise: one wrong response moves nothing. */
  async function verified(head: NodeHeader): Promise<NodeHeader> {
    const header = await readHeader(node, Number(head.number));
    if (header.hash !== head.hash) throw new NodeUnreachable(`The node has two blocks ${Number(head.number)}`);
    return header;
  }

  /** Rewinds to the newest block at or below a height that the chain still has. Returns whether it had to. */
  async function follow(number: number): Promise<boolean> {
    let at = number;
    for (let known = store.chain.hashAt(at); known !== undefined; known = store.chain.hashAt(at)) {
      if ((await hashNow(at)) === known) break;
      at--;
    }
    if (at === number) return false;
    rewind(at);
    return true;
  }

  /** As {@link follow}, from the newest remembered block below. Returns whether the chain still has one. */
  async function followBelow(height: number): Promise<boolean> {
    const newest = store.chain.rememberedBelow(height);
    for (let at = newest; at !== undefined; at = store.chain.rememberedBelow(at.number - 1)) {
      if ((await hashNow(at.number)) !== at.hash) continue;
      if (at.number !== newest!.number) rewind(at.number);
      return true;
    }
    return false;
  }

  return {
    verified,
    follow,
    /** Follows a chain that ends before the next block to read: reorganized, behind, or started over. */
    async lookBehind(head: NodeHeader): Promise<void> {
      const height = Number(head.number);
      const { newestTime, nextBlock: next } = store.chain.state()!;
      const known = store.chain.hashAt(height);
      if (known === head.hash) return;
      if (known !== undefined) {
        await verified(head);
        await follow(height);
        return;
      }
      check.recheck();
      if (await followBelow(height)) return;
      // A node that is behind has old blocks; a chain that started over makes new ones.
      if (Number(head.timestamp ?? 0) <= newestTime) return;
      await verified(head);
      log.error(
        { height, next },
        'the chain started over below the last block read: reading on from its newest blocks',
      );
      rewind(Math.max(-1, height - RESTART_DEPTH));
    },
  };
}
