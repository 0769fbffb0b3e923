import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/domain/clock.ts';
import { createLeadership, type Leadership, provingTerm, type Term } from '../../../src/store/postgres/leadership.ts';
import { timed } from '../../slowness.ts';
import { until } from '../../until.ts';
import { layCable } from './cable.ts';
import { isPostgresMissing, type PostgresServer, startPostgres } from './server.ts';

let server: PostgresServer;
const WRITES = 7;

/** An empty database of processes. */
async function processes() {
  const url = await server.createDatabase();
  const connect = async () => {
    const client = new pg.Client(url);
    await client.connect();
    onTestFinished(() => client.end());
    return client;
  };
  // One connection for all of them: a test that polls would use up the server's.
  const own = await connect();
  const query = (sql: string) => own.query(sql);
  await query('CREATE TABLE leader (id INT PRIMARY KEY, generation BIGINT, holder TEXT, since BIGINT)');
  const events: string[] = [];

  /** A process that takes part; `via`: the port of a cable. */
  async function join(name: string, { isCandidate = true, via = server.port, fails = false } = {}) {
    const terms: Term[] = [];
    const notifications: string[] = [];
    const leadership = createLeadership({
      config: { connectionString: url.replace(String(server.port), String(via)) },
      takingWrites: `SELECT pg_advisory_xact_lock(${WRITES})`,
      isCandidate,
      clock: systemClock,
      elapsed: () => performance.now(),
      log: { info: () => undefined, warn: () => undefined, error: () => undefined },
      onAway: () => undefined,
      onBack: () => undefined,
    });
    let isClosed = false;
    const close = async () => {
      if (isClosed) return;
      isClosed = true;
      await leadership.close();
    };
    onTestFinished(close);
    await leadership.begin({
      async onElected(term) {
        terms.push(term);
        events.push(`${name} begins`);
        if (fails) throw new Error('no work');
      },
      onEnded: async () => void events.push(`${name} ends`),
      onNotification: (notification) => notifications.push(notification),
    });
    return { leadership, terms, notifications, close };
  }

  return { connect, query, join, events };
}

const elected = (...all: { leadership: Leadership }[]) => all.map(({ leadership }) => leadership.isElected());

describe.skipIf(isPostgresMissing())('leadership', () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('elects one of several processes, and the next one at once when that ends, with a higher generation', async () => {
    const { join, events } = await processes();
    const first = await join('first');
    const second = await join('second');
    const receiver = await join('receiver', { isCandidate: false });
    expect(elected(first, second, receiver)).toEqual([true, false, false]);
    await first.close();
    await until('the second process is elected', () => second.leadership.isElected());
    await second.close();
    expect(events).toEqual(['first begins', 'second begins']);
    expect([...first.terms, ...second.terms].map(({ generation }) => generation)).toEqual([1, 2]);
    expect(elected(first, second, receiver)).toEqual([false, false, false]);
  });

  it('proves a term until another process is elected', async () => {
    const { query, join } = await processes();
    const first = await join('first');
    const isProved = async ({ terms }: typeof first) => (await query(provingTerm(terms[0]!))).rowCount === 1;
    expect(await isProved(first)).toBe(true);
    await first.close();
    expect(await isProved(first)).toBe(true);
    const second = await join('second');
    expect([await isProved(first), await isProved(second)]).toEqual([false, true]);
  });

  it('waits for the transaction in which the process before it still writes', async () => {
    const { connect, query, join, events } = await processes();
    const first = await join('first');
    const client = await connect();
    await client.query(`BEGIN; SELECT pg_advisory_xact_lock(${WRITES})`);
    await first.close();
    const joining = join('second');
    const waits = 'SELECT 1 FROM pg_locks WHERE NOT granted';
    await until('the second process waits for the transaction', async () => (await query(waits)).rowCount === 1);
    expect(events).toEqual(['first begins']);
    expect((await client.query(provingTerm(first.terms[0]!))).rowCount).toBe(1);
    await client.query('COMMIT');
    await joining;
    expect(events).toEqual(['first begins', 'second begins']);
  });

  it('keeps a process elected whose session broke, unless another one was elected meanwhile', async () => {
    const { query, join, events } = await processes();
    const first = await join('first');
    const sessionOf = async () =>
      (await query("SELECT pid FROM pg_locks WHERE locktype = 'advisory'")).rows[0]?.pid as number | undefined;
    const before = await sessionOf();
    await query(`SELECT pg_terminate_backend(${before})`);
    await until('the process has a session again', async () => ![undefined, before].includes(await sessionOf()));
    expect(elected(first)).toEqual([true]);
    expect(events).toEqual(['first begins']);
  });

  it('elects another process within 10 s when one is cut off, once the work of that one has ended', async () => {
    const { join, events } = await processes();
    const cable = await layCable(server.port);
    onTestFinished(cable.close);
    const first = await join('first', { via: cable.port });
    const second = await join('second');
    cable.cut();
    const took = await timed(() => until('the second process is elected', () => second.leadership.isElected()));
    expect(took).toBeLessThan(10_000);
    expect(elected(first)).toEqual([false]);
    cable.mend();
    await second.close();
    await until('the first process is elected again', () => first.leadership.isElected());
    expect(events).toEqual(['first begins', 'first ends', 'second begins', 'first begins']);
  });

  it('elects another process when the work of the elected one cannot begin', async () => {
    const { join, events } = await processes();
    const first = await join('first', { fails: true });
    const second = await join('second');
    await until('the second process is elected', () => second.leadership.isElected());
    expect(events).toEqual(['first begins', 'first ends', 'second begins']);
    expect(first.leadership.elections()).toBe(1);
  });

  it('notifies all processes of a database, also those that are not elected', async () => {
    const { join } = await processes();
    const first = await join('first');
    const second = await join('second');
    const receiver = await join('receiver', { isCandidate: false });
    receiver.leadership.notify('stored');
    await until('every process is notified', () =>
      [first, second, receiver].every(({ notifications }) => notifications.includes('stored')),
    );
  });
});
