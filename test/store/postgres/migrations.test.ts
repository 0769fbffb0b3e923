import pg from 'pg';
import { describe, expect, onTestFinished } from 'vitest';
import { connect } from '../../../src/store/postgres/connection.ts';
import { migrate } from '../../../src/store/postgres/open.ts';
import { MIGRATIONS, SCHEMA_VERSION } from '../../../src/store/schema.ts';
import { until } from '../../until.ts';
import { GUILD, NOW, subscribe } from '../contract/given.ts';
import { onPostgres as it } from './on-postgres.ts';
import { openForTest } from './opened.ts';
import { isPostgresMissing } from './server.ts';

/** Two steps that a later version may have. */
const NEXT = [() => 'ALTER TABLE subscriptions ADD COLUMN note TEXT', () => "UPDATE subscriptions SET note = 'kept'"];

async function filled(url: string) {
  const { store, close } = await openForTest(url);
  await subscribe(store);
  await close();
  const connection = connect(url);
  onTestFinished(connection.close);
  const client = new pg.Client(url);
  await client.connect();
  onTestFinished(() => client.end());
  const rows = async (sql: string) => (await client.query(sql)).rows as unknown[];
  return {
    rows,
    version: async () => (await rows("SELECT value FROM meta WHERE key = 'schema-version'"))[0],
    update: (...steps: (() => string)[]) => migrate(connection, 'here', [...MIGRATIONS, ...steps]),
  };
}

describe.skipIf(isPostgresMissing())('a migration on Postgres', () => {
  it('creates the tables once for processes that start at the same time', async ({ url }) => {
    const processes = await Promise.all([openForTest(url), openForTest(url), openForTest(url)]);
    for (const { close } of processes) onTestFinished(close);
    await processes[0]!.store.projects.addToken('token', 0);
    expect(await processes[2]!.store.projects.tokens()).toMatchObject([{ token: 'token' }]);
  });

  it('runs each new step once, and keeps the rows', async ({ url }) => {
    const { rows, version, update } = await filled(url);
    await update(...NEXT);
    expect(await version()).toEqual({ value: String(SCHEMA_VERSION + NEXT.length) });
    const subscriptions = await rows('SELECT guild_id, note FROM subscriptions');
    expect(subscriptions).toEqual([{ guild_id: GUILD, note: 'kept' }]);
    // A second run of the first step would fail.
    await update(...NEXT);
    expect(await rows('SELECT guild_id, note FROM subscriptions')).toEqual(subscriptions);
  });

  it('undoes a step that fails, keeps those before it, and goes on with it at the next start', async ({ url }) => {
    const { rows, version, update } = await filled(url);
    const failing = () => "UPDATE subscriptions SET note = 'half'; UPDATE nothing SET a = 1";
    await expect(update(NEXT[0]!, failing)).rejects.toThrow(/nothing/);
    expect(await version()).toEqual({ value: String(SCHEMA_VERSION + 1) });
    expect(await rows('SELECT note FROM subscriptions')).toEqual([{ note: null }]);
    await update(...NEXT);
    expect(await rows('SELECT note FROM subscriptions')).toEqual([{ note: 'kept' }]);
  });
});

describe.skipIf(isPostgresMissing())('a new database on Postgres', () => {
  it('is analyzed while it grows, before Postgres looks at it by itself', async ({ url }) => {
    const { rows } = await filled(url);
    const { store, close } = await openForTest(url);
    onTestFinished(close);
    const analyzed = async () =>
      (await rows("SELECT 1 FROM pg_stat_user_tables WHERE relname = 'transfers' AND last_analyze IS NOT NULL")).length;
    for (let times = 1; times < 16; times++) await store.chainChecks.setNoticed(NOW);
    expect(await analyzed()).toBe(0);
    await store.chainChecks.setNoticed(NOW);
    await until('the tables are analyzed', async () => (await analyzed()) === 1);
  });
});
