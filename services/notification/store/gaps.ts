import type Database from 'better-sqlite3';

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

/** What is missing of the chain. */
export interface GapStore {
  /** Adds missing blocks; they join a gap that ends right before them. Call in a transaction. */
  add(part: GapPart, first: number, last: number, reason: string, now: number): void;
  /** Whether a block is in a gap. */
  has(part: GapPart, number: number): boolean;
  /** Takes one block out of its gap, which may leave two. Call in a transaction. */
  close(part: GapPart, number: number): void;
  /** Forgets gaps from a height on. Call in a transaction. */
  cut(next: number): void;
  /** Puts a gap off until `retryAt`. */
  postpone(gap: Gap, retryAt: number, reason: string): void;
  gaps(): Gap[];
  /** The first gap that may be tried now. */
  dueGap(now: number): Gap | undefined;
  /** Lets all gaps, or those of one kind, be tried now. */
  wakeGaps(part?: GapPart): void;
}

/** Creates the part of the store that keeps gaps. */
export function createGapStore(db: Database.Database): GapStore {
  const around = db.prepare<{ part: string; number: number }, Gap>(
    'SELECT *, retry_at AS retryAt FROM gaps WHERE part = :part AND first <= :number AND last >= :number',
  );
  return {
    add(part, first, last, reason, now) {
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
    },
    has: (part, number) => around.get({ part, number }) !== undefined,
    close(part, number) {
      const gap = around.get({ part, number });
      if (gap === undefined) return;
      db.prepare('DELETE FROM gaps WHERE part = ? AND first = ?').run(part, gap.first);
      const again = db.prepare('INSERT INTO gaps VALUES (:part, :first, :last, :reason, :since, :attempts, :retryAt)');
      if (gap.first < number) again.run({ ...gap, last: number - 1 });
      if (gap.last > number) again.run({ ...gap, first: number + 1 });
    },
    cut(next) {
      db.prepare('DELETE FROM gaps WHERE first >= ?').run(next);
      db.prepare('UPDATE gaps SET last = ? - 1 WHERE last >= ?').run(next, next);
    },
    postpone({ part, first }, retryAt, reason) {
      db.prepare('UPDATE gaps SET attempts = attempts + 1, retry_at = ?, reason = ? WHERE part = ? AND first = ?').run(
        retryAt,
        reason,
        part,
        first,
      );
    },
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
  };
}
