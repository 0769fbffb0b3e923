import type pg from 'pg';
import type { Clock } from '../../domain/clock.ts';
import { notifying, openSession, type Session } from './session.ts';

/** Where elections are logged. */
export type ElectionLog = Record<'info' | 'warn' | 'error', (details: object, message: string) => void>;

/** Dependencies and callbacks of a link. */
export interface LinkOptions {
  config: pg.ClientConfig;
  clock: Clock;
  log: ElectionLog;
  /** The process, as the log names it. */
  holder: string;
  onNotice(notice: string): void;
  /** The session broke. */
  onEnd(): void;
  /** The database cannot be reached. */
  onAway(): void;
  /** The database can be reached again after a fault. */
  onBack(): void;
}

/** Creates the link of one process to the others: a session, opened again after it broke, and the notices for it. */
export function createLink({ config, clock, log, holder, onNotice, onEnd, onAway, onBack }: LinkOptions) {
  let session: Session | null = null;
  let isAway = false;
  const notices = new Set<string>();
  let isNotifying = false;

  async function sendNotices(): Promise<void> {
    if (isNotifying) return;
    isNotifying = true;
    try {
      while (notices.size > 0 && session) {
        const all = [...notices].map(notifying);
        notices.clear();
        await session.query(all.join('; '));
      }
    } finally {
      isNotifying = false;
    }
  }

  /** Gives the session up, and its locks with it: a new session may take them before another process does. */
  function drop(): void {
    void session?.close().catch(() => undefined);
    session = null;
  }

  return {
    isOpen: (): boolean => session !== null,
    /** The session, which is opened if there is none. */
    async open(): Promise<Session> {
      session ??= await openSession(config, { clock, onNotice, onEnd });
      return session;
    },
    drop,
    sendNotices,
    /** Notifies all processes, at once if there is a session. */
    notify(notice: string): void {
      notices.add(notice);
      // What fails is noticed at the next use of the session.
      sendNotices().catch(() => undefined);
    },
    /** The session was used without a fault. */
    worked(): void {
      if (!isAway) return;
      isAway = false;
      log.info({ election: { holder } }, 'election: the database responds again');
      onBack();
    },
    /** The session could not be opened or used. */
    failed(reason: string): void {
      drop();
      if (isAway) return;
      isAway = true;
      log.warn({ election: { holder }, reason }, 'election: the database cannot be reached');
      onAway();
    },
    /** Frees the session's locks, sends this notice, and ends the session. */
    async close(notice: string): Promise<void> {
      const freeing = session?.query(`SELECT pg_advisory_unlock_all(); ${notifying(notice)}`);
      // When it fails, the server frees the locks.
      await freeing?.catch(() => undefined);
      await session?.close();
    },
  };
}
