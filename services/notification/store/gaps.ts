import type Database from 'better-sqlite3';

/** `traces`: only what contracts paid each other. */
export type GapPart = 'block' | 'traces';

export interface Gap {
  part: GapPart;
  first: number;
  last: number;
  reason: string;
  /** In milliseconds since 1970. */
  since: number;
  attempts: number;
  retryAt: number;
}

const SELECT = 'SELECT part, first, last, reason, since, attempts, retry_at AS retryAt FROM gaps';

export function createGapStore(db: Database.Database) {
  const around = db.prepare<{ part: string; number: number }, Gap>(
    `${SELECT} WHERE part = :part AND first <= :number AND last >= :number`,
  );
  const all = db.prepare<[], Gap>(`${SELECT} ORDER BY part, first`);
  const due = db.prepare<[number], Gap>(`${SELECT} WHERE retry_at <= ? ORDER BY retry_at, part, first LIMIT 1`);
  const insert = db.prepare<Gap>(
    'INSERT OR REPLACE INTO gaps VALUES (:part, :first, :last, :reason, :since, :attempts, :retryAt)',
  );
  const extend = db.prepare('UPDATE gaps SET last = :last, reason = :reason WHERE part = :part AND last = :first - 1');
  const remove = db.prepare<[GapPart, number]>('DELETE FROM gaps WHERE part = ? AND first = ?');
  const removeFrom = db.prepare<[number]>('DELETE FROM gaps WHERE first >= ?');
  const shorten = db.prepare<[number, number]>('UPDATE gaps SET last = ? - 1 WHERE last >= ?');
  const postpone = db.prepare(
    `UPDATE gaps SET attempts = attempts + 1, retry_at = :retryAt, reason = :reason
     WHERE part = :part AND first = :first`,
  );
  const wake = db.prepare<{ part: GapPart | null }>('UPDATE gaps SET retry_at = 0 WHERE :part IS NULL OR part = :part');

  return {
    /** They join a gap that ends right before them. Call in a transaction. */
    add(part: GapPart, first: number, last: number, reason: string, now: number): void {
      if (extend.run({ part, first, last, reason }).changes > 0) return;
      insert.run({ part, first, last, reason, since: now, attempts: 0, retryAt: 0 });
    },
    has: (part: GapPart, number: number): boolean => around.get({ part, number }) !== undefined,
    /** This may leave two gaps. Call in a transaction. */
    close(part: GapPart, number: number): void {
      const gap = around.get({ part, number });
      if (gap === undefined) return;
      remove.run(part, gap.first);
      if (gap.first < number) insert.run({ ...gap, last: number - 1 });
      if (gap.last > number) insert.run({ ...gap, first: number + 1 });
    },
    /** Call in a transaction. */
    cut(next: number): void {
      removeFrom.run(next);
      shorten.run(next, next);
    },
    postpone: ({ part, first }: Gap, retryAt: number, reason: string): void =>
      void postpone.run({ part, first, retryAt, reason }),
    gaps: (): Gap[] => all.all(),
    dueGap: (now: number): Gap | undefined => due.get(now),
    wakeGaps: (part?: GapPart): void => void wake.run({ part: part ?? null }),
  };
}
