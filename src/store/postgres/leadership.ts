import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import pg from 'pg';
import { type Clock, SECOND } from '../../domain/clock.ts';
import { createElectedWork } from './elected-work.ts';
import { createLease } from './lease.ts';
import { createPoller } from './poller.ts';
import { createReconnectingSession, type ElectionLog } from './reconnecting-session.ts';
import { type Session, SILENT_MS } from './session.ts';

/** The lock that the elected process's session holds. */
const LEADER_LOCK = 7_302_102;
/** How often each process checks whether it still is elected, or can be. */
const POLL_MS = SECOND;
/** How often an elected process checks while it has no session. */
const RECONNECT_POLL_MS = SECOND / 4;
/** Without a proof for this long, a process does not count as elected. The server frees its lock later than that. */
const LEASE_MS = SILENT_MS - SECOND;
/** How long an elected process waits for the last transaction of the one before it. */
const HANDOVER_MS = 10 * SECOND;
/** The notification that the lock is free. */
const FREE = 'free';

/** The session of the process that works, in a row; no row: none works. */
export const WORKING = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
  AND (classid, objid, objsubid) = (0, ${LEADER_LOCK}, 1)
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
const HELD = `${WORKING} AND pid = pg_backend_pid()`;
/** Takes the lock if it is free and this session does not hold it yet. Returns a row if the session holds it then. */
const LOCK = `SELECT pg_try_advisory_lock(${LEADER_LOCK}) WHERE NOT EXISTS (${HELD}); ${HELD}`;

/** One turn of an elected process: `generation` grows with each election, `holder` is the process. */
export interface Term {
  generation: number;
  holder: string;
}

/** The statement that returns a row as long as no other process was elected. */
export const provingTerm = ({ generation, holder }: Term): string =>
  `SELECT 1 FROM leader WHERE generation = ${generation} AND holder = ${pg.escapeLiteral(holder)}`;

/** What taking part in elections needs. */
export interface LeadershipOptions {
  config: pg.ClientConfig;
  /** The statement that, in a transaction, waits until no other one writes, and keeps new ones waiting. */
  takingWrites: string;
  /** Whether this process may be elected. Otherwise it only notifies and is notified. */
  isCandidate: boolean;
  clock: Clock;
  /** Milliseconds that really passed, since any moment. */
  elapsed(): number;
  log: ElectionLog;
  /** The database cannot be reached. */
  onAway(): void;
  /** The database can be reached again after a fault. */
  onBack(): void;
}

/** The callbacks of an election, called one after the other. */
export interface ElectionListener {
  /** This process was elected. When this rejects, another one gets its chance. */
  onElected(term: Term): Promise<void>;
  /** This process is no longer elected; resolves when its work has ended. */
  onEnded(): Promise<void>;
  /** A process has notified all. */
  onNotification(notification: string): void;
}

/** A process among those that share a database. */
export interface Leadership {
  /** Takes part from now on; resolves once a first election is over. */
  begin(listener: ElectionListener): Promise<void>;
  /** Whether this process is elected, and proved it so recently that no other one can be. */
  isElected(): boolean;
  /** How often this process was elected. */
  elections(): number;
  /** Notifies all processes; a notification may get lost. */
  notify(notification: string): void;
  /** From now on this process is not elected again. */
  standDown(): void;
  /** Frees the lock, so that another process is elected at once; to be called when the work has ended. */
  close(): Promise<void>;
}

/** Takes part in the elections of the one process that works. */
export function createLeadership(options: LeadershipOptions): Leadership {
  const { config, clock, log, takingWrites, onAway, onBack } = options;
  const holder = `${hostname()} ${process.pid} ${randomUUID()}`;
  const lease = createLease(options, LEASE_MS, () => end('the election was not proved in time'));
  const poller = createPoller(clock, check, () => (term && !reconnecting.isOpen() ? RECONNECT_POLL_MS : POLL_MS));
  const onNotification = (notification: string) =>
    notification === FREE ? poller.now() : listener?.onNotification(notification);
  const reconnecting = createReconnectingSession({
    config,
    clock,
    log,
    holder,
    onNotification,
    onEnd: poller.now,
    onAway,
    onBack,
  });
  const work = createElectedWork({ clock, log, holder, onFailed: () => end('its work could not begin') });
  let listener: ElectionListener | null = null;
  let term: Term | null = null;
  let elections = 0;
  let mayStand = options.isCandidate;

  async function check(): Promise<void> {
    try {
      const session = await reconnecting.open();
      if (term) await prove(session, term);
      else if (mayStand && work.isReady()) await stand(session);
      else await session.query('SELECT 1');
      await reconnecting.sendNotifications();
      reconnecting.worked();
    } catch (error) {
      const { message } = error as Error;
      reconnecting.failed(message);
      if (!lease.isProved()) end(message);
    }
  }

  async function prove(session: Session, present: Term): Promise<void> {
    const begun = lease.now();
    const [held, mine] = (await session.query(`${LOCK}; ${provingTerm(present)}`)).slice(-2);
    if (mine!.rowCount !== 1) return end('another process was elected');
    // The server has not noticed yet that an earlier session is cut off.
    if (held!.rowCount !== 1) throw new Error('an earlier session still holds the lock');
    if (term) lease.prove(begun);
  }

  async function stand(session: Session): Promise<void> {
    if ((await session.query(LOCK)).at(-1)!.rowCount !== 1) return;
    const begun = lease.now();
    const elected = await takeTerm(session, holder, { takingWrites, since: clock.now() });
    term = elected;
    elections++;
    lease.prove(begun);
    log.info({ election: elected }, 'election: this process is now the leader');
    work.begin(() => listener!.onElected(elected));
  }

  function end(reason: string): void {
    if (!term) return;
    log.warn({ election: term, reason }, 'election: this process is no longer the leader');
    term = null;
    lease.end();
    reconnecting.drop();
    work.end(() => listener!.onEnded());
  }

  return {
    async begin(given) {
      listener = given;
      poller.now();
      await poller.running();
      await work.changed();
    },
    isElected: () => term !== null && lease.isProved(),
    elections: () => elections,
    notify: reconnecting.notify,
    standDown() {
      mayStand = false;
    },
    async close() {
      mayStand = false;
      await poller.stop();
      await work.changed();
      term = null;
      lease.end();
      await reconnecting.close(FREE);
    },
  };
}

/** Makes this process the holder of a new term, once the transactions of the one before it have ended. */
async function takeTerm(
  session: Session,
  holder: string,
  { takingWrites, since }: { takingWrites: string; since: number },
): Promise<Term> {
  const results = await session.query(
    `BEGIN; SET LOCAL lock_timeout = ${HANDOVER_MS}; ${takingWrites};
     INSERT INTO leader (id, generation, holder, since) VALUES (1, 1, ${pg.escapeLiteral(holder)}, ${since})
     ON CONFLICT (id) DO UPDATE
       SET generation = leader.generation + 1, holder = excluded.holder, since = excluded.since
     RETURNING generation; COMMIT`,
    HANDOVER_MS + SECOND,
  );
  return { generation: Number(results.at(-2)!.rows[0]!.generation), holder };
}
