import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import pg from 'pg';
import { type Clock, inTime, SECOND } from '../../domain/clock.ts';
import { LostLockError } from '../../errors.ts';
import type { StoreLog, WorkLock } from '../open.ts';
import { raw } from '../sql.ts';
import { TAKING_WRITES } from './connection.ts';

const WORK_LOCK = 7_302_102;
const POLL_MS = SECOND;
const TIMEOUT_MS = 2 * SECOND;
/** The server ends a session that was silent for this long, and its lock with it: its process sleeps or is cut off. */
const SILENT_MS = 5 * SECOND;
/** Without a proof for this long, a process no longer acts: the server frees its lock later than that. */
const LEASE_MS = SILENT_MS - SECOND;
/** How long a process that got the lock waits for the last transaction of the one before it. */
const HANDOVER_MS = 10 * SECOND;

const HOLDERS = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
  AND (classid, objid, objsubid) = (0, ${WORK_LOCK}, 1)
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
export const IS_WORKING = raw(`SELECT EXISTS (${HOLDERS})`);

const WORKER_KEY = 'worker';

/** `fence` gets the statement that proves, in a write, that this process still works. */
export function createWorkLock({
  config,
  fence,
  clock,
  log,
}: {
  config: pg.ClientConfig;
  fence(proof: string): void;
  clock: Clock;
  log: StoreLog;
}): WorkLock {
  const worker = `${hostname()} ${process.pid} ${randomUUID()}`;
  const proof = `SELECT 1 FROM meta WHERE key = '${WORKER_KEY}' AND value = ${pg.escapeLiteral(worker)}`;
  const lost = Promise.withResolvers<LostLockError>();
  let session: pg.Client | null = null;
  // By both clocks: one does not run while the machine sleeps, the other can be changed.
  let proved: { wall: number; passed: number } | null = null;
  let state: 'waiting' | 'held' | 'over' = 'waiting';
  let isAway = false;
  let cancel = () => {};
  const [acquired, tried] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];

  const moment = () => ({ wall: clock.now(), passed: clock.elapsed() });

  async function query(sql: string, timeoutMs = TIMEOUT_MS) {
    const results = await inTime(session!.query(sql), timeoutMs, clock);
    if (results === null) throw new Error(`the database has not responded for ${timeoutMs / SECOND} s`);
    // The library's types do not know that several statements have several results.
    return [results].flat();
  }

  async function openSession(): Promise<void> {
    const client = new pg.Client({ ...config, connectionTimeoutMillis: TIMEOUT_MS });
    client.on('error', () => undefined);
    await client.connect();
    session = client;
    await query(`SET idle_session_timeout = ${SILENT_MS}`);
  }

  async function tryToAcquire(): Promise<void> {
    try {
      if (!session) await openSession();
      const begun = moment();
      const [tried] = await query(`SELECT pg_try_advisory_lock(${WORK_LOCK}) AS held`);
      if (isAway) log.info({ worker }, 'the database responds again');
      isAway = false;
      if ((tried!.rows[0] as { held: boolean }).held) await begin(begun);
    } catch (error) {
      void session?.end().catch(() => undefined);
      session = null;
      if (!isAway)
        log.warn({ worker, reason: (error as Error).message }, 'the database cannot be reached: waiting for it');
      isAway = true;
    }
    tried.resolve();
    if (state !== 'over') cancel = clock.after(POLL_MS, () => void (state === 'held' ? prove() : tryToAcquire()));
  }

  async function begin(begun: ReturnType<typeof moment>): Promise<void> {
    await query(
      `BEGIN; SET LOCAL lock_timeout = ${HANDOVER_MS}; ${TAKING_WRITES};
       INSERT INTO meta (key, value) VALUES ('${WORKER_KEY}', ${pg.escapeLiteral(worker)})
       ON CONFLICT (key) DO UPDATE SET value = excluded.value; COMMIT`,
      HANDOVER_MS + SECOND,
    );
    if (state === 'over') return;
    state = 'held';
    proved = begun;
    fence(proof);
    log.info({ worker }, 'this process works now');
    acquired.resolve();
  }

  async function prove(): Promise<void> {
    const begun = moment();
    try {
      const [mine] = await query(proof);
      if (mine!.rowCount !== 1) throw new Error('another process works');
      proved = begun;
      if (state === 'held') cancel = clock.after(POLL_MS, () => void prove());
    } catch (error) {
      if (state !== 'held') return;
      state = 'over';
      lost.resolve(new LostLockError(`The lock of the working process is lost: ${(error as Error).message}.`));
    }
  }

  return {
    acquire() {
      void tryToAcquire();
      return acquired.promise;
    },
    tried: tried.promise,
    isHeld() {
      if (state !== 'held' || proved === null) return false;
      const { wall, passed } = moment();
      return Math.max(wall - proved.wall, passed - proved.passed) < LEASE_MS;
    },
    lost: lost.promise,
    async close() {
      state = 'over';
      cancel();
      // A connection that is cut off may never end.
      if (session)
        await inTime(
          session.end().catch(() => undefined),
          TIMEOUT_MS,
          clock,
        );
    },
  };
}
