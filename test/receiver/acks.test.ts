import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { EndedResponse } from '../../src/domain/inbox.ts';
import { createAcks } from '../../src/receiver/acks.ts';

/** The acks of a process whose deliveries another one may route. */
function openShared() {
  const clock = createManualClock(0);
  const recorded: EndedResponse[][] = [];
  const fault = { present: null as Error | null };
  const acks = createAcks({
    after: clock.after,
    async record(responses) {
      if (fault.present) throw fault.present;
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
  return { acks, recorded, fault, receive, pass };
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
  const { acks, recorded, fault, receive, pass } = openShared();
  fault.present = new Error('unavailable');
  receive(1, 5);
  await pass(25);
  expect(acks.ackedAt(1)).toBe(5);
  fault.present = null;
  await pass(1_000);
  expect(recorded).toEqual([[{ id: 1, ackedAt: 5 }]]);
});
