/** Reads from the bot's database what it decided about each transaction. */
import Database from 'better-sqlite3';

const POLL_MS = 300;
const AT_ONCE = 500;

/** The bot's decision about one transfer. */
export interface Routed {
  txHash: string;
  /** When its first alert was made, or null without any. */
  at: number | null;
  /** The decision for each subscription that saw it: `matched`, or the reason that hid it. */
  outcomes: string[];
}

/**
 * Calls the listener with newly routed transfers, oldest first. The file may not exist yet, or be locked.
 *
 * @returns a function that stops it.
 */
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
      // Not there yet, or busy: the next poll finds the same rows.
    }
  };
  const timer = setInterval(look, POLL_MS);
  return () => {
    clearInterval(timer);
    db?.close();
  };
}
