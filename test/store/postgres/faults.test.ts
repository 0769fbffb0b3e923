import { readFileSync } from 'node:fs';
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { OpenStore } from '../../../src/store/open.ts';
import type { Store } from '../../../src/store/store.ts';
import { received } from '../contract/given.ts';
import { openForTest } from './opened.ts';
import { isPostgresMissing, type PostgresServer, startPostgres } from './server.ts';

const CERTIFICATES = resolve(import.meta.dirname, '../../receiver/certificates');
const file = (name: string) => readFileSync(join(CERTIFICATES, name), 'utf8');

const deliver = ({ inbox }: Store) => inbox.append([received('{}')]);
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error: { code?: string }) => error.code,
  );

describe.skipIf(isPostgresMissing())('faults of Postgres', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({}, { cert: file('valid.pem'), key: file('server.key') });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function open(url: string): Promise<OpenStore> {
    const opened = await openForTest(url);
    onTestFinished(opened.close);
    return opened;
  }

  it('refuses calls while the server is away, and serves them once it is back', async () => {
    const { store } = await open(await server.createDatabase());
    const [id] = await deliver(store);
    server.stop('immediate');
    expect(await codeOf(deliver(store))).toMatch(/^POSTGRES_(UNREACHABLE|57P0\d)$/);
    expect(await codeOf(store.inbox.next(1))).toMatch(/^POSTGRES_(UNREACHABLE|57P0\d)$/);
    await server.start();
    expect((await store.inbox.next(10)).map((row) => row.id)).toEqual([id]);
    expect(await deliver(store)).toHaveLength(1);
  });

  it('gives a call up when the network swallows everything', async () => {
    const url = new URL(await server.createDatabase());
    const network = await swallowing(server.port);
    url.port = String(network.port);
    const { store } = await open(url.href);
    await deliver(store);
    network.swallow();
    expect(await codeOf(deliver(store))).toBe('POSTGRES_UNREACHABLE');
    network.restore();
    expect(await deliver(store)).toHaveLength(1);
  });

  it('leaves a server that became a read-only replica, and finds the writable one by the same name', async () => {
    const url = await server.createDatabase();
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

  it('rolls a transaction back whose process sleeps, so that others can write', async () => {
    const url = await server.createDatabase();
    const { store } = await open(url);
    const asleep = new pg.Client(url);
    asleep.on('error', () => undefined);
    await asleep.connect();
    onTestFinished(() => asleep.end().catch(() => undefined));
    await asleep.query(
      "SET idle_in_transaction_session_timeout = '200ms'; BEGIN; SELECT pg_advisory_xact_lock(7302101)",
    );
    await store.channels.postNotice({
      guildId: '1',
      channelId: '2',
      nonce: 'n',
      reference: 'r',
      payload: '{}',
      now: 1,
      aboutChannelId: null,
    });
    expect(await store.outbox.channelsWithWork()).toHaveLength(1);
  });

  it('verifies the certificate of Postgres', async () => {
    const url = await server.createDatabase();
    const named = url.replace('127.0.0.1', 'localhost');
    expect(await codeOf(openForTest(`${named}?sslmode=verify-full`))).toBe('POSTGRES_TLS');
    const ca = join(CERTIFICATES, 'ca.pem');
    await open(`${named}?sslmode=verify-full&sslrootcert=${ca}`);
    await open(`${named}?sslmode=no-verify`);
  });

  it('refuses an sslmode that would accept any server', async () => {
    const url = await server.createDatabase();
    await expect(openForTest(`${url}?sslmode=prefer`)).rejects.toThrow(/sslmode=prefer does not verify/);
  });

  it('refuses a Postgres database that a newer version wrote', async () => {
    const url = await server.createDatabase();
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

/** A network to a port, which can swallow every byte without closing a connection. */
async function swallowing(target: number) {
  const open: [Socket, Socket][] = [];
  let isSwallowing = false;
  const proxy = createServer((socket) => {
    const onward = connectTcp(target, '127.0.0.1');
    open.push([socket, onward]);
    const pass = (to: Socket) => (chunk: Buffer) => void (isSwallowing || to.write(chunk));
    socket.on('data', pass(onward));
    onward.on('data', pass(socket));
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      one.on('error', () => undefined);
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const [socket] of open) socket.destroy();
    proxy.close();
  });
  return {
    port: (proxy.address() as { port: number }).port,
    swallow: () => {
      isSwallowing = true;
    },
    restore: () => {
      isSwallowing = false;
    },
  };
}
