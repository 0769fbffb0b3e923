import type { Database } from 'better-sqlite3';

/** What waits, what was set aside and what cannot be told, at one moment. Times in milliseconds since 1970. */
export interface Backlog {
  /** Deliveries that wait for the router. */
  inbox: { waiting: number; oldest: number | null };
  quarantine: { rows: number; bytes: number };
  /**
   * Alerts that wait for their message: `due` now, `held` for a later hour that somebody chose, or kept for a channel
   * that cannot be written to (`closed`). `oldest`: since when the oldest one that is due could have been told.
   */
  alerts: { due: number; held: number; closed: number; oldest: number | null };
  /** Messages that were begun and are not confirmed. */
  frozen: number;
  deadLetters: number;
  channels: { parked: number; paused: number };
}

/** The operator's figures. */
export function figuresTable(db: Database) {
  const inbox = db.prepare<[], Backlog['inbox']>('SELECT count(*) AS waiting, min(received_at) AS oldest FROM inbox');
  const quarantine = db.prepare<[], Backlog['quarantine']>(
    'SELECT count(*) AS rows, coalesce(sum(length(body)), 0) AS bytes FROM quarantine',
  );
  const alerts = db.prepare<{ now: number }, Backlog['alerts']>(
    `SELECT count(*) FILTER (WHERE ready AND due_at <= @now) AS due,
            count(*) FILTER (WHERE ready AND due_at > @now) AS held,
            count(*) FILTER (WHERE NOT ready) AS closed,
            min(max(created_at, due_at)) FILTER (WHERE ready AND due_at <= @now) AS oldest
     FROM (SELECT a.created_at, a.due_at, coalesce(c.state, 'ready') = 'ready' AS ready
           FROM alerts a LEFT JOIN channels c USING (channel_id) WHERE a.state = 'waiting')`,
  );
  const others = db.prepare<[], { frozen: number; deadLetters: number; parked: number; paused: number }>(
    `SELECT (SELECT count(*) FROM batches WHERE state = 'frozen') AS frozen,
            (SELECT count(*) FROM dead_letters) AS deadLetters,
            (SELECT count(*) FROM channels WHERE state = 'parked') AS parked,
            (SELECT count(*) FROM channels WHERE state = 'paused') AS paused`,
  );
  const read = db.transaction((now: number): Backlog => {
    const { frozen, deadLetters, ...channels } = others.get()!;
    return {
      inbox: inbox.get()!,
      quarantine: quarantine.get()!,
      alerts: alerts.get({ now })!,
      frozen,
      deadLetters,
      channels,
    };
  });
  return { backlog: (now: number): Backlog => read(now) };
}
