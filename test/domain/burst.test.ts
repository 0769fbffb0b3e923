import { expect, it } from 'vitest';
import { burstUntil, collectedFor, digestReason, nextDueAt } from '../../src/domain/burst.ts';
import { MINUTE } from '../../src/domain/clock.ts';

it('collects alerts for ten seconds after more than 60 of them, until a minute passes without one', () => {
  const after = (alerts: number, now: number) => burstUntil({ alerts, digests: 0, lastAt: 1_000 }, now);
  expect(after(60, 1_000)).toBeNull();
  expect(after(61, 1_000)).toBe(11_000);
  expect(after(61, 60_999)).toBe(11_000);
  expect(after(61, 61_000)).toBeNull();
  expect(after(61, 999)).toBeNull();
});

it('doubles the time between the digests of a burst up to fifty seconds', () => {
  const after = (digests: number) => burstUntil({ alerts: 61, digests, lastAt: 0 }, 0);
  expect([0, 1, 2, 3, 4, 5, 1_000].map(after)).toEqual([10, 20, 40, 50, 50, 50, 50].map((seconds) => seconds * 1_000));
});

it('posts held alerts as a digest, others at once, and those of a burst once they are collected', () => {
  expect(collectedFor('daily', null, 5)).toBe('daily');
  expect(collectedFor(null, null, 5)).toBeNull();
  expect([4, 5, 6].map((collectingUntil) => collectedFor(null, collectingUntil, 5))).toEqual([
    'burst',
    'burst',
    'later',
  ]);
});

it('waits for the end of a burst or for the first held alert, whichever comes first', () => {
  expect([nextDueAt(null, null), nextDueAt(null, 7), nextDueAt(5, null), nextDueAt(5, 7), nextDueAt(8, 7)]).toEqual([
    null,
    7,
    5,
    5,
    7,
  ]);
});

it('makes a digest of what was collected, of a backlog, and of an old one that fills more than a message', () => {
  const due = { waiting: 99, transactions: 11, oldest: 0, reason: null };
  expect(digestReason(due, 30 * MINUTE)).toBeNull();
  expect(digestReason(due, 30 * MINUTE + 1)).toBe('backlog');
  expect(digestReason({ ...due, transactions: 10 }, 31 * MINUTE)).toBeNull();
  expect([50, 51].map((transactions) => digestReason({ ...due, transactions }, 0))).toEqual([null, 'backlog']);
  expect(digestReason({ ...due, reason: 'daily' }, 0)).toBe('daily');
  expect(digestReason({ ...due, waiting: 1, transactions: 1, reason: 'daily' }, 0)).toBeNull();
});
