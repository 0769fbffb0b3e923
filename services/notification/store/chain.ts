import type Database from 'better-sqlite3';
import { DAY } from '../../../src/domain/clock.ts';
import type { Unreadable } from '../../chain/block.ts';
import type { DeliveryStore, KeptDelivery, NewDelivery } from './deliveries.ts';

/** The chain of this file and the place in it. */
export interface ChainState {
  /** Decimal; null in a file of an older version. */
  chainId: string | null;
  /** Hash of the first block; null where no node had it yet. */
  genesis: string | null;
  nextBlock: number;
  /** Timestamp of the newest block that was told, in seconds since 1970. */
  toldTime: number;
}

/** What is missing of a block: all of it, or only what contracts paid each other. */
export type GapPart = 'block' | 'traces';

/** Blocks that could not be read, or only in part. */
export interface Gap {
  part: GapPart;
  first: number;
  last: number;
  reason: string;
  /** When it was found, in milliseconds since 1970. */
  since: number;
  attempts: number;
  retryAt: number;
}

/** What is remembered of a block. */
interface BlockMark {
  number: number;
  hash: string;
  /** Seconds since 1970. */
  time: number;
}

/** A block that was read. */
export interface ToldBlock extends BlockMark {
  deliveries: readonly NewDelivery[];
  unreadable: readonly Unreadable[];
  /** Why its traces come later; null when they were read. */
  tracesMissing: string | null;
}

/** The scanner's part of the store. */
export interface ChainStore {
  state(): ChainState | undefined;
  /** Sets the chain and the place in it; forgets which blocks were told. */
  begin(chain: { chainId: string; genesis: string | null; nextBlock: number; newest: BlockMark }): void;
  /** Notes what was not known of the chain before. */
  identify(chain: { chainId: string; genesis: string | null }): void;
  /** The hash of the block that was told at a height, if it is remembered and part of the chain. */
  hashAt(number: number): string | undefined;
  /** The newest remembered block at or below a height. */
  rememberedBelow(number: number): { number: number; hash: string } | undefined;
  /** Moves on over blocks in which nobody watches anything. */
  skipTo(nextBlock: number, header: BlockMark): void;
  /** Stores a block's deliveries and the next place together; returns the deliveries that are new. */
  tell(block: ToldBlock, now: number): KeptDelivery[];
  /** Leaves blocks for later and moves on. */
  miss(first: number, last: number, reason: string, now: number): void;
  /** Stores what was missing of a block; returns null when it is no longer missing or the chain has changed. */
  fill(part: GapPart, block: ToldBlock, now: number): KeptDelivery[] | null;
  /** Puts a gap off until `retryAt`. */
  postpone(gap: Gap, retryAt: number, reason: string): void;
  /** Removes blocks above a height from the chain; the next place is after it. Returns the hashes removed. */
  rewind(number: number): string[];
  gaps(): Gap[];
  /** The first gap that may be tried now. */
  dueGap(now: number): Gap | undefined;
  /** Lets all gaps, or those of one kind, be tried now. */
  wakeGaps(part?: GapPart): void;
  countQuarantine(): number;
}

/** How many blocks back a reorganization is followed. */
export const REMEMBERED_BLOCKS = 256;
/** How long deliveries that were given up can be replayed. */
const FAILED_KEPT_MS = 30 * DAY;

