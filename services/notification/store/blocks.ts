import type Database from 'better-sqlite3';
import type { DeliveryStore } from './deliveries.ts';

/** How many blocks back a reorganization is followed. */
export const REMEMBERED_BLOCKS = 256;

/** Creates the part of the store that remembers which blocks were read. Calls that write are part of a transaction. */
export function createBlockStore(db: Database.Database, deliveries: Pick<DeliveryStore, 'orphan'>) {
  const hashAt = db.prepare<[number], { hash: string }>(
    'SELECT hash FROM blocks WHERE number = ? AND is_canonical = 1',
  );
  const below = db.prepare<[number], { number: number; hash: string }>(
    'SELECT number, hash FROM blocks WHERE number <= ? AND is_canonical = 1 ORDER BY number DESC LIMIT 1',
  );
  const above = db.prepare<[number], { hash: string }>('SELECT hash FROM blocks WHERE number > ? AND is_canonical = 1');
  const remember = db.prepare<[string, number]>(
    'INSERT INTO blocks VALUES (?, ?, 1) ON CONFLICT (hash) DO UPDATE SET is_canonical = 1',
  );
  const leaveAt = db.prepare<[number]>('UPDATE blocks SET is_canonical = 0 WHERE number = ?');
  const leaveAbove = db.prepare<[number]>('UPDATE blocks SET is_canonical = 0 WHERE number > ?');
  const prune = db.prepare<[number, number]>(
    'DELETE FROM blocks WHERE number < ? AND number > ? AND (number % 256 != 0 OR is_canonical = 0)',
  );

  return {
    /** The hash of the block that was read at a height, if it is remembered and part of the chain. */
    hashAt: (number: number): string | undefined => hashAt.get(number)?.hash,
    /** The newest remembered block at or below a height. */
    rememberedBelow: (number: number): { number: number; hash: string } | undefined => below.get(number),
    remember: (hash: string, number: number): void => void remember.run(hash, number),
    /** Remembers a block. Another one at its height, which was stored in part before a kill, has left the chain. */
    replace(number: number, hash: string): void {
      const other = hashAt.get(number)?.hash;
      if (other === hash) return;
      if (other !== undefined) {
        leaveAt.run(number);
        deliveries.orphan(other);
      }
      remember.run(hash, number);
    },
    /** Removes blocks above a height from the chain; returns their hashes. */
    removeAbove(number: number): string[] {
      const gone = above.all(number).map(({ hash }) => hash);
      leaveAbove.run(number);
      for (const hash of gone) deliveries.orphan(hash);
      return gone;
    },
    /** Forgets blocks far below a height. Every 256th is kept, to recognize the chain after a long outage. */
    prune: (number: number): void => void prune.run(number - REMEMBERED_BLOCKS, number - 8 * REMEMBERED_BLOCKS),
  };
}
