import { AsyncLocalStorage } from 'node:async_hooks';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BURST_ALERTS } from '../../../src/domain/burst.ts';
import type { OpenStore } from '../../../src/store/open-store.ts';
import { openPostgresStore } from '../../../src/store/postgres/client.ts';
import { connect, type Statements } from '../../../src/store/postgres/connection.ts';
import { openPostgresForCopy } from '../../../src/store/postgres/open-for-copy.ts';
import { openTables } from '../../../src/store/postgres/tables.ts';
import { clientConfig } from '../../../src/store/postgres/url.ts';
import type { Store } from '../../../src/store/store.ts';
import { CHANNEL, keyOf, NOW, next, post, routed, send, storedTransfer, TAKE, transfer } from '../contract/given.ts';
import { storeContract } from '../contract/index.ts';
import { type Columns, compareDeclaredRows, endOfType, type FindDeclared } from '../declared-rows.ts';
import { emptyDatabase, isPostgresMissing, type PostgresServer, startPostgres } from './server.ts';

/**
 * Compares the columns of every statement with the row type that its call declares (`sql.all<Row>(…)`). Many statements
 * are put together when they are called, so the columns are those that the server returned while the contract ran, and
 * a call that never ran fails the test: it needs all tests of this file. Leadership's statements declare no row type, and
 * what `npm run ledgerbell -- check` reads (`examine.ts`) is left out.
 */
const SOURCE = resolve(import.meta.dirname, '../../../src/store/postgres');
/** They run the statements of the other files. */
const RUNNERS = ['connection.ts', 'session.ts'];
const LEFT_OUT = [...RUNNERS, 'examine.ts'];
/** A call that declares its rows, or should; `open-for-copy.ts` also reads rows as plain arrays. */
const CALL = /\.(?:all|get|query)<(?!unknown\[\])/g;

/** A result's columns with the table's column that each is, as `table column` in numbers. */
type Returned = [name: string, of: string][];
/** The results of statements, by the place of their call (`file:line`) and the names of their columns. */
const found = new Map<string, Map<string, Returned>>();
/** The place of the call that waits for a connection. */
const calling = new AsyncLocalStorage<string | undefined>();

/** Where the store calls what is running now, if it waited for nothing since. */
function placeNow(): string | undefined {
  const frames = new Error('here').stack!.split('\n').filter((frame) => !frame.includes('at async '));
  const places = frames.flatMap((frame) => /src\/store\/postgres\/(\S+:\d+):\d+/.exec(frame)?.[1] ?? []);
  return places.find((place) => !RUNNERS.includes(place.split(':')[0]!));
}

/** Opens the store over connections that note where a read was called before it waits for a connection. */
function openNoting(url: string): OpenStore {
  const connection = connect(url);
  const { reads } = connection;
  const noting: Statements = {
    all: (...call) => calling.run(placeNow(), () => reads.all(...call)),
    get: (...call) => calling.run(placeNow(), () => reads.get(...call)),
    run: (...call) => calling.run(placeNow(), () => reads.run(...call)),
  };
  return {
    store: openTables({ ...connection, reads: noting }),
    check: async () => null,
    syncMs: connection.receiveMs,
    close: connection.close,
  };
}

/** Notes the columns of every result from now on. */
function watchResults(): void {
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const place = placeNow() ?? calling.getStore();
    const result = (query as (...all: unknown[]) => unknown).apply(this, args);
    const note = ({ fields }: pg.QueryResult) => {
      const columns = fields.map(({ name, tableID, columnID }): Returned[number] => [name, `${tableID} ${columnID}`]);
      const names = JSON.stringify(columns.map(([name]) => name).sort());
      found.set(place!, (found.get(place!) ?? new Map<string, Returned>()).set(names, columns));
    };
    if (place !== undefined)
      void (result as Promise<pg.QueryResult | pg.QueryResult[]>).then(
        (results) => [results].flat().forEach(note),
        () => undefined,
      );
    return result;
  } as typeof query;
}

/** The places of all calls that declare rows. */
function declaredPlaces(): string[] {
  const files = readdirSync(SOURCE).filter((file) => !LEFT_OUT.includes(file));
  return files.flatMap((file) => {
    const source = readFileSync(join(SOURCE, file), 'utf8');
    return [...source.matchAll(CALL)].map(({ index }) => `${file}:${source.slice(0, index).split('\n').length}`);
  });
}

