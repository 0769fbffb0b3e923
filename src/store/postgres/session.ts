import pg from 'pg';
import { type Clock, inTime, SECOND } from '../../domain/clock.ts';

/** The channel by which the processes of a database wake each other. */
const CHANNEL = 'ledgerbell';
/** How long connecting may take, and statements unless they say otherwise. */
const TIMEOUT_MS = 2 * SECOND;
/** The server ends a session that was silent for this long, and its locks with it: its process sleeps or is cut off. */
export const SILENT_MS = 5 * SECOND;

type Result = pg.QueryResult<Record<string, unknown>>;

/** A connection for session locks and notifications. It has to be used more often than every {@link SILENT_MS}. */
export interface Session {
  /** Runs statements, after those before them; rejects when they fail or take longer than `timeoutMs`. */
  query(sql: string, timeoutMs?: number): Promise<Result[]>;
  close(): Promise<void>;
}

/** Opens a session that gets everything that is notified; `onEnd`: it broke. */
export async function openSession(
  config: pg.ClientConfig,
  { clock, onNotification, onEnd }: { clock: Clock; onNotification(notification: string): void; onEnd(): void },
): Promise<Session> {
  const client = new pg.Client({ ...config, connectionTimeoutMillis: TIMEOUT_MS });
  client.on('error', onEnd);
  client.on('notification', ({ payload = '' }) => onNotification(payload));
  await client.connect();
  let last: Promise<unknown> = Promise.resolve();

  async function run(sql: string, timeoutMs: number): Promise<Result[]> {
    const results = await inTime(client.query<Record<string, unknown>>(sql), timeoutMs, clock);
    if (results === null) throw new Error(`the database has not responded for ${timeoutMs / SECOND} s`);
    // The library's types do not know that several statements have several results.
    return [results].flat();
  }

  const session: Session = {
    query(sql, timeoutMs = TIMEOUT_MS) {
      const behind = last.then(() => run(sql, timeoutMs));
      last = behind.catch(() => undefined);
      return behind;
    },
    // A connection that is cut off may never end.
    close: async () => void (await inTime(client.end(), TIMEOUT_MS, clock)),
  };
  using stack = new DisposableStack();
  stack.defer(() => void session.close());
  await session.query(`SET idle_session_timeout = ${SILENT_MS}; LISTEN ${CHANNEL}`);
  stack.move();
  return session;
}

/** The statement that notifies every process of a database, this one included. */
export const notifyStatement = (notification: string): string => `NOTIFY ${CHANNEL}, ${pg.escapeLiteral(notification)}`;
