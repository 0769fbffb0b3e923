/** Looks into the bot's database, read-only, for what it decided about each transaction. */
import Database from 'better-sqlite3';

const POLL_MS = 300;
const AT_ONCE = 500;

/** What the bot's router made of one transfer. */
export interface Routed {
  txHash: string;
  /** When the bot's clock stood so at its first line; null when it made none. */
  at: number | null;
  /** What it decided for each subscription that saw it: `matched`, or what hid it. */
  outcomes: string[];
}

/** Tells of every newly routed transfer, oldest first; gives back how to stop. The file may come later, or be locked. */
export function watchRouting(file: string, listener: (routed: Routed[]) => void): () => void {
  let last = 0;
  let db: Database.Database | undefined;
  const look = (): void => {
    try {
      db ??= new Database(file, { readonly: true, fileMustExist: true });
      const rows = db
        .prepare<[number, number], { id: number; txHash: string; at: number | null; outcomes: string }>(
          `SELECT id, tx_hash AS txHash, (SELECT min(created_at) FROM alerts WHERE transfer_id = t.id) AS at,
             (SELECT json_group_array(outcome) FROM decisions WHERE transfer_id = t.id) AS outcomes
           FROM transfers t WHERE id > ? ORDER BY id LIMIT ?`,
        )
        .all(last, AT_ONCE);
      last = rows.at(-1)?.id ?? last;
      if (rows.length > 0)
        listener(rows.map(({ txHash, at, outcomes }) => ({ txHash, at, outcomes: JSON.parse(outcomes) as string[] })));
    } catch {
      // Not there yet, or busy: the next look finds the same.
    }
  };
  const timer = setInterval(look, POLL_MS);
  return () => {
    clearInterval(timer);
    db?.close();
  };
}