/** Whether the call on a line is one that returns rows. */
function returnsRows(place: string): boolean {
  const [file, line] = place.split(':');
  const text = readFileSync(join(SOURCE, file!), 'utf8').split('\n')[Number(line) - 1]!;
  return /\.(?:all|get)[<(]/.test(text) || text.search(CALL) !== -1;
}

/** The columns of the database that may be null, as in {@link Returned}. */
async function nullableColumns(url: string): Promise<Set<string>> {
  const client = new pg.Client(clientConfig(url));
  await client.connect();
  const { rows } = await client.query<{ column: string }>(
    `SELECT attrelid || ' ' || attnum AS column FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = current_schema()::regnamespace AND NOT attnotnull`,
  );
  await client.end();
  return new Set(rows.map(({ column }) => column));
}

const findDeclared: FindDeclared = (source, start, columns) => {
  const line = /.*/.exec(source.slice(start).trimStart())![0];
  const call = line.search(CALL);
  if (call === -1 && columns.length === 0) return null;
  if (call === -1) throw new Error(`a statement that returns ${columns.join(', ')} declares no row type.`);
  const from = source.indexOf('<', source.indexOf(line, start) + call) + 1;
  return { from, to: endOfType(source, from) };
};

/** Calls what the contract does not reach: the chain's heads, a burst's digest that changes, and a claim's companions. */
async function callTheRest(store: Store): Promise<void> {
  const heads = [{ scope: 0, block: 1, at: NOW }];
  await store.routing.commit(routed({ learned: { ...routed().learned, heads } }));
  const burst = Array.from({ length: BURST_ALERTS + 1 }, (_, index) => index + 1);
  await post(store, burst);
  await store.outbox.claim(CHANNEL, { ...TAKE, limit: 1 }, NOW);
  await send(store, { kind: 'digest', reason: 'burst' });
  await post(store, [burst.length + 1]);
  await next(store);
  const asked = { transferKey: keyOf(1), deliveryKey: keyOf(1), scope: 0, at: NOW, transfer: transfer(1) };
  const { transfers } = await store.routing.context([asked], NOW);
  const changed = storedTransfer(1, { id: transfers[0]!.id, count: 2 });
  await store.routing.commit(routed({ transfers: [changed], changed: [keyOf(1)] }));
  await next(store);
}

let server: PostgresServer;

describe.skipIf(isPostgresMissing())('Postgres, whose results are watched', () => {
  let url: string | null = null;
  beforeAll(async () => {
    watchResults();
    server = await startPostgres();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const openEmpty = async () => {
    if (url === null) {
      url = await server.createDatabase();
      await (await openPostgresStore(url)).close();
    } else await emptyDatabase(url);
    return openNoting(url);
  };
  storeContract(openEmpty);

  it('declares every statement’s row type with exactly the columns that Postgres returns', async () => {
    const { store, close } = await openEmpty();
    await callTheRest(store);
    await close();
    await using side = await openPostgresForCopy(url!, { isSource: true });
    await side.count('meta');
    await side.setLastIds(await side.lastIds());

    const places = declaredPlaces();
    expect(new Set(places).size, 'calls on lines of their own').toBe(places.length);
    expect(places.length).toBeGreaterThan(120);
    expect(
      places.filter((place) => !found.has(place)),
      'calls that never ran',
    ).toEqual([]);
    const statements = [...found].filter(([place]) => returnsRows(place));
    const varying = statements.filter(([, columns]) => columns.size !== 1);
    expect(varying, 'calls whose statements return different columns').toEqual([]);
    const nullable = await nullableColumns(url!);
    const columnsAt = statements.map(([place, results]) => {
      const [columns] = results.values();
      return [place, Object.fromEntries(columns!.map(([name, of]) => [name, nullable.has(of)])) as Columns] as const;
    });
    const errors = compareDeclaredRows('postgres', Object.fromEntries(columnsAt), findDeclared);
    expect(errors, 'row types that differ from the columns of their statement').toBe('');
  });
});
