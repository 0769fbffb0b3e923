import { expect, it } from 'vitest';
import { HOUR } from '../../src/domain/clock.ts';
import { deservesNotice, isFeedSilent, isSilent, type Silence } from '../../src/domain/silence.ts';

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

it('posts no notice about a silent address that is muted', () => {
  expect(deservesNotice(busy({ mutedUntil: NOW + 1 }), NOW)).toBe(false);
  expect(deservesNotice(busy({ mutedUntil: NOW }), NOW)).toBe(true);
  expect(deservesNotice(busy({ lastEventAt: NOW }), NOW)).toBe(false);
});

it('attributes the silence to the feed when no address had an event for that long', () => {
  expect(isFeedSilent(busy(), NOW)).toBe(false);
  expect(isFeedSilent(busy({ feedAt: NOW - 12 * HOUR }), NOW)).toBe(true);
  expect(isFeedSilent(busy({ feedAt: null }), NOW)).toBe(true);
});
