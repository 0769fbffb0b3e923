import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { DAY } from '../../../src/domain/clock.ts';
import type { Unreadable } from '../../chain/block.ts';
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
interface BlockMark {
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
  /** Notes what was not known of the chain before. */
  identify(chain: { chainId: string; genesis: string | null }): void;
  /** The hash of the block that was read at a height, if it is remembered and part of the chain. */
  hashAt(number: number): string | undefined;
  /** The newest remembered block at or below a height. */
  rememberedBelow(number: number): { number: number; hash: string } | undefined;
  /** Moves on over blocks in which nobody watches anything. */
  skipTo(nextBlock: number, header: BlockMark): void;
  /**
   * Stores a block's deliveries and then the next place. Returns the deliveries that are new, and null when the next
   * place is another one by now, as after a reorganization.
   */
  record(block: ReadBlock, now: number): Promise<KeptDelivery[] | null>;
  /** Leaves blocks for later and moves on; returns false when the next place is another one by now. */
  miss(first: number, last: number, reason: string, now: number): boolean;
  /** Stores what was missing of a block; returns null when it is no longer missing or the chain has changed. */
  fill(part: GapPart, block: ReadBlock, now: number): Promise<KeptDelivery[] | null>;
  /** Removes blocks above a height; the next block to read follows it. Returns the removed hashes. */
  rewind(number: number): string[];
  countQuarantine(): number;
}

/** How many blocks back a reorganization is followed. */
export const REMEMBERED_BLOCKS = 256;
/** How long deliveries that were given up can be replayed. */
const FAILED_KEPT_MS = 30 * DAY;

/** Creates the scanner's part of the store. */
export function createChainStore(db: Database.Database, deliveries: DeliveryStore): ChainStore {
  const gaps = createGapStore(db);
  const hashAt = db.prepare<[number], { hash: string }>(
    'SELECT hash FROM blocks WHERE number = ? AND is_canonical = 1',
  );
  const remember = db.prepare<[string, number]>(
    'INSERT INTO blocks VALUES (?, ?, 1) ON CONFLICT (hash) DO UPDATE SET is_canonical = 1',
  );
  const state = db.prepare<[], ChainState>(
    'SELECT chain_id AS chainId, genesis, next_block AS nextBlock, told_time AS newestTime FROM chain',
  );
  const move = db.prepare<[number]>('UPDATE chain SET next_block = ?');
  const moveTo = db.prepare<[number, number]>('UPDATE chain SET next_block = ?, told_time = max(told_time, ?)');
  const quarantine = db.prepare(
    `INSERT OR IGNORE INTO quarantine (block_number, block_hash, tx_hash, part, bytes, reason, found_at)
     VALUES (:number, :hash, :txHash, :part, :bytes, :reason, :now)`,
  );

  /** Every 256th block is kept, to recognize the chain after a long outage. */
  const prune = (number: number): void => {
    db.prepare('DELETE FROM blocks WHERE number < ? AND number > ? AND (number % 256 != 0 OR is_canonical = 0)').run(
      number - REMEMBERED_BLOCKS,
      number - 8 * REMEMBERED_BLOCKS,
    );
  };
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
        // In another turn of the loop the chain may have been reorganized.
        if (!isOpen() || (from > 0 && hashAt.get(number)?.hash !== hash)) return false;
        replaceBlock(number, hash);
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
  /** Remembers a block; one that was stored in part at its height, before a kill, has left the chain. */
  const replaceBlock = (number: number, hash: string): void => {
    const other = hashAt.get(number)?.hash;
    if (other === hash) return;
    if (other !== undefined) leave(number, other);
    remember.run(hash, number);
  };
  const leave = (number: number, hash: string): void => {
    db.prepare('UPDATE blocks SET is_canonical = 0 WHERE number = ?').run(number);
    deliveries.orphan(hash);
  };

  return {
    ...gaps,
    state: () => state.get(),
    begin: ({ chainId, genesis, nextBlock, newest }) =>
      db.transaction(() => {
        db.exec('DELETE FROM blocks; DELETE FROM gaps; DELETE FROM tokens; DELETE FROM replays');
        db.prepare('INSERT OR REPLACE INTO chain VALUES (1, ?, ?, ?, 0)').run(chainId, genesis, nextBlock);
        if (nextBlock > newest.number) {
          moveTo.run(nextBlock, newest.time);
          remember.run(newest.hash, newest.number);
        }
      })(),
    identify({ chainId, genesis }) {
      db.prepare('UPDATE chain SET chain_id = coalesce(chain_id, ?), genesis = coalesce(genesis, ?)').run(
        chainId,
        genesis,
      );
    },
    hashAt: (number) => hashAt.get(number)?.hash,
    rememberedBelow: (number) =>
      db
        .prepare<[number], { number: number; hash: string }>(
          'SELECT number, hash FROM blocks WHERE number <= ? AND is_canonical = 1 ORDER BY number DESC LIMIT 1',
        )
        .get(number),
    skipTo: (nextBlock, header) =>
      db.transaction(() => {
        moveTo.run(nextBlock, header.time);
        remember.run(header.hash, header.number);
        prune(header.number);
      })(),
    record: (block, now) =>
      store(block, now, {
        isOpen: () => state.get()?.nextBlock === block.number,
        finish() {
          moveTo.run(block.number + 1, block.time);
          gaps.cut(block.number);
          if (block.tracesMissing !== null) gaps.add('traces', block.number, block.number, block.tracesMissing, now);
          if (block.number % 16 !== 0) return;
          prune(block.number);
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
      const known = hashAt.get(number)?.hash;
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
        const gone = db
          .prepare<[number], { hash: string }>('SELECT hash FROM blocks WHERE number > ? AND is_canonical = 1')
          .all(number)
          .map(({ hash }) => hash);
        db.prepare('UPDATE blocks SET is_canonical = 0 WHERE number > ?').run(number);
        for (const hash of gone) deliveries.orphan(hash);
        move.run(number + 1);
        gaps.cut(number + 1);
        return gone;
      })(),
    countQuarantine: () => db.prepare<[], { count: number }>('SELECT count(*) AS count FROM quarantine').get()!.count,
  };
}
