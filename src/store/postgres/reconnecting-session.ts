import type pg from 'pg';
import type { Clock } from '../../domain/clock.ts';
import { notifyStatement, openSession, type Session } from './session.ts';

/** Where elections are logged. */
export type ElectionLog = Record<'info' | 'warn' | 'error', (details: object, message: string) => void>;

/** Dependencies and callbacks of a reconnecting session. */
export interface ReconnectingSessionOptions {
  config: pg.ClientConfig;
  clock: Clock;
  log: ElectionLog;
  /** The process, as the log names it. */
  holder: string;
  onNotification(notification: string): void;
  /** The session broke. */
  onEnd(): void;
  /** The database cannot be reached. */
  onAway(): void;
  /** The database can be reached again after a fault. */
  onBack(): void;
}

/** Creates a session that is opened again after it broke, and that sends and receives notifications. */
export function createReconnectingSession({
  config,
  clock,
  log,
  holder,
  onNotification,
  onEnd,
  onAway,
  onBack,
}: ReconnectingSessionOptions) {
  let session: Session | null = null;
  let isAway = false;
  const notifications = new Set<string>();
  let isNotifying = false;

  async function sendNotifications(): Promise<void> {
    if (isNotifying) return;
    isNotifying = true;
    try {
      while (notifications.size > 0 && session) {
        const all = [...notifications].map(notifyStatement);
        notifications.clear();
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
      session ??= await openSession(config, { clock, onNotification, onEnd });
      return session;
    },
    drop,
    sendNotifications,
    /** Notifies all processes, at once if there is a session. */
    notify(notification: string): void {
      notifications.add(notification);
      // A failure is noticed at the next use of the session.
      sendNotifications().catch(() => undefined);
    },
    /** Records that the session was used without a fault. */
    worked(): void {
      if (!isAway) return;
      isAway = false;
      log.info({ election: { holder } }, 'election: the database responds again');
      onBack();
    },
    /** Records that the session could not be opened or used. */
    failed(reason: string): void {
      drop();
      if (isAway) return;
      isAway = true;
      log.warn({ election: { holder }, reason }, 'election: the database cannot be reached');
      onAway();
    },
    /** Frees the session's locks, sends this notification, and ends the session. */
    async close(notification: string): Promise<void> {
      const freeing = session?.query(`SELECT pg_advisory_unlock_all(); ${notifyStatement(notification)}`);
      // When it fails, the server frees the locks.
      await freeing?.catch(() => undefined);
      await session?.close();
    },
  };
}
