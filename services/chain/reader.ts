import { type Clock, inTime, SECOND } from '../../src/domain/clock.ts';
import { type BlockLogs, readBlock, readLogs } from './block.ts';
import type { NodeBlock } from './node.ts';
import type { Nodes } from './nodes.ts';
import type { Profile } from './profiles.ts';
import { type CoinMove, coinMoves, TracesFailed } from './traces.ts';

export interface BlockContents {
  block: NodeBlock;
  logs: BlockLogs;
  moves: CoinMove[] | TracesFailed;
}

/** Reads blocks, several at once, and keeps the results until `done`. */
export type BlockReader = ReturnType<typeof createReader>;

/** How long a block waits for its traces after everything else was read. */
const TRACE_PATIENCE_MS = 5 * SECOND;
const MAX_KEPT = 64;

/** A part that failed is missing, and read again. */
interface BlockParts {
  logs?: Promise<BlockLogs> | undefined;
  moves?: Promise<CoinMove[]> | undefined;
  foundMoves?: CoinMove[];
}

export function createReader({ node, clock, profile }: { node: Nodes; clock: Clock; profile: () => Profile }) {
  const blocks = new Map<number, Promise<NodeBlock>>();
  const kept = new Map<string, BlockParts>();
  /** Traces took too long. Until some arrive, blocks do not wait for theirs. */
  let areLate = false;

  function partsOf(hash: string): BlockParts {
    const known = kept.get(hash) ?? {};
    kept.delete(hash);
    kept.set(hash, known);
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
    return known;
  }

  function begin(block: NodeBlock) {
    const parts = partsOf(block.hash);
    const { hasUnlistedLogs, coinContract, traces } = profile();
    const logs = parts.logs ?? readLogs(node, block, hasUnlistedLogs);
    logs.catch(() => {
      parts.logs = undefined;
    });
    // Where logs report every payment, nothing is read from traces.
    const isEmpty = block.transactions.length === 0 || coinContract !== null;
    const moves = parts.moves ?? (isEmpty ? Promise.resolve([]) : coinMoves(node, block, traces));
    Object.assign(parts, { logs, moves });
    moves.then(
      (found) => {
        parts.foundMoves = found;
        if (!isEmpty) areLate = false;
      },
      () => {
        parts.moves = undefined;
      },
    );
    // A part that fails meanwhile leaves `parts`.
    return { parts, logs, moves };
  }

  async function fresh(number: number): Promise<NodeBlock> {
    const block = await readBlock(node, number, profile());
    await node.confirm(block);
    return block;
  }

  /** Waits for traces. After that they are still being read, and are there for the next try. */
  async function patiently(moves: Promise<CoinMove[]>, ms: number): Promise<CoinMove[] | TracesFailed> {
    const failed = (error: Error) => (error instanceof TracesFailed ? error : new TracesFailed(error.message));
    const found = await inTime(moves.catch(failed), ms, clock);
    if (found !== null) return found;
    areLate = true;
    return tooLate(ms);
  }

  return {
    /** @throws when the block itself or its logs cannot be read. */
    async read(number: number, tracePatienceMs?: number): Promise<BlockContents> {
      const prepared = blocks.get(number);
      blocks.delete(number);
      const block = await (prepared ?? fresh(number));
      const reading = begin(block);
      const logs = await reading.logs;
      if (areLate && tracePatienceMs === undefined && block.transactions.length > 0) {
        return { block, logs, moves: reading.parts.foundMoves ?? tooLate(TRACE_PATIENCE_MS) };
      }
      return { block, logs, moves: await patiently(reading.moves, tracePatienceMs ?? TRACE_PATIENCE_MS) };
    },
    prepare(first: number, last: number): void {
      for (let number = first; number <= last; number++) {
        if (blocks.has(number)) continue;
        const block = fresh(number);
        blocks.set(number, block);
        // A failure shows when it is this block's turn.
        block.then(begin).catch(() => undefined);
      }
    },
    done: (hash: string): boolean => kept.delete(hash),
    reset: () => blocks.clear(),
  };
}

function tooLate(ms: number): TracesFailed {
  return new TracesFailed(`The traces take longer than ${ms} ms`);
}
