import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished } from 'vitest';
import type { OpenStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { notice, received } from '../contract/given.ts';
import { layCable } from './cable.ts';
import { onPostgres, postgresOfFile } from './on-postgres.ts';
import { openForTest } from './opened.ts';
import { isPostgresMissing } from './server.ts';

const CERTIFICATES = resolve(import.meta.dirname, '../../receiver/certificates');
const file = (name: string) => readFileSync(join(CERTIFICATES, name), 'utf8');

const deliver = ({ inbox }: Store) => inbox.append([received('{}')]);
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error: { code?: string }) => error.code,
  );

const it = onPostgres.extend('server', { scope: 'file' }, () =>
  postgresOfFile({}, { cert: file('valid.pem'), key: file('server.key') }),
);

describe.skipIf(isPostgresMissing())('faults of Postgres', () => {
  async function open(url: string): Promise<OpenStore> {
    const opened = await openForTest(url);
    onTestFinished(opened.close);
    return opened;
  }

  it('refuses calls while the server is away, and serves them once it is back', async ({ server, url }) => {
    const { store } = await open(url);
    const [id] = await deliver(store);
    server.stop('immediate');
    expect(await codeOf(deliver(store))).toMatch(/^POSTGRES_(UNREACHABLE|57P0\d)$/);
    expect(await codeOf(store.inbox.next(1))).toMatch(/^POSTGRES_(UNREACHABLE|57P0\d)$/);
    await server.start();
    expect((await store.inbox.next(10)).map((row) => row.id)).toEqual([id]);
    expect(await deliver(store)).toHaveLength(1);
  });

  it('gives a call up when the network swallows everything', async ({ server, url }) => {
    const cable = await layCable(server.port);
    onTestFinished(cable.close);
    const { store } = await open(url.replace(`:${server.port}/`, `:${cable.port}/`));
    await deliver(store);
    cable.cut();
    expect(await codeOf(deliver(store))).toBe('POSTGRES_UNREACHABLE');
    cable.mend();
    expect(await deliver(store)).toHaveLength(1);
  });

  it('leaves a server that became a read-only replica, and finds the writable one by its name', async ({ url }) => {
    const { store } = await open(url);
    await deliver(store);
    const name = new URL(url).pathname.slice(1);
    const elsewhere = url.replace(name, 'postgres');
    await administer(elsewhere, `ALTER DATABASE ${name} SET default_transaction_read_only = 'on'`);
    // Its connections were made while it was writable: a failover ends them.
    await administer(elsewhere, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    await codeOf(deliver(store));
    expect(await codeOf(deliver(store))).toBe('POSTGRES_25006');
    await administer(elsewhere, `ALTER DATABASE ${name} RESET default_transaction_read_only`);
    expect(await deliver(store)).toHaveLength(1);
  });

  it('rolls a transaction back whose process sleeps, so that others can write', async ({ url }) => {
    const { store } = await open(url);
    const asleep = new pg.Client(url);
    asleep.on('error', () => undefined);
    await asleep.connect();
    onTestFinished(() => asleep.end().catch(() => undefined));
    await asleep.query(
      "SET idle_in_transaction_session_timeout = '200ms'; BEGIN; SELECT pg_advisory_xact_lock(7302101)",
    );
    await store.channels.postNotice(notice());
    expect(await store.outbox.channelsWithWork()).toHaveLength(1);
  });

  it('verifies the certificate of Postgres', async ({ url }) => {
    const named = url.replace('127.0.0.1', 'localhost');
    expect(await codeOf(openForTest(`${named}?sslmode=verify-full`))).toBe('POSTGRES_TLS');
    const ca = join(CERTIFICATES, 'ca.pem');
    await open(`${named}?sslmode=verify-full&sslrootcert=${ca}`);
    await open(`${named}?sslmode=no-verify`);
  });

  it('refuses an sslmode that would accept any server', async ({ url }) => {
    await expect(openForTest(`${url}?sslmode=prefer`)).rejects.toThrow(/sslmode=prefer does not verify/);
  });

  it('refuses a Postgres database that a newer version wrote', async ({ url }) => {
    await open(url);
    await administer(url, "UPDATE meta SET value = '999' WHERE key = 'schema-version'");
    await expect(openForTest(url)).rejects.toThrow(/newer Ledgerbell \(schema 999/);
  });
});

async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query(sql);
  await client.end();
}