/** Creates the scanner's part of the store. */
export function createChainStore(db: Database.Database, deliveries: DeliveryStore): ChainStore {
  const hashAt = db.prepare<[number], { hash: string }>(
    'SELECT hash FROM blocks WHERE number = ? AND is_canonical = 1',
  );
  const remember = db.prepare<[string, number]>(
    'INSERT INTO blocks VALUES (?, ?, 1) ON CONFLICT (hash) DO UPDATE SET is_canonical = 1',
  );
  const state = db.prepare<[], ChainState>(
    'SELECT chain_id AS chainId, genesis, next_block AS nextBlock, told_time AS toldTime FROM chain',
  );
  const move = db.prepare<[number]>('UPDATE chain SET next_block = ?');
  const moveTo = db.prepare<[number, number]>('UPDATE chain SET next_block = ?, told_time = max(told_time, ?)');
  const aside = db.prepare(
    `INSERT OR IGNORE INTO quarantine (block_number, block_hash, tx_hash, part, bytes, reason, found_at)
     VALUES (:number, :hash, :txHash, :part, :bytes, :reason, :now)`,
  );

  /** One block in this many is remembered for ever, to know the chain again. */
  const prune = (number: number): void => {
    db.prepare('DELETE FROM blocks WHERE number < ? AND number > ? AND (number % 256 != 0 OR is_canonical = 0)').run(
      number - REMEMBERED_BLOCKS,
      number - 8 * REMEMBERED_BLOCKS,
    );
  };
  const addGap = (part: GapPart, first: number, last: number, reason: string, now: number): void => {
    const joined = db
      .prepare('UPDATE gaps SET last = ?, reason = ? WHERE part = ? AND last = ? - 1')
      .run(last, reason, part, first);
    if (joined.changes === 0) {
      db.prepare('INSERT OR REPLACE INTO gaps (part, first, last, reason, since) VALUES (?, ?, ?, ?, ?)').run(
        part,
        first,
        last,
        reason,
        now,
      );
    }
  };
  /** Takes one block out of its gap, which may leave two. */
  const closeGap = (part: GapPart, number: number): boolean => {
    const gap = db
      .prepare<{ part: string; number: number }, Gap>(
        'SELECT *, retry_at AS retryAt FROM gaps WHERE part = :part AND first <= :number AND last >= :number',
      )
      .get({ part, number });
    if (gap === undefined) return false;
    db.prepare('DELETE FROM gaps WHERE part = ? AND first = ?').run(part, gap.first);
    const again = db.prepare('INSERT INTO gaps VALUES (:part, :first, :last, :reason, :since, :attempts, :retryAt)');
    if (gap.first < number) again.run({ ...gap, last: number - 1 });
    if (gap.last > number) again.run({ ...gap, first: number + 1 });
    return true;
  };
  const cutGaps = (next: number): void => {
    db.prepare('DELETE FROM gaps WHERE first >= ?').run(next);
    db.prepare('UPDATE gaps SET last = ? - 1 WHERE last >= ?').run(next, next);
  };
  const store = ({ number, hash, deliveries: found, unreadable }: ToldBlock, now: number): KeptDelivery[] => {
    for (const one of unreadable) aside.run({ ...one, number, hash, now });
    return deliveries.keep(found);
  };

  return {
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
    tell: (block, now) =>
      db.transaction(() => {
        moveTo.run(block.number + 1, block.time);
        cutGaps(block.number);
        remember.run(block.hash, block.number);
        if (block.tracesMissing !== null) addGap('traces', block.number, block.number, block.tracesMissing, now);
        const kept = store(block, now);
        if (block.number % 16 === 0) {
          prune(block.number);
          deliveries.prune(block.number - REMEMBERED_BLOCKS, now - FAILED_KEPT_MS);
        }
        return kept;
      })(),
    miss: (first, last, reason, now) =>
      db.transaction(() => {
        move.run(last + 1);
        cutGaps(first);
        addGap('block', first, last, reason, now);
      })(),
    fill: (part, block, now) =>
      db.transaction(() => {
        const known = hashAt.get(block.number)?.hash;
        const isOther = part === 'traces' && known !== undefined && known !== block.hash;
        if (isOther || !closeGap(part, block.number)) return null;
        if (part === 'block') remember.run(block.hash, block.number);
        if (part === 'block' && block.tracesMissing !== null) {
          addGap('traces', block.number, block.number, block.tracesMissing, now);
        }
        return store(block, now);
      })(),
    postpone({ part, first }, retryAt, reason) {
      db.prepare('UPDATE gaps SET attempts = attempts + 1, retry_at = ?, reason = ? WHERE part = ? AND first = ?').run(
        retryAt,
        reason,
        part,
        first,
      );
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
        cutGaps(number + 1);
        return gone;
      })(),
    gaps: () =>
      db
        .prepare<[], Gap>(
          'SELECT part, first, last, reason, since, attempts, retry_at AS retryAt FROM gaps ORDER BY part, first',
        )
        .all(),
    dueGap: (now) =>
      db
        .prepare<[number], Gap>(
          `SELECT part, first, last, reason, since, attempts, retry_at AS retryAt FROM gaps
           WHERE retry_at <= ? ORDER BY retry_at, part, first LIMIT 1`,
        )
        .get(now),
    wakeGaps(part) {
      if (part === undefined) db.exec('UPDATE gaps SET retry_at = 0');
      else db.prepare('UPDATE gaps SET retry_at = 0 WHERE part = ?').run(part);
    },
    countQuarantine: () => db.prepare<[], { count: number }>('SELECT count(*) AS count FROM quarantine').get()!.count,
  };
}
