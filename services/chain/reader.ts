import { type Clock, inTime, SECOND } from '../../src/domain/clock.ts';
import { type BlockLogs, readBlock, readLogs } from './block.ts';
import type { NodeBlock } from './node.ts';
import type { Nodes } from './nodes.ts';
import type { Profile } from './profiles.ts';
import { type CoinMove, coinMoves, TracesFailed } from './traces.ts';

/** What was read of a block; `moves` is the error where its traces could not be read. */
export interface BlockContents {
  block: NodeBlock;
  logs: BlockLogs;
  moves: CoinMove[] | TracesFailed;
}

/** Reads blocks, several at once, and keeps the results until {@link BlockReader.done}. */
export interface BlockReader {
  /** Reads one block. @throws when the block itself or its logs cannot be read. */
  read(number: number, tracePatienceMs?: number): Promise<BlockContents>;
  /** Starts reading blocks that will be needed soon. */
  prepare(first: number, last: number): void;
  /** Drops the results of a block. */
  done(hash: string): void;
  /** Forgets the prepared blocks: the chain has changed. */
  reset(): void;
}

/** How long a block waits for its traces after everything else was read. */
const TRACE_PATIENCE_MS = 5 * SECOND;
const MAX_KEPT = 64;

interface BlockParts {
  logs?: Promise<BlockLogs>;
  moves?: Promise<CoinMove[]>;
  /** What `moves` resolved with. */
  found?: CoinMove[];
}

type BegunParts = BlockParts & Required<Pick<BlockParts, 'logs' | 'moves'>>;

/** Creates a reader over the nodes of a chain. */
export function createReader(options: { node: Nodes; clock: Clock; profile: () => Profile }): BlockReader {
  const { node, clock, profile } = options;
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

  function begin(block: NodeBlock): BegunParts {
    const known = partsOf(block.hash);
    const { hasUnlistedLogs, coinContract, traces } = profile();
    const forget = (name: keyof BlockParts) => () => {
      delete known[name];
    };
    if (known.logs === undefined) {
      known.logs = readLogs(node, block, hasUnlistedLogs);
      known.logs.catch(forget('logs'));
    }
    if (known.moves === undefined) {
      // Where logs report every payment, nothing is read from traces.
      const isEmpty = block.transactions.length === 0 || coinContract !== null;
      known.moves = isEmpty ? Promise.resolve([]) : coinMoves(node, block, traces);
      known.moves.then((found) => {
        known.found = found;
        if (!isEmpty) areLate = false;
      }, forget('moves'));
    }
    return known as BegunParts;
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
    async read(number, tracePatienceMs) {
      const prepared = blocks.get(number);
      blocks.delete(number);
      const block = await (prepared ?? fresh(number));
      const parts = begin(block);
      const logs = await parts.logs;
      if (areLate && tracePatienceMs === undefined && block.transactions.length > 0) {
        return { block, logs, moves: parts.found ?? tooLate(TRACE_PATIENCE_MS) };
      }
      return { block, logs, moves: await patiently(parts.moves, tracePatienceMs ?? TRACE_PATIENCE_MS) };
    },
    prepare(first, last) {
      for (let number = first; number <= last; number++) {
        if (blocks.has(number)) continue;
        const block = fresh(number);
        blocks.set(number, block);
        // A failure shows when it is this block's turn.
        block.then(begin).catch(() => undefined);
      }
    },
    done(hash) {
      kept.delete(hash);
    },
    reset() {
      blocks.clear();
    },
  };
}

function tooLate(ms: number): TracesFailed {
  return new TracesFailed(`The traces take longer than ${ms} ms`);
}
