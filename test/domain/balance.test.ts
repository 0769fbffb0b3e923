import { expect, it } from 'vitest';
import { periodAt } from '../../src/domain/balance.ts';

it.each([
  ['2026-03-25T12:00Z', 'weekly', 'Europe/Berlin', '2026-03-22T23:00Z', '2026-03-29T22:00Z'],
  ['2026-03-29T22:00Z', 'weekly', 'Europe/Berlin', '2026-03-29T22:00Z', '2026-04-05T22:00Z'],
  ['2026-12-31T23:59Z', 'monthly', 'UTC', '2026-12-01T00:00Z', '2027-01-01T00:00Z'],
  // The time zone was another one when the last statement ended.
  ['2026-03-29T22:00Z', 'weekly', 'America/New_York', '2026-03-23T04:00Z', '2026-03-30T04:00Z'],
] as const)('knows the period of %s: %s in %s', (at, period, timezone, since, until) => {
  expect(periodAt(Date.parse(at), period, timezone)).toEqual({ since: Date.parse(since), until: Date.parse(until) });
});
