import { beforeEach, describe, expect, it } from 'vitest';
import type { RoutingResult } from '../../src/domain/routing.ts';
import { StoreError } from '../../src/errors.ts';
import type { Ticket } from '../../src/receiver/admission.ts';
import type { Store } from '../../src/store/store.ts';
import { ALERTS, type Pipeline, payment, startPipeline, TREASURY } from '../pipeline/harness.ts';
import { until } from '../until.ts';

const ROUTED = { timeout: 60_000, interval: 5, message: 'the router did not route these deliveries' };

let bot: Pipeline;
const committed: RoutingResult[] = [];
/** The channels for which the deliverer has asked the store what to send. */
const claimed: string[] = [];
let contextReads = 0;
/** How often the context had been read at each look at the time that has passed. */
const looks: number[] = [];
let isLocked = false;
let isSendingHeld = false;
let beforeAppendResolves = async () => {};
let beforeContextResolves = () => {};
let beforeCommitResolves = async () => {};

/** The real store; notes what the router and the deliverer do with it, and lets a test delay or fail it. */
function observed({ inbox, routing, outbox, ...store }: Store): Store {
  return {
    ...store,
    inbox: {
      ...inbox,
      async append(deliveries) {
        const ids = await inbox.append(deliveries);
        await beforeAppendResolves();
        return ids;
      },
    },
    routing: {
      async context(queries, now) {
        const read = await routing.context(queries, now);
        contextReads++;
        beforeContextResolves();
        if (isLocked) throw new StoreError('database is locked', 'SQLITE_BUSY');
        return read;
      },
      async commit(result) {
        const edited = await routing.commit(result);
        await beforeCommitResolves();
        committed.push(result);
        return edited;
      },
    },
    outbox: {
      ...outbox,
      async claim(channelId, ...rest) {
        claimed.push(channelId);
        if (!isSendingHeld) return outbox.claim(channelId, ...rest);
        return { head: null, next: { status: 'nothing', until: null, change: false, burst: false } };
      },
    },
  };
}

/** The deliveries that left the inbox, commit by commit. */
const routed = () => committed.map(({ done }) => done);

beforeEach(async () => {
  for (const list of [committed, claimed, looks]) list.length = 0;
  contextReads = 0;
  isLocked = isSendingHeld = false;
  beforeAppendResolves = async () => {};
  beforeContextResolves = () => {};
  beforeCommitResolves = async () => {};
  const elapsed = () => {
    looks.push(contextReads);
    return 0;
  };
  bot = await startPipeline({ store: observed, elapsed });
});

/**
 * Stores two payments in one commit. The response to each was written after this many milliseconds (null: never); it is
 * still pending if that is undefined.
 */
async function deliver(...answered: [number | null | undefined, number | null | undefined]) {
  const { intake } = bot.app.internals;
  const stored = answered.map(async (given) => {
    const ticket = intake.admit(0) as Ticket;
    const end = (ms: number | null) => intake.end(ticket, ms === null ? null : ticket.arrivedAt + ms);
    await new Promise<void>((resolve) => {
      intake.store(ticket, Buffer.from(JSON.stringify(payment())), () => {
        if (given !== undefined) end(given);
        resolve();
      });
    });
    return { id: ticket.id!, end };
  });
  const [first, second] = await Promise.all(stored);
  return [first!, second!] as const;
}

/** Watches the treasury in this many channels of one server. */
async function watchIn(channels: number): Promise<void> {
  const added = Array.from({ length: channels }, (_, index) => ({
    channelId: String(index + 1),
    address: TREASURY,
    change: {},
  }));
  const file = { guildId: '1', userId: '1', added, changed: [], labels: [], at: 0 };
  const most = { subscriptions: 10_000, labels: 0 };
  expect(await bot.store.subscriptions.importAll(file, most)).toBe('imported');
}

