import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { DAY } from '../../../src/domain/clock.ts';
import type { Unreadable } from '../../chain/block-transfers.ts';
import type { ChainIdentity } from '../../chain/member.ts';
import { type DeliveryStore, type KeptDelivery, type NewDelivery, SLICE } from './deliveries.ts';
import { createGapStore, type GapPart } from './gaps.ts';

/** `genesis` is null where no node had the first block yet. */
export interface ChainState extends ChainIdentity {
  nextBlock: number;
  /** In seconds since 1970. */
  newestTime: number;
}

export interface BlockMark {
  number: number;
  hash: string;
  /** Seconds since 1970. */
  time: number;
}

export interface ReadBlock extends BlockMark {
  deliveries: readonly NewDelivery[];
  unreadable: readonly Unreadable[];
  /** null when its traces were read. */
  tracesMissing: string | null;
}

const REMEMBERED_BLOCKS = 256;
export const MAX_EMPTY_HEIGHTS = 16;
const FAILED_KEPT_MS = 30 * DAY;

export function createChainStore(db: Database.Database, deliveries: DeliveryStore) {
  const gaps = createGapStore(db);
  const blocks = createBlockStore(db, deliveries);
  const state = db.prepare<[], ChainState>(
    'SELECT chain_id AS chainId, genesis, next_block AS nextBlock, newest_time AS newestTime FROM chain',
  );
  const begin = db.prepare('INSERT OR REPLACE INTO chain (one, chain_id, genesis, next_block) VALUES (1, ?, ?, ?)');
  const identify = db.prepare<[string | null]>('UPDATE chain SET genesis = coalesce(genesis, ?)');
  const move = db.prepare<[number]>('UPDATE chain SET next_block = ?');
  const moveTo = db.prepare<[number, number]>('UPDATE chain SET next_block = ?, newest_time = max(newest_time, ?)');
  const quarantine = db.prepare(
    `INSERT OR IGNORE INTO quarantine (block_number, block_hash, tx_hash, part, bytes, reason, found_at)
     VALUES (:number, :hash, :txHash, :part, :bytes, :reason, :now)`,
  );
  const countQuarantine = db.prepare<[], number>('SELECT count(*) FROM quarantine').pluck();

  /** A kill between two transactions repeats nothing: the block is read again, and each event is kept once. */
  async function store(
    { number, hash, deliveries: found, unreadable }: ReadBlock,
    now: number,
    { isOpen, finish }: { isOpen(): boolean; finish(): void },
  ): Promise<KeptDelivery[] | null> {
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
        for (const transfer of unreadable) quarantine.run({ ...transfer, number, hash, now });
        finish();
        return true;
      })();
      if (!isStored) return null;
      if (isLast) return kept;
      await nextTurn();
    }
  }

  /** false when the next place has changed. */
  const pass = (first: number, last: number, note: () => void): boolean =>
    db.transaction(() => {
      if (state.get()?.nextBlock !== first) return false;
      move.run(last + 1);
      note();
      return true;
    })();

  return {
    ...gaps,
    state: (): ChainState | undefined => state.get(),
    begin: ({ chainId, genesis }: ChainIdentity, nextBlock: number, newest: BlockMark): void =>
      db.transaction(() => {
        db.exec('DELETE FROM blocks; DELETE FROM gaps; DELETE FROM tokens; DELETE FROM replays');
        begin.run(chainId, genesis, nextBlock);
        if (nextBlock > newest.number) {
          moveTo.run(nextBlock, newest.time);
          blocks.remember(newest.hash, newest.number);
        }
      })(),
    identify: ({ genesis }: ChainIdentity): void => void identify.run(genesis),
    hashAt: blocks.hashAt,
    rememberedBelow: blocks.rememberedBelow,
    skipTo: (nextBlock: number, header: BlockMark): void =>
      db.transaction(() => {
        moveTo.run(nextBlock, header.time);
        blocks.remember(header.hash, header.number);
        blocks.prune(header.number);
      })(),
    /** Returns the new deliveries; null when the next place has changed, as after a reorganization. */
    record: (block: ReadBlock, now: number) =>
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
    passEmpty: (first: number, last: number): boolean => pass(first, last, () => undefined),
    closeEmpty: (number: number): void => db.transaction(() => gaps.close('block', number))(),
    /** undefined where it is unknown or missing. */
    parentOf(number: number): { number: number; hash: string } | undefined {
      const below = blocks.rememberedBelow(number - 1);
      if (below === undefined || number - below.number > MAX_EMPTY_HEIGHTS + 1) return undefined;
      const isMissing = gaps.gaps().some(({ part, first, last }) => {
        return part === 'block' && first < number && last > below.number;
      });
      return isMissing ? undefined : below;
    },
    miss: (first: number, last: number, reason: string, now: number): boolean =>
      pass(first, last, () => {
        gaps.cut(first);
        gaps.add('block', first, last, reason, now);
      }),
    /** null when the part is no longer missing, or the chain has changed. */
    async fill(part: GapPart, block: ReadBlock, now: number): Promise<KeptDelivery[] | null> {
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
    /** Returns the removed hashes. */
    rewind: (number: number): string[] =>
      db.transaction(() => {
        const gone = blocks.removeAbove(number);
        move.run(number + 1);
        gaps.cut(number + 1);
        return gone;
      })(),
    countQuarantine: (): number => countQuarantine.get()!,
  };
}

/** Call what writes in a transaction. */
function createBlockStore(db: Database.Database, deliveries: Pick<DeliveryStore, 'orphan'>) {
  const hashAt = db.prepare<[number], string>('SELECT hash FROM blocks WHERE number = ? AND is_canonical = 1').pluck();
  const below = db.prepare<[number], { number: number; hash: string }>(
    'SELECT number, hash FROM blocks WHERE number <= ? AND is_canonical = 1 ORDER BY number DESC LIMIT 1',
  );
  const above = db.prepare<[number], string>('SELECT hash FROM blocks WHERE number > ? AND is_canonical = 1').pluck();
  const remember = db.prepare<[string, number]>(
    'INSERT INTO blocks VALUES (?, ?, 1) ON CONFLICT (hash) DO UPDATE SET is_canonical = 1',
  );
  const leave = db.prepare<[string]>('UPDATE blocks SET is_canonical = 0 WHERE hash = ?');
  const prune = db.prepare<[number, number]>(
    'DELETE FROM blocks WHERE number < ? AND number > ? AND (number % 256 != 0 OR is_canonical = 0)',
  );

  function remove(hash: string): void {
    leave.run(hash);
    deliveries.orphan(hash);
  }

  return {
    hashAt: (number: number): string | undefined => hashAt.get(number),
    rememberedBelow: (number: number) => below.get(number),
    remember: (hash: string, number: number): void => void remember.run(hash, number),
    /** Another block at its height, which was stored in part before a kill, has left the chain. */
    replace(number: number, hash: string): void {
      const other = hashAt.get(number);
      if (other === hash) return;
      if (other !== undefined) remove(other);
      remember.run(hash, number);
    },
    removeAbove(number: number): string[] {
      const gone = above.all(number);
      for (const hash of gone) remove(hash);
      return gone;
    },
    /** Every 256th is kept, to recognize the chain after a long outage. */
    prune: (number: number): void => void prune.run(number - REMEMBERED_BLOCKS, number - 8 * REMEMBERED_BLOCKS),
  };
}
