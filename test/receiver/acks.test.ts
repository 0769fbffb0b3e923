import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { EndedResponse } from '../../src/domain/inbox.ts';
import { createAcks } from '../../src/receiver/acks.ts';

/** The acks of a process whose deliveries another one may route. */
function openShared() {
  const clock = createManualClock(0);
  const recorded: EndedResponse[][] = [];
  /** What the next record waits for. */
  const writes = { next: Promise.resolve() };
  const acks = createAcks({
    after: clock.after,
    async record(responses) {
      await writes.next;
      recorded.push(responses);
    },
  });
  const receive = (id: number, ackedAt: number | null) => {
    acks.track(id, { isOver: true, ackedAt });
    acks.ended(id, ackedAt);
  };
  /** Lets time pass, and what is due then happen. */
  const pass = async (ms: number) => {
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { acks, recorded, writes, receive, pass };
}

it('records how several responses ended at once, for the process that routes', async () => {
  const { acks, recorded, receive, pass } = openShared();
  receive(1, 5);
  receive(2, null);
  await pass(25);
  expect(recorded).toEqual([
    [
      { id: 1, ackedAt: 5 },
      { id: 2, ackedAt: null },
    ],
  ]);
  expect([acks.has(1), acks.has(2)]).toEqual([false, false]);
  receive(3, 7);
  await pass(25);
  expect(recorded).toHaveLength(2);
});

it('records nothing about deliveries that this process routed itself', async () => {
  const { acks, recorded, receive, pass } = openShared();
  receive(1, 5);
  acks.forget([1]);
  await pass(25);
  expect(recorded).toEqual([]);
});

it('records how responses ended later if the database is unavailable', async () => {
  const { acks, recorded, writes, receive, pass } = openShared();
  writes.next = Promise.reject(new Error('unavailable'));
  receive(1, 5);
  await pass(25);
  expect(acks.ackedAt(1)).toBe(5);
  writes.next = Promise.resolve();
  await pass(1_000);
  expect(recorded).toEqual([[{ id: 1, ackedAt: 5 }]]);
});

it('gives up the oldest of more than 10,000 ended responses while the database is unavailable', async () => {
  const { acks, writes, receive, pass } = openShared();
  writes.next = Promise.reject(new Error('unavailable'));
  for (let id = 1; id <= 10_001; id++) receive(id, 5);
  await pass(25);
  expect([acks.has(1), acks.has(2), acks.has(10_001)]).toEqual([false, true, true]);
});

describe('at the stop', () => {
  it('records the last responses without waiting for more', async () => {
    const { acks, recorded, receive } = openShared();
    receive(1, 5);
    await acks.close();
    expect(recorded).toEqual([[{ id: 1, ackedAt: 5 }]]);
  });

  it('records a late response to a delivery that is still being stored', async () => {
    const { acks, recorded, receive, pass } = openShared();
    const storing = Promise.withResolvers<void>();
    acks.storing(storing.promise);
    const closed = acks.close();
    await pass(0);
    receive(1, null);
    storing.resolve();
    await closed;
    expect(recorded).toEqual([[{ id: 1, ackedAt: null }]]);
  });

  it('records again what a write that was under way failed to store', async () => {
    const { acks, recorded, writes, receive, pass } = openShared();
    const first = Promise.withResolvers<void>();
    writes.next = first.promise;
    receive(1, 5);
    await pass(25);
    const closed = acks.close();
    receive(2, 6);
    writes.next = Promise.resolve();
    first.reject(new Error('unavailable'));
    await closed;
    const both = [
      { id: 1, ackedAt: 5 },
      { id: 2, ackedAt: 6 },
    ];
    expect(recorded).toEqual([both]);
  });

  it('does not try again what the last write failed to store, although a timer was pending', async () => {
    const { acks, recorded, writes, receive, pass } = openShared();
    writes.next = Promise.reject(new Error('unavailable'));
    receive(1, 5);
    await acks.close();
    writes.next = Promise.resolve();
    await pass(1_000);
    expect(recorded).toEqual([]);
  });

  it('does not wait for a database that hangs, and does not try again', async () => {
    const { acks, recorded, writes, receive, pass } = openShared();
    const hanging = Promise.withResolvers<void>();
    writes.next = hanging.promise;
    receive(1, 5);
    const closed = acks.close();
    await pass(0);
    await pass(500);
    await closed;
    writes.next = Promise.resolve();
    hanging.reject(new Error('unavailable'));
    await pass(0);
    await pass(1_000);
    expect(recorded).toEqual([]);
  });
});
