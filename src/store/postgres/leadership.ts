import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import pg from 'pg';
import { type Clock, SECOND } from '../../domain/clock.ts';
import { createLease } from './lease.ts';
import { notifying, openSession, type Session, SILENT_MS } from './session.ts';

/** The lock that the elected process's session holds. */
const LEADER_LOCK = 7_302_102;
/** How often each process looks whether it still is elected, or can be. */
const LOOK_MS = SECOND;
/** The same while an elected process has no session. */
const SOON_MS = SECOND / 4;
/** Without a proof for this long, a process does not count as elected. The server frees its lock later than that. */
const LEASE_MS = SILENT_MS - SECOND;
/** How long an elected process waits for the last transaction of the one before it. */
const HANDOVER_MS = 10 * SECOND;
/** Pause after the work could not begin: another process gets its chance. */
const FAILED_MS = 5 * SECOND;
/** The notice that the lock is free. */
const FREE = 'free';

const HELD = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND (classid, objid, objsubid) = (0, ${LEADER_LOCK}, 1)
  AND pid = pg_backend_pid() AND granted`;
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

type Log = (details: object, message: string) => void;

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
  log: { info: Log; warn: Log; error: Log };
}

/** Whom an election notifies, one call after the other. */
export interface ElectionListener {
  /** This process was elected. When this rejects, another one gets its chance. */
  onElected(term: Term): Promise<void>;
  /** This process is not elected any more; resolves when its work has ended. */
  onEnded(): Promise<void>;
  /** A process has notified all. */
  onNotice(notice: string): void;
}

/** A process among those that share a database. */
export interface Leadership {
  /** Takes part from now on; resolves once a first election is over. */
  begin(listener: ElectionListener): Promise<void>;
  /** Whether this process is elected, and proved it so recently that no other one can be. */
  isElected(): boolean;
  /** How often this process was elected. */
  elections(): number;
  /** Notifies all processes; a notice may get lost. */
  notify(notice: string): void;
  /** From now on this process is not elected again. */
  standDown(): void;
  /** Frees the lock, so that another process is elected at once; to be called when the work has ended. */
  close(): Promise<void>;
}

/** Takes part in the elections of the one process that works. */
export function createLeadership(options: LeadershipOptions): Leadership {
  const { config, clock, log } = options;
  const holder = `${hostname()} ${process.pid} ${randomUUID()}`;
  const lease = createLease(options, LEASE_MS, () => end('the election was not proved in time'));
  let listener: ElectionListener | null = null;
  let term: Term | null = null;
  let elections = 0;
  let session: Session | null = null;
  let isAway = false;
  let mayStand = options.isCandidate;
  /** Its work could not begin a moment ago. */
  let isResting = false;
  /** The work begins or ends. */
  let changing: Promise<void> | null = null;
  const looks = repeat(clock, look, () => (term && !session ? SOON_MS : LOOK_MS));
  const notices = new Set<string>();
  let isNotifying = false;

  async function look(): Promise<void> {
    try {
      session ??= await connect();
      if (term) await prove(session, term);
      else if (mayStand && !isResting && !changing) await stand(session);
      else await session.query('SELECT 1');
      await notifyAll();
      if (isAway) log.info({ election: { holder } }, 'election: the database responds again');
      isAway = false;
    } catch (error) {
      broke(error as Error);
    }
  }

  function connect(): Promise<Session> {
    const onNotice = (notice: string) => (notice === FREE ? looks.now() : listener?.onNotice(notice));
    return openSession(config, { clock, onNotice, onEnd: looks.now });
  }

  /** Gives the session up, and the lock with it: a new session may take it before another process does. */
  function broke({ message }: Error): void {
    drop();
    if (!isAway) log.warn({ election: { holder }, reason: message }, 'election: the database is away');
    isAway = true;
    if (!lease.isProved()) end(message);
  }

  function drop(): void {
    void session?.close().catch(() => undefined);
    session = null;
  }

  async function prove(by: Session, present: Term): Promise<void> {
    const begun = lease.now();
    const [held, mine] = (await by.query(`${LOCK}; ${provingTerm(present)}`)).slice(-2);
    if (mine!.rowCount !== 1) return end('another process was elected');
    // The server has not noticed yet that an earlier session is cut off.
    if (held!.rowCount !== 1) throw new Error('an earlier session still holds the lock');
    if (term) lease.prove(begun);
  }

  async function stand(by: Session): Promise<void> {
    if ((await by.query(LOCK)).at(-1)!.rowCount !== 1) return;
    const begun = lease.now();
    const results = await by.query(
      `BEGIN; SET LOCAL lock_timeout = ${HANDOVER_MS}; ${options.takingWrites};
       INSERT INTO leader (id, generation, holder, since) VALUES (1, 1, ${pg.escapeLiteral(holder)}, ${clock.now()})
       ON CONFLICT (id) DO UPDATE
         SET generation = leader.generation + 1, holder = excluded.holder, since = excluded.since
       RETURNING generation; COMMIT`,
      HANDOVER_MS + SECOND,
    );
    const elected = { generation: Number(results.at(-2)!.rows[0]!.generation), holder };
    term = elected;
    elections++;
    lease.prove(begun);
    log.info({ election: elected }, 'election: this process works from now on');
    change(() => listener!.onElected(elected).catch(failed));
  }

  function failed(error: unknown): void {
    log.error({ err: error, election: { holder } }, 'election: this process was elected and cannot work');
    isResting = true;
    clock.after(FAILED_MS, () => {
      isResting = false;
    });
    end('its work could not begin');
  }

  function end(reason: string): void {
    if (!term) return;
    log.warn({ election: term, reason }, 'election: this process does not work any more');
    term = null;
    lease.end();
    drop();
    change(() => listener!.onEnded());
  }

  /** Begins or ends the work, after the earlier change. */
  function change(step: () => Promise<void>): void {
    const last = (changing ?? Promise.resolve())
      .then(step)
      .catch((error: unknown) => log.error({ err: error }, 'election: the work did not end in order'))
      .finally(() => {
        if (changing === last) changing = null;
      });
    changing = last;
  }

  async function notifyAll(): Promise<void> {
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

  return {
    async begin(given) {
      listener = given;
      looks.now();
      await looks.present();
      await changing;
    },
    isElected: () => term !== null && lease.isProved(),
    elections: () => elections,
    notify(notice) {
      notices.add(notice);
      // What fails is noticed by the next look.
      notifyAll().catch(() => undefined);
    },
    standDown() {
      mayStand = false;
    },
    async close() {
      mayStand = false;
      await looks.stop();
      await changing;
      term = null;
      lease.end();
      const freeing = session?.query(`SELECT pg_advisory_unlock_all(); ${notifying(FREE)}`);
      // When it fails, the server frees the lock.
      await freeing?.catch(() => undefined);
      await session?.close();
    },
  };
}

/** Runs something again and again, one at a time: a while after each, or `now`. */
function repeat(clock: Clock, run: () => Promise<void>, pauseMs: () => number) {
  let present: Promise<void> | null = null;
  let isWanted = false;
  let isStopped = false;
  let cancel = () => {};

  function now(): void {
    isWanted = true;
    if (present || isStopped) return;
    cancel();
    isWanted = false;
    present = run().finally(() => {
      present = null;
      if (isStopped) return;
      if (isWanted) now();
      else cancel = clock.after(pauseMs(), now);
    });
  }

  return {
    now,
    present: () => present,
    async stop(): Promise<void> {
      isStopped = true;
      cancel();
      await present;
    },
  };
}
