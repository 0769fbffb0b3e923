import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AddressText } from '../../src/domain/address.ts';
import { type OpenDatabase, openDatabase } from '../../src/store/sqlite/database.ts';
import { openReadings } from '../../src/store/sqlite/readings.ts';
import { openTables } from '../../src/store/sqlite/tables.ts';

const ADDRESS = `0x${'1'.repeat(40)}` as AddressText;
const MINUTE = 60_000;
const wish = { guildId: 'g', channelId: 'c', address: ADDRESS, createdBy: 'u', createdAt: 1 };

let dir: string;
let open: OpenDatabase;
let tables: ReturnType<typeof openTables>;
let id: number;

const reopen = () => {
  open = openDatabase(join(dir, 'test.sqlite'));
  tables = openTables(open.db);
};
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'ledgerbell-rhythms-'));
  reopen();
  id = tables.subscriptions.add(wish, 10).subscription!.id;
});
afterEach(() => {
  open.close();
  rmSync(dir, { recursive: true });
});

/** Commits a transfer that was seen then, with so many decisions about it. */
function decide(at: number, decisions = 1, subscription = id): void {
  const key = at.toString(16).padStart(32, '0');
  const seen = {
    id: null,
    key,
    scope: 0,
    txHash: `0x${key}`,
    seenAt: at,
    count: 1,
    bodies: 1,
    reorganised: false,
    data: '{}',
  };
  const decision = { transferKey: key, guildId: 'g', channelId: 'c', subscription, address: ADDRESS, at };
  tables.routing.commit({
    done: [],
    transfers: [seen],
    deliveries: [],
    alerts: [],
    decisions: Array.from({ length: decisions }, () => ({ ...decision, outcome: 'matched' })),
    quarantined: [],
    changed: [],
    learned: { catalog: [], counterparties: [], nativeSymbol: null, heads: [] },
    now: at,
  });
}

const count = () => {
  while (tables.rhythms.count());
};
const rhythm = () => {
  count();
  return tables.subscriptions.get('g', id);
};
const stored = () => open.db.prepare('SELECT sum(events) FROM rhythms').pluck().get();

it('an event writes no rhythm; whoever reads one has every event in it, once, after an end at any moment too', () => {
  for (const minute of [1, 2, 3]) decide(minute * MINUTE);
  expect(stored()).toBe(0);
  open.close();
  reopen();
  expect(rhythm()).toMatchObject({ events: 3, lastEventAt: 3 * MINUTE, gapMs: MINUTE });
  decide(4 * MINUTE);
  count();
  expect(openReadings(open.db).metrics.guild('g').lastEventAt).toBe(4 * MINUTE);
  expect(tables.subscriptions.list('g')).toMatchObject([{ events: 4 }]);
});

it('many decisions do not wait for somebody who reads: each transaction counts some', () => {
  decide(MINUTE, 2_000);
  expect(stored()).toBe(0);
  decide(2 * MINUTE);
  expect(stored()).toBe(1_000);
  decide(3 * MINUTE);
  decide(4 * MINUTE);
  expect(stored()).toBe(2_000);
  expect(rhythm()).toMatchObject({ events: 2_003, lastEventAt: 4 * MINUTE, gapMs: MINUTE });
});

it('who reads while many are counted has each of them once', () => {
  decide(MINUTE, 2_000);
  decide(2 * MINUTE);
  expect([stored(), rhythm()?.events, stored()]).toEqual([1_000, 2_001, 2_001]);
});

it('who reads lets others write after each thousand, and reading itself writes nothing', () => {
  decide(MINUTE, 2_500);
  expect([tables.subscriptions.list('g')[0]!.events, stored()]).toEqual([0, 0]);
  const steps = Array.from({ length: 4 }, () => [tables.rhythms.count(), stored()]);
  expect(steps).toEqual([
    [true, 1_000],
    [true, 2_000],
    [false, 2_500],
    [false, 2_500],
  ]);
  // What comes meanwhile counts as well.
  decide(2 * MINUTE, 1_500);
  expect(tables.rhythms.count()).toBe(true);
  decide(3 * MINUTE);
  expect(rhythm()).toMatchObject({ events: 4_001, lastEventAt: 3 * MINUTE });
});

