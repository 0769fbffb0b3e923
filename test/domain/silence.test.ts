import { expect, it } from 'vitest';
import { HOUR } from '../../src/domain/clock.ts';
import { type ActivityStats, afterEvent, isSilent, type Silence } from '../../src/domain/subscription.ts';

const NOW = 1_800_000_000_000;
const busy = (changed: Partial<Silence> = {}): Silence => ({
  subscription: 1,
  guildId: '1000',
  channelId: '1001',
  address: '0x1',
  label: null,
  mutedUntil: null,
  lastEventAt: NOW - 12 * HOUR,
  gapMs: HOUR,
  feedAt: NOW,
  ...changed,
});

it('counts a busy address as silent after twelve average gaps, but not before six hours', () => {
  expect(isSilent(busy(), NOW)).toBe(true);
  expect(isSilent(busy({ lastEventAt: NOW - 12 * HOUR + 1 }), NOW)).toBe(false);
  expect(isSilent(busy({ gapMs: 1, lastEventAt: NOW - 6 * HOUR }), NOW)).toBe(true);
  expect(isSilent(busy({ gapMs: 1, lastEventAt: NOW - 6 * HOUR + 1 }), NOW)).toBe(false);
});

const after = (...times: number[]) => times.reduce<ActivityStats | undefined>(afterEvent, undefined);

it('takes the time between the first two movements as the gap and averages later ones with weight 0.2', () => {
  expect(after(HOUR)).toEqual({ events: 1, lastEventAt: HOUR, gapMs: null });
  expect(after(0, HOUR)).toEqual({ events: 2, lastEventAt: HOUR, gapMs: HOUR });
  expect(after(0, HOUR, 3 * HOUR)).toEqual({ events: 3, lastEventAt: 3 * HOUR, gapMs: 1.2 * HOUR });
});

it('counts events within ten seconds, and late ones, as one movement', () => {
  expect(after(0, 9_999)).toEqual({ events: 2, lastEventAt: 9_999, gapMs: null });
  expect(after(0, 10_000)).toMatchObject({ gapMs: 10_000 });
  expect(after(0, HOUR, HOUR + 1)).toEqual({ events: 3, lastEventAt: HOUR + 1, gapMs: HOUR });
  // One that arrives late does not move the last one back.
  expect(after(0, 2 * HOUR, HOUR)).toEqual({ events: 3, lastEventAt: 2 * HOUR, gapMs: 2 * HOUR });
});
