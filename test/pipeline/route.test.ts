import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import pino from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { InboxRow } from '../../src/domain/inbox.ts';
import { StoreError } from '../../src/errors.ts';
import { startRouter } from '../../src/routing/route.ts';
import { type OpenStore, openStore } from '../../src/store/sqlite/client.ts';
import type { Store } from '../../src/store/store.ts';
import { until } from '../until.ts';
import { payment, TREASURY } from './harness.ts';

let folder: string;
let opened: OpenStore;
let router: ReturnType<typeof startRouter>;
let rows: InboxRow[];
const outcomes = new Map<number, number | null | undefined>();
const routed: number[][] = [];
const told: { channelId: string; guildId?: string }[] = [];
let lookedUp = 0;
let isLocked = false;
let heard = () => {};

/** Resolves with the next look-up or commit of the router. */
const next = () =>
  new Promise<void>((resolve) => {
    heard = resolve;
  });

beforeEach(async () => {
  outcomes.clear();
  routed.length = 0;
  told.length = 0;
  lookedUp = 0;
  isLocked = false;
  folder = mkdtempSync(join(tmpdir(), 'route-'));
  opened = await openStore(join(folder, 'test.sqlite'));
  const { inbox, routing } = opened.store;
  const store = {
    inbox,
    routing: {
      context: async (...asked: Parameters<typeof routing.context>) => {
        const answer = await routing.context(...asked);
        lookedUp++;
        // After the router has gone on with it.
        setImmediate(() => heard());
        if (isLocked) throw new StoreError('database is locked', 'SQLITE_BUSY');
        return answer;
      },
      commit: routing.commit,
    },
  } as unknown as Store;
  router = startRouter({
    store,
    now: () => 1_000,
    log: pino({ level: 'silent' }),
    outcome: (id) => outcomes.get(id),
    catalogue: null,
    nativeSymbol: undefined,
    onLines: (lines) => void told.push(...lines),
    onRouted({ ids }) {
      routed.push(ids);
      heard();
    },
  });
  const bodies = [payment({ value: '1' }), payment({ value: '2' })].map((body) => JSON.stringify(body));
  const ids = await inbox.append(bodies.map((body) => ({ scope: 0, receivedAt: 1_000, body: Buffer.from(body) })));
  rows = bodies.map((body, index) => ({ id: ids[index]!, scope: 0, receivedAt: 1_000, body }));
});
afterEach(async () => {
  vi.useRealTimers();
  await router.close();
  await opened.close();
  rmSync(folder, { recursive: true });
});

it('judges nothing before its answer is over, and looks it up once meanwhile', async () => {
  const [first, second] = rows.map(({ id }) => id);
  outcomes.set(second!, 1_001);
  const looked = next();
  router.nudge(rows);
  await looked;
  for (let n = 0; n < 5; n++) {
    router.nudge();
    await opened.store.inbox.next(0);
  }
  expect(lookedUp).toBe(1);
  expect(routed).toEqual([]);

  outcomes.set(first!, null);
  router.nudge();
  await until(() => routed.length > 0);
  expect(routed).toEqual([[first, second]]);
  expect(await opened.store.inbox.next(1)).toEqual([]);
});

it('routes as far as answers are over, in order', async () => {
  const [first, second] = rows.map(({ id }) => id);
  outcomes.set(first!, 1_001);
  router.nudge(rows);
  await until(() => routed.length > 0);
  expect(routed).toEqual([[first]]);
  expect((await opened.store.inbox.next(10)).map(({ id }) => id)).toEqual([second]);

  outcomes.set(second!, 1_002);
  router.nudge();
  await until(() => routed.length > 1);
  expect(routed).toEqual([[first], [second]]);
});

it('takes the time of an answer that ends while the store is asked', async () => {
  const [first, second] = rows.map(({ id }) => id);
  router.nudge(rows);
  outcomes.set(first!, 1_005);
  outcomes.set(second!, 1_006);
  await until(() => routed.length > 0);
  expect(routed).toEqual([[first, second]]);
  expect(lookedUp).toBe(1);
});

it('takes fewer events at once where very many subscriptions watch, and tells every one of them', async () => {
  const db = new Database(join(folder, 'test.sqlite'));
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
     INSERT INTO subscriptions (guild_id, channel_id, address, created_by, created_at) SELECT i, i, ?, '1', 0 FROM n`,
  ).run(TREASURY);
  const [first, second] = rows.map(({ id }) => id);
  for (const id of [first!, second!]) outcomes.set(id, 1_001);
  router.nudge(rows);
  await until(() => routed.flat().length > 1);
  expect(routed).toEqual([[first], [second]]);
  expect(db.prepare('SELECT count(DISTINCT transfer_id) AS transfers, count(*) AS alerts FROM alerts').get()).toEqual({
    transfers: 2,
    alerts: 6_000,
  });
  db.close();
  const servers = Map.groupBy(told, ({ channelId, guildId }) => `${channelId} of ${guildId}`);
  expect([servers.size, servers.get('3000 of 3000')?.length]).toEqual([3_000, 2]);
});

it('tries again after one pause, however often it was nudged while the store failed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  for (const { id } of rows) outcomes.set(id, null);
  isLocked = true;
  for (let n = 0; n < 3; n++) {
    router.nudge(rows);
    await next();
  }
  expect(vi.getTimerCount()).toBe(1);

  isLocked = false;
  vi.advanceTimersByTime(1_000);
  await until(() => routed.length > 0);
  expect(routed).toEqual([rows.map(({ id }) => id)]);
});
