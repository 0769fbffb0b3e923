import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AlertTarget } from '../../src/domain/alert.ts';
import type { InboxRow } from '../../src/domain/inbox.ts';
import { StoreError } from '../../src/errors.ts';
import { startRouter } from '../../src/routing/route.ts';
import type { OpenStore } from '../../src/store/open-store.ts';
import { openStore } from '../../src/store/sqlite/client.ts';
import type { Store } from '../../src/store/store.ts';
import { payment, TREASURY } from '../pipeline/harness.ts';

const ROUTED = { timeout: 60_000, interval: 5, message: 'the router did not route these deliveries' };

let folder: string;
let opened: OpenStore;
let router: ReturnType<typeof startRouter>;
let rows: InboxRow[];
/** By delivery, as the receiver knows it: absent while the response is pending. */
const ackedAt = new Map<number, number | null>();
const routed: number[][] = [];
const alerted: AlertTarget[] = [];
let contextReads = 0;
let isLocked = false;
/** How often the context had been read when the router looked whether the receiver is busy. */
const looks: number[] = [];
let isBusy = false;
let beforeCommitResolves = async () => {};
let onContextRead = () => {};

const nextContextRead = () =>
  new Promise<void>((resolve) => {
    onContextRead = resolve;
  });

/** The real store, with a look at its routing group. */
function observed({ inbox, routing }: Store): Store {
  const context: Store['routing']['context'] = async (queries, now) => {
    const read = await routing.context(queries, now);
    contextReads++;
    // After the router has gone on with it.
    setImmediate(() => onContextRead());
    if (isLocked) throw new StoreError('database is locked', 'SQLITE_BUSY');
    return read;
  };
  const commit: Store['routing']['commit'] = async (result) => {
    const edited = await routing.commit(result);
    await beforeCommitResolves();
    return edited;
  };
  return { inbox, routing: { context, commit } } as unknown as Store;
}

beforeEach(async () => {
  ackedAt.clear();
  routed.length = 0;
  alerted.length = 0;
  contextReads = 0;
  isLocked = false;
  looks.length = 0;
  isBusy = false;
  beforeCommitResolves = async () => {};
  folder = mkdtempSync(join(tmpdir(), 'route-'));
  opened = await openStore(join(folder, 'test.sqlite'));
  router = startRouter({
    store: observed(opened.store),
    now: () => 1_000,
    log: pino({ level: 'silent' }),
    ackedAt: (id) => ackedAt.get(id),
    isReceiverBusy() {
      looks.push(contextReads);
      return isBusy;
    },
    operatorProject: null,
    catalog: null,
    nativeSymbol: undefined,
    onAlerts: (targets) => void alerted.push(...targets),
    onRouted: ({ ids }) => void routed.push(ids),
  });
  const bodies = [payment({ value: '1' }), payment({ value: '2' })].map((body) => JSON.stringify(body));
  const deliveries = bodies.map((body) => ({ scope: 0, receivedAt: 1_000, body: Buffer.from(body) }));
  const ids = await opened.store.inbox.append(deliveries);
  rows = bodies.map((body, index) => ({ id: ids[index]!, scope: 0, receivedAt: 1_000, body }));
});
afterEach(async () => {
  vi.useRealTimers();
  await router.close();
  await opened.close();
  rmSync(folder, { recursive: true });
});

/** Watches the treasury in this many channels of one server. */
async function watchIn(channels: number): Promise<void> {
  const added = Array.from({ length: channels }, (_, index) => ({
    channelId: String(index + 1),
    address: TREASURY,
    change: {},
  }));
  const file = { guildId: '1', userId: '1', added, changed: [], labels: [], at: 0 };
  const most = { subscriptions: 10_000, labels: 0 };
  expect(await opened.store.subscriptions.importAll(file, most)).toBe('imported');
}

describe('the router', () => {
  it('decides nothing while the oldest response is pending, and reads the context once meanwhile', async () => {
    const [first, second] = rows.map(({ id }) => id);
    ackedAt.set(second!, 1_001);
    const read = nextContextRead();
    router.wake(rows);
    await read;
    for (let n = 0; n < 5; n++) {
      router.wake();
      await opened.store.inbox.next(0);
    }
    expect(contextReads).toBe(1);
    expect(routed).toEqual([]);

    ackedAt.set(first!, null);
    router.wake();
    await expect.poll(() => routed, ROUTED).toEqual([[first, second]]);
    expect(await opened.store.inbox.next(1)).toEqual([]);
  });

  it('routes deliveries in order, up to the first one whose response is pending', async () => {
    const [first, second] = rows.map(({ id }) => id);
    ackedAt.set(first!, 1_001);
    router.wake(rows);
    await expect.poll(() => routed, ROUTED).toEqual([[first]]);
    expect((await opened.store.inbox.next(10)).map(({ id }) => id)).toEqual([second]);

    ackedAt.set(second!, 1_002);
    router.wake();
    await expect.poll(() => routed, ROUTED).toEqual([[first], [second]]);
  });

  it('waits while the receiver is busy, and routes once it is not', async () => {
    for (const { id } of rows) ackedAt.set(id, 1_001);
    isBusy = true;
    router.wake(rows);
    await expect.poll(() => looks.length, ROUTED).toBeGreaterThan(2);
    expect(looks.slice(0, 3)).toEqual([0, 0, 0]);
    isBusy = false;
    await expect.poll(() => routed, ROUTED).toEqual([rows.map(({ id }) => id)]);
  });

  it('accepts a response that ends while the context is read', async () => {
    const [first, second] = rows.map(({ id }) => id);
    router.wake(rows);
    ackedAt.set(first!, 1_005);
    ackedAt.set(second!, 1_006);
    await expect.poll(() => routed, ROUTED).toEqual([[first, second]]);
    expect(contextReads).toBe(1);
  });

  it('wakes the delivery of alerts only when their commit has resolved', async () => {
    await watchIn(1);
    for (const { id } of rows) ackedAt.set(id, 1_001);
    const alertedBefore: number[] = [];
    beforeCommitResolves = async () => void alertedBefore.push(alerted.length);
    router.wake(rows);
    await expect.poll(() => routed, ROUTED).toHaveLength(1);
    expect(alertedBefore).toEqual([0]);
    expect(alerted.map(({ channelId }) => channelId)).toEqual(['1', '1']);
  });

  it('routes fewer events per commit when thousands of subscriptions match, and alerts every one', async () => {
    await watchIn(3_000);
    const [first, second] = rows.map(({ id }) => id);
    for (const id of [first!, second!]) ackedAt.set(id, 1_001);
    router.wake(rows);
    await expect.poll(() => routed, ROUTED).toEqual([[first], [second]]);
    const { alerts } = await opened.store.metrics.backlog(2_000);
    expect(alerts.due).toBe(6_000);
    const channels = Map.groupBy(alerted, ({ channelId }) => channelId);
    expect([channels.size, channels.get('3000')?.length]).toEqual([3_000, 2]);
  });

  it('retries once after a pause, however often it is woken while the store fails', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    for (const { id } of rows) ackedAt.set(id, null);
    isLocked = true;
    for (let n = 0; n < 3; n++) {
      const read = nextContextRead();
      router.wake(rows);
      await read;
    }
    expect(vi.getTimerCount()).toBe(1);

    isLocked = false;
    vi.advanceTimersByTime(1_000);
    vi.useRealTimers();
    await expect.poll(() => routed, ROUTED).toEqual([rows.map(({ id }) => id)]);
  });
});