it('counting keeps up, however many decisions a transaction makes; it begins later where there are many subscriptions', () => {
  decide(MINUTE, 5_000);
  decide(2 * MINUTE);
  expect(stored()).toBe(1_000);
  decide(3 * MINUTE, 2_000);
  expect(stored()).toBe(5_000);
  decide(4 * MINUTE, 3_000);
  expect(stored()).toBe(7_001);
  open.db.pragma('foreign_keys = OFF');
  open.db.exec('INSERT INTO rhythms (subscription_id) VALUES (200000)');
  for (const minute of [5, 6]) decide(minute * MINUTE, 500);
  expect(stored()).toBe(7_001);
  decide(7 * MINUTE);
  expect(stored()).toBe(8_001);
});

it('an event that comes late or while the clock is behind moves no last one back', () => {
  for (const minute of [3, 2]) decide(minute * MINUTE);
  expect(rhythm()).toMatchObject({ events: 2, lastEventAt: 3 * MINUTE, gapMs: null });
});

it('who reads while nothing can be written has what was counted last', () => {
  decide(MINUTE);
  open.db.exec("CREATE TEMP TRIGGER full BEFORE INSERT ON meta BEGIN SELECT raise(ABORT, 'full'); END");
  expect(rhythm()).toMatchObject({ events: 0, lastEventAt: null });
});

it('counting that was broken off goes on where it was, by an end or by a transaction that failed', () => {
  const other = tables.subscriptions.add({ ...wish, channelId: 'd' }, 10).subscription!.id;
  for (let n = 0; n < 10; n++) decide(MINUTE + n, 100, n % 2 === 0 ? id : other);
  decide(2 * MINUTE, 1_000);
  decide(3 * MINUTE);
  expect(stored()).toBe(1_000);
  open.close();
  reopen();
  open.db.exec("CREATE TEMP TRIGGER broken BEFORE INSERT ON meta BEGIN SELECT raise(ABORT, 'broken off'); END");
  expect(() => decide(4 * MINUTE, 10)).toThrow('broken off');
  open.db.exec('DROP TRIGGER broken');
  decide(5 * MINUTE, 7, other);
  expect(stored()).toBe(2_000);
  count();
  expect(tables.subscriptions.list('g').map(({ events }) => events)).toEqual([1_501, 507]);
});

it('what comes after the latest decisions were forgotten counts', () => {
  decide(MINUTE, 9);
  expect(rhythm()).toMatchObject({ events: 9 });
  open.db.exec('DELETE FROM decisions WHERE id > 4');
  for (const minute of [2, 3]) decide(minute * MINUTE);
  decide(4 * MINUTE, 9);
  expect(rhythm()).toMatchObject({ events: 20 });
});

it('nothing is counted twice when the latest decisions are forgotten while they are counted', () => {
  decide(MINUTE, 2_000);
  decide(2 * MINUTE);
  open.db.exec('DELETE FROM decisions WHERE id > 1500');
  decide(3 * MINUTE, 300);
  decide(4 * MINUTE);
  expect(rhythm()).toMatchObject({ events: 1_801 });
});

it('decisions that bear the numbers of forgotten ones count for their own subscription', () => {
  const other = tables.subscriptions.add({ ...wish, channelId: 'd' }, 10).subscription!.id;
  decide(MINUTE, 2_000);
  for (const minute of [2, 3, 4]) decide(minute * MINUTE);
  expect(rhythm()).toMatchObject({ events: 2_003 });
  open.db.exec('DELETE FROM decisions');
  decide(5 * MINUTE, 2_000, other);
  decide(6 * MINUTE, 1, other);
  count();
  expect(tables.subscriptions.list('g').map(({ events }) => events)).toEqual([2_003, 2_001]);
});

it('a rhythm ends with its subscription', () => {
  decide(MINUTE);
  tables.subscriptions.remove('g', id);
  count();
  expect(stored()).toBeNull();
});
