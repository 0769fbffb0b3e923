import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { DAY } from '../../../src/domain/clock.ts';
import type { Unreadable } from '../../chain/block-transfers.ts';
import { createBlockStore, REMEMBERED_BLOCKS } from './blocks.ts';
import type { DeliveryStore } from './deliveries.ts';
import { createGapStore, type GapPart, type GapStore } from './gaps.ts';
import { type KeptDelivery, type NewDelivery, SLICE } from './new-deliveries.ts';

/** The chain of this file and the place in it. */
export interface ChainState {
  /** Decimal; null in a file of an older version. */
  chainId: string | null;
  /** Hash of the first block; null where no node had it yet. */
  genesis: string | null;
  nextBlock: number;
  /** Timestamp of the newest block that was read, in seconds since 1970. */
  newestTime: number;
}

/** What is remembered of a block. */
export interface BlockMark {
  number: number;
  hash: string;
  /** Seconds since 1970. */
  time: number;
}

/** A block that was read. */
export interface ReadBlock extends BlockMark {
  deliveries: readonly NewDelivery[];
  unreadable: readonly Unreadable[];
  /** Why its traces come later; null when they were read. */
  tracesMissing: string | null;
}

/** The scanner's part of the store. */
export interface ChainStore extends Omit<GapStore, 'add' | 'has' | 'close' | 'cut'> {
  state(): ChainState | undefined;
  /** Sets the chain and the place in it; forgets which blocks were read. */
  begin(chain: { chainId: string; genesis: string | null; nextBlock: number; newest: BlockMark }): void;
  /** Stores what was not known about the chain before. */
  identify(chain: { chainId: string; genesis: string | null }): void;
  /** The hash of the block that was read at a height, if it is remembered and part of the chain. */
  hashAt(number: number): string | undefined;
  /** The newest remembered block at or below a height. */
  rememberedBelow(number: number): { number: number; hash: string } | undefined;
  /** Moves on over blocks in which nobody watches anything. */
  skipTo(nextBlock: number, header: BlockMark): void;
  /**
   * Stores a block's deliveries and then the next place. Returns the deliveries that are new, or null when the next place
   * has changed, as after a reorganization.
   */
  record(block: ReadBlock, now: number): Promise<KeptDelivery[] | null>;
  /** Leaves blocks for later and moves on; returns false when the next place has changed. */
  miss(first: number, last: number, reason: string, now: number): boolean;
  /** Stores what was missing of a block; returns null when it is no longer missing or the chain has changed. */
  fill(part: GapPart, block: ReadBlock, now: number): Promise<KeptDelivery[] | null>;
  /** Removes blocks above a height; the next block to read follows it. Returns the removed hashes. */
  rewind(number: number): string[];
  countQuarantine(): number;
}

/** How long deliveries that were given up can be replayed. */
const FAILED_KEPT_MS = 30 * DAY;

/** Creates the scanner's part of the store. */
export function createChainStore(db: Database.Database, deliveries: DeliveryStore): ChainStore {
  const gaps = createGapStore(db);
  const blocks = createBlockStore(db, deliveries);
  const state = db.prepare<[], ChainState>(
    'SELECT chain_id AS chainId, genesis, next_block AS nextBlock, newest_time AS newestTime FROM chain',
  );
  const begin = db.prepare('INSERT OR REPLACE INTO chain (one, chain_id, genesis, next_block) VALUES (1, ?, ?, ?)');
  const identify = db.prepare('UPDATE chain SET chain_id = coalesce(chain_id, ?), genesis = coalesce(genesis, ?)');
  const move = db.prepare<[number]>('UPDATE chain SET next_block = ?');
  const moveTo = db.prepare<[number, number]>('UPDATE chain SET next_block = ?, newest_time = max(newest_time, ?)');
  const quarantine = db.prepare(
    `INSERT OR IGNORE INTO quarantine (block_number, block_hash, tx_hash, part, bytes, reason, found_at)
     VALUES (:number, :hash, :txHash, :part, :bytes, :reason, :now)`,
  );

  /**
   * Stores a block's deliveries, many in several transactions, and calls `finish` in the last one. A kill between two
   * repeats nothing: the block is read again, and each event is kept once. Null as soon as `isOpen` returns false.
   */
  const store = async (
    { number, hash, deliveries: found, unreadable }: ReadBlock,
    now: number,
    { isOpen, finish }: { isOpen(): boolean; finish(): void },
  ): Promise<KeptDelivery[] | null> => {
    const kept: KeptDelivery[] = [];
    for (let from = 0; ; from += SLICE) {
      const isLast = from + SLICE >= found.length;
      const isStored = db.transaction(() => {
        // Between two transactions the chain may have been reorganized.
        if (!isOpen() || (from > 0 && blocks.hashAt(number) !== hash)) return false;
        blocks.replace(number, hash);
        kept.push(...deliveries.keep(found.slice(from, from + SLICE)));
        deliveries.prune(state.get()!.nextBlock - REMEMBERED_BLOCKS);
        if (!isLast) return true;
        for (const one of unreadable) quarantine.run({ ...one, number, hash, now });
        finish();
        return true;
      })();
      if (!isStored) return null;
      if (isLast) return kept;
      await nextTurn();
    }
  };

  return {
    ...gaps,
    state: () => state.get(),
    begin: ({ chainId, genesis, nextBlock, newest }) =>
      db.transaction(() => {
        db.exec('DELETE FROM blocks; DELETE FROM gaps; DELETE FROM tokens; DELETE FROM replays');
        begin.run(chainId, genesis, nextBlock);
        if (nextBlock > newest.number) {
          moveTo.run(nextBlock, newest.time);
          blocks.remember(newest.hash, newest.number);
        }
      })(),
    identify: ({ chainId, genesis }) => void identify.run(chainId, genesis),
    hashAt: blocks.hashAt,
    rememberedBelow: blocks.rememberedBelow,
    skipTo: (nextBlock, header) =>
      db.transaction(() => {
        moveTo.run(nextBlock, header.time);
        blocks.remember(header.hash, header.number);
        blocks.prune(header.number);
      })(),
    record: (block, now) =>
      store(block, now, {
        isOpen: () => state.get()?.nextBlock === block.number,
        finish() {
          moveTo.run(block.number + 1, block.time);
          gaps.cut(block.number);
          if (block.tracesMissing !== null) gaps.add('traces', block.number, block.number, block.tracesMissing, now);
          if (block.number % 16 !== 0) return;
          blocks.prune(block.number);
          deliveries.pruneFailed(now - FAILED_KEPT_MS);
        },
      }),
    miss: (first, last, reason, now) =>
      db.transaction(() => {
        if (state.get()?.nextBlock !== first) return false;
        move.run(last + 1);
        gaps.cut(first);
        gaps.add('block', first, last, reason, now);
        return true;
      })(),
    async fill(part, block, now) {
      const { number, hash, tracesMissing } = block;
      const known = blocks.hashAt(number);
      if (part === 'traces' && known !== undefined && known !== hash) return null;
      return await store(block, now, {
        isOpen: () => gaps.has(part, number),
        finish() {
          gaps.close(part, number);
          if (part === 'block' && tracesMissing !== null) gaps.add('traces', number, number, tracesMissing, now);
        },
      });
    },
    rewind: (number) =>
      db.transaction(() => {
        const gone = blocks.removeAbove(number);
        move.run(number + 1);
        gaps.cut(number + 1);
        return gone;
      })(),
    countQuarantine: () => db.prepare<[], { count: number }>('SELECT count(*) AS count FROM quarantine').get()!.count,
  };
}
