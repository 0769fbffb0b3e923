import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DAY } from '../../../src/domain/clock.ts';
import { openPostgresStore } from '../../../src/store/postgres/client.ts';
import type { Cursor, Store } from '../../../src/store/store.ts';
import {
  CHANNEL,
  freeze,
  GUILD,
  keyOf,
  NOW,
  OTHER_CHANNEL,
  post,
  routed,
  send,
  storedTransfer,
  transfer,
  txHash,
} from '../contract/given.ts';
import { isPostgresMissing, type PostgresServer, startPostgres } from './server.ts';

let server: PostgresServer;

/** An empty database, and a connection of the test's own. */
async function open() {
  const url = await server.createDatabase();
  const { store, close } = await openPostgresStore(url);
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(async () => {
    await client.end();
    await close();
  });
  const query = async (sql: string): Promise<unknown[]> =>
    (await client.query<{ v: unknown }>(sql)).rows.map(({ v }) => v);
  return { store, query };
}

async function prune(store: Store, before: number): Promise<void> {
  let at: Cursor<'retention'> | null = null;
  do at = await store.retention.prune(before, at);
  while (at);
}

/** Which of these transfers the router knows. */
async function known(store: Store, numbers: number[]): Promise<string[]> {
  const queries = numbers.map((n) => ({
    transferKey: keyOf(n),
    deliveryKey: keyOf(n),
    scope: 0,
    at: NOW,
    transfer: transfer(n),
  }));
  return (await store.routing.context(queries, NOW)).transfers.map(({ key }) => key).sort();
}

const DAYS = `SELECT count(*)::int AS v FROM pg_class WHERE relkind = 'r' AND relname ~ '^(transfers|deliveries|decisions)_[1-9]'`;
const KEYS = "SELECT encode(key, 'hex') AS v FROM transfer_keys ORDER BY 1";

describe.skipIf(isPostgresMissing())('transfers in a partition per day', () => {
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it('refuses a second transfer with the same key by the engine, on whatever day and however it comes', async () => {
    const { store, query } = await open();
    await store.routing.commit(routed({ transfers: [storedTransfer(1)] }));
    for (const seenAt of [NOW, NOW + 1, NOW - 40 * DAY]) {
      const again = routed({ transfers: [storedTransfer(2, { seenAt }), storedTransfer(1, { seenAt })] });
      await expect(store.routing.commit(again)).rejects.toMatchObject({ code: 'POSTGRES_23505' });
    }
    const [id] = await query('SELECT id AS v FROM transfers');
    await expect(
      query(
        `INSERT INTO transfers SELECT id + 1, key, scope, tx_hash, seen_at, 1, FALSE, data FROM transfers WHERE id = ${String(id)}`,
      ),
    ).rejects.toThrow(/duplicate key .* "transfer_keys_pkey"/);
    expect(await query(KEYS)).toEqual([keyOf(1)]);
  });

  it('deletes a day that is over by dropping its tables, and nothing of a day that is not', async () => {
    const { store, query } = await open();
    const old = NOW - 40 * DAY;
    await post(store, [1, 2], { now: old });
    await send(store, {}, old);
    await post(store, [3], { now: NOW - DAY });
    await send(store, {}, NOW - DAY);
    expect(await query(DAYS)).toEqual([6]);
    await prune(store, old + 1);
    expect(await known(store, [1, 2, 3])).toEqual([keyOf(1), keyOf(2), keyOf(3)]);
    await prune(store, NOW - 30 * DAY);
    expect([await query(DAYS), await query(KEYS), await known(store, [1, 2, 3])]).toEqual([
      [3],
      [keyOf(3)],
      [keyOf(3)],
    ]);
    expect(await query('SELECT count(*)::int AS v FROM alerts')).toEqual([1]);
    // It may come again, and is new then.
    await store.routing.commit(routed({ transfers: [storedTransfer(1)] }));
    expect(await known(store, [1])).toEqual([keyOf(1)]);
  });

  it('keeps of a deleted day what waits or is a dead letter, with its keys and decisions', async () => {
    const { store, query } = await open();
    const old = NOW - 40 * DAY;
    await post(store, [1], { now: old });
    await send(store, {}, old);
    await post(store, [2], { now: old });
    await store.outbox.deadLetter(await freeze(store, { reference: 'second' }, old), 'Too old.', old);
    await post(store, [3], { now: old, channelId: OTHER_CHANNEL });
    for (let hour = 0; hour < 2; hour++) {
      await prune(store, NOW);
      expect([await query(DAYS), await query(KEYS)]).toEqual([[3], [keyOf(2), keyOf(3)]]);
    }
    const histories = await Promise.all([1, 2, 3].map((n) => store.history.transfers(GUILD, txHash(n), null, NOW, 9)));
    expect(
      histories.map(({ first }) => first.map(({ deliveries, decisions }) => [deliveries.length, decisions.length])),
    ).toEqual([[], [[1, 1]], [[1, 1]]]);
    const [letter] = await store.deadLetters.list(9);
    expect(await store.deadLetters.replay(letter!.id, NOW), 'whether the dead letter was there').toBe(true);
    expect(await store.outbox.due(CHANNEL, null, NOW, 0, 9)).toMatchObject([{ transfer: transfer(2) }]);
    await expect(store.routing.commit(routed({ transfers: [storedTransfer(2)] }))).rejects.toMatchObject({
      code: 'POSTGRES_23505',
    });
  });

  it('continues while somebody’s report reads the day that is to be dropped, and drops it at the next pruning', async () => {
    const { store, query } = await open();
    await store.routing.commit(routed({ transfers: [storedTransfer(1, { seenAt: NOW - 40 * DAY })] }));
    await query('BEGIN');
    await query('SELECT FROM transfers');
    await prune(store, NOW - 30 * DAY);
    await query('COMMIT');
    expect(await query(DAYS)).toEqual([3]);
    await prune(store, NOW - 30 * DAY);
    expect(await query(DAYS)).toEqual([0]);
  });

  it('deletes a single transfer’s key, deliveries and decisions with it', async () => {
    const { store, query } = await open();
    await post(store, [1, 2], { scope: 0 });
    await query('DELETE FROM alerts');
    await query(`DELETE FROM transfers WHERE tx_hash = '${txHash(1)}'`);
    expect(await query(KEYS)).toEqual([keyOf(2)]);
    expect(
      await query('SELECT count(*)::int AS v FROM deliveries UNION ALL SELECT count(*)::int FROM decisions'),
    ).toEqual([1, 1]);
  });
});
