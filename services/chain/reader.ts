import { type Clock, SECOND } from '../../src/domain/clock.ts';
import { type BlockLogs, readBlock, readLogs } from './block.ts';
import type { NodeBlock } from './node.ts';
import type { Nodes } from './nodes.ts';
import type { Profile } from './profiles.ts';
import { type CoinMove, coinMoves, TracesFailed } from './traces.ts';

/** The contents of a block; `moves` is the error if its traces could not be read. */
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

interface Parts {
  logs?: Promise<BlockLogs>;
  moves?: Promise<CoinMove[]>;
  /** What `moves` resolved with. */
  found?: CoinMove[];
}

type BegunParts = Parts & Required<Pick<Parts, 'logs' | 'moves'>>;

/** Creates a reader over the nodes of a chain. */
export function createReader(parts: { node: Nodes; clock: Clock; profile: () => Profile }): BlockReader {
  const { node, clock, profile } = parts;
  const blocks = new Map<number, Promise<NodeBlock>>();
  const kept = new Map<string, Parts>();
  /** Traces took too long, and none has arrived since: blocks do not wait for theirs until one does. */
  let areLate = false;

  const partsOf = (hash: string): Parts => {
    const known = kept.get(hash) ?? {};
    kept.delete(hash);
    kept.set(hash, known);
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
    return known;
  };

  const begin = (block: NodeBlock): BegunParts => {
    const known = partsOf(block.hash);
    const { hasUnlistedLogs, coinContract, traces } = profile();
    const forget = (name: keyof Parts) => () => {
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
  };

  const fresh = async (number: number): Promise<NodeBlock> => {
    const block = await readBlock(node, number, profile());
    await node.confirm(block);
    return block;
  };

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
      return { block, logs, moves: await inTime(parts.moves, tracePatienceMs ?? TRACE_PATIENCE_MS) };
    },
    prepare(first, last) {
      for (let number = first; number <= last; number++) {
        if (blocks.has(number)) continue;
        const block = fresh(number);
        blocks.set(number, block);
        // A failure shows, or is asked for again, when it is this block's turn.
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

  /** The traces go on being read after the patience ends, and are there for the next try. */
  async function inTime(moves: Promise<CoinMove[]>, ms: number): Promise<CoinMove[] | TracesFailed> {
    const late = Promise.withResolvers<TracesFailed>();
    const cancel = clock.after(ms, () => {
      areLate = true;
      late.resolve(tooLate(ms));
    });
    const failed = (error: Error) => (error instanceof TracesFailed ? error : new TracesFailed(error.message));
    return await Promise.race([moves.catch(failed), late.promise]).finally(cancel);
  }
}

function tooLate(ms: number): TracesFailed {
  return new TracesFailed(`The traces take longer than ${ms} ms`);
}