describe('the router', () => {
  it('decides nothing while the oldest response is pending, and reads the context once meanwhile', async () => {
    const [first, second] = await deliver(undefined, 1);
    await until('the context is read', () => contextReads > 0);
    for (let n = 0; n < 5; n++) {
      // The router is woken every minute, even if nothing came.
      bot.clock.advance(60_000);
      await bot.store.inbox.next(0);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(contextReads).toBe(1);
    expect(routed()).toEqual([]);

    first.end(null);
    await expect.poll(routed, ROUTED).toEqual([[first.id, second.id]]);
    expect(await bot.store.inbox.next(1)).toEqual([]);
  });

  it('decides nothing about a delivery that it can read before the receiver knows that it is stored', async () => {
    let isStored = false;
    const known = Promise.withResolvers<void>();
    beforeAppendResolves = () => {
      isStored = true;
      return known.promise;
    };
    const delivered = deliver(1, 1);
    await until('the deliveries are in the inbox', () => isStored);
    for (let n = 0; n < 5; n++) {
      bot.clock.advance(60_000);
      await bot.store.inbox.next(0);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect([contextReads, routed()]).toEqual([0, []]);

    known.resolve();
    const [first, second] = await delivered;
    await expect.poll(routed, ROUTED).toEqual([[first.id, second.id]]);
  });

  it('routes deliveries in order, up to the first one whose response is pending', async () => {
    const [first, second] = await deliver(1, undefined);
    await expect.poll(routed, ROUTED).toEqual([[first.id]]);
    expect((await bot.store.inbox.next(10)).map(({ id }) => id)).toEqual([second.id]);

    second.end(2);
    await expect.poll(routed, ROUTED).toEqual([[first.id], [second.id]]);
  });

  it('routes nothing while the receiver is busy, and everything once it is not', async () => {
    const { intake } = bot.app.internals;
    // It stays busy for a moment after 64 requests were open at once.
    const tickets = Array.from({ length: 64 }, () => intake.admit(0) as Ticket);
    for (const ticket of tickets) intake.end(ticket, null);
    const [first, second] = await deliver(1, 1);
    // The router has looked at the time once, to see whether that moment is over. From now on nothing else looks.
    looks.length = 0;
    await expect.poll(() => looks.length, ROUTED).toBeGreaterThan(1);
    expect(looks.slice(0, 2)).toEqual([0, 0]);
    bot.jump(25);
    await expect.poll(routed, ROUTED).toEqual([[first.id, second.id]]);
  });

  it('accepts a response that ends while the context is read', async () => {
    const [first, second] = await deliver(undefined, undefined);
    beforeContextResolves = () => {
      first.end(5);
      second.end(6);
    };
    await expect.poll(routed, ROUTED).toEqual([[first.id, second.id]]);
    expect(contextReads).toBe(1);
  });

  it('wakes the delivery of alerts only when their commit has resolved', async () => {
    await bot.watch(TREASURY, ALERTS);
    const claimedBefore: string[][] = [];
    beforeCommitResolves = async () => {
      for (let n = 0; n < 3; n++) await bot.store.outbox.channelsWithWork();
      claimedBefore.push([...claimed]);
    };
    await deliver(1, 1);
    await expect.poll(routed, ROUTED).toHaveLength(1);
    expect(claimedBefore).toEqual([[]]);
    await bot.turnUntilSettled();
    expect([new Set(claimed), bot.alerts(ALERTS).length]).toEqual([new Set([ALERTS]), 2]);
  });

  it('routes fewer events per commit when thousands of subscriptions match, and alerts every one', async () => {
    await watchIn(3_000);
    isSendingHeld = true;
    const [first, second] = await deliver(1, 1);
    await expect.poll(routed, ROUTED).toEqual([[first.id], [second.id]]);
    expect((await bot.backlog()).alerts.due).toBe(6_000);
    const channels = Map.groupBy(
      committed.flatMap(({ alerts }) => alerts),
      ({ channelId }) => channelId,
    );
    expect([channels.size, channels.get('3000')?.length]).toEqual([3_000, 2]);
    await expect.poll(() => new Set(claimed).size, ROUTED).toBe(3_000);
  });

  /** The store answers in order, so the reads of a router that was woken have failed after some reads of others. */
  async function everyReadHasFailed(): Promise<void> {
    let before: number;
    do {
      before = contextReads;
      for (let n = 0; n < 20; n++) await bot.store.inbox.next(0);
    } while (contextReads > before);
  }

  it('retries a failed read once after a pause, however often the router is woken meanwhile', async () => {
    isLocked = true;
    const ids: number[] = [];
    for (let time = 1; time <= 3; time++) {
      const before = contextReads;
      ids.push(...(await deliver(1, 1)).map(({ id }) => id));
      await until('the context is read', () => contextReads > before);
    }
    await everyReadHasFailed();
    await until('the retry is planned', () => bot.clock.untilNext() === 500);
    const reads = contextReads;
    bot.clock.advance(499);
    expect(bot.clock.untilNext()).toBe(1);
    bot.clock.advance(1);
    await until('the retry is planned again', () => bot.clock.untilNext() === 500);
    await everyReadHasFailed();
    expect(contextReads).toBe(reads + 1);

    isLocked = false;
    bot.clock.advance(500);
    await expect.poll(() => routed().flat(), ROUTED).toEqual(ids);
    expect(contextReads).toBe(reads + 2);
  });
});
