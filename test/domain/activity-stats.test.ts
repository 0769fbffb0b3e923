import { expect, it } from 'vitest';
import { type ActivityStats, afterEvent } from '../../src/domain/activity-stats.ts';
import { HOUR } from '../../src/domain/clock.ts';

const after = (...times: number[]) => times.reduce<ActivityStats | undefined>(afterEvent, undefined);

it('counts the first event without a gap', () => {
  expect(after(HOUR)).toEqual({ events: 1, lastEventAt: HOUR, gapMs: null });
});

it('takes the time between the first two movements as the gap and averages later ones with weight 0.2', () => {
  expect(after(0, HOUR)).toEqual({ events: 2, lastEventAt: HOUR, gapMs: HOUR });
  expect(after(0, HOUR, 3 * HOUR)).toEqual({ events: 3, lastEventAt: 3 * HOUR, gapMs: 1.2 * HOUR });
});

it('counts events within ten seconds as one movement', () => {
  expect(after(0, 9_999)).toEqual({ events: 2, lastEventAt: 9_999, gapMs: null });
  expect(after(0, 10_000)).toMatchObject({ gapMs: 10_000 });
  expect(after(0, HOUR, HOUR + 1)).toEqual({ events: 3, lastEventAt: HOUR + 1, gapMs: HOUR });
});

it('never moves the last event back when an event arrives late', () => {
  expect(after(0, 2 * HOUR, HOUR)).toEqual({ events: 3, lastEventAt: 2 * HOUR, gapMs: 2 * HOUR });
});
