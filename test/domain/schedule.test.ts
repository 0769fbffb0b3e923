import { describe, expect, it } from 'vitest';
import { dueOf, quietUntil } from '../../src/domain/schedule.ts';

const at = (text: string) => Date.parse(text);
const due = (digest: 'hourly' | 'daily' | null, quiet: string | null, zone: string | null, now: string) => {
  const { hold, dueAt } = dueOf([{ digest, quiet }], zone, at(now));
  return [hold, new Date(dueAt).toISOString().replace(':00.000Z', 'Z')];
};

describe('due times of digests', () => {
  it.each([
    // Zone, now, end of the hour, end of the day.
    [null, '2026-05-01T12:34Z', '2026-05-01T13:00Z', '2026-05-02T00:00Z'],
    ['Europe/Berlin', '2026-05-01T12:34Z', '2026-05-01T13:00Z', '2026-05-01T22:00Z'],
    ['Asia/Kathmandu', '2026-05-01T12:34Z', '2026-05-01T13:15Z', '2026-05-01T18:15Z'],
    // A day of 23 hours, and one of 25.
    ['Europe/Berlin', '2026-03-28T23:30Z', '2026-03-29T00:00Z', '2026-03-29T22:00Z'],
    ['Europe/Berlin', '2026-10-24T22:30Z', '2026-10-24T23:00Z', '2026-10-25T23:00Z'],
    // The hour that comes twice, both times.
    ['Europe/Berlin', '2026-10-25T00:30Z', '2026-10-25T01:00Z', '2026-10-25T23:00Z'],
    ['Europe/Berlin', '2026-10-25T01:30Z', '2026-10-25T02:00Z', '2026-10-25T23:00Z'],
    // The clocks went from midnight to 01:00, and from midnight back to 23:00.
    ['America/Sao_Paulo', '2018-11-03T20:00Z', '2018-11-03T21:00Z', '2018-11-04T03:00Z'],
    ['America/Sao_Paulo', '2019-02-16T20:00Z', '2019-02-16T21:00Z', '2019-02-17T03:00Z'],
    ['Not/A_Zone', '2026-05-01T12:34Z', '2026-05-01T13:00Z', '2026-05-02T00:00Z'],
  ])('makes digests due at the end of the hour and of the day (zone %s, now %s)', (zone, now, hourly, daily) => {
    expect(due('hourly', null, zone, now)).toEqual(['hourly', hourly]);
    expect(due('daily', null, zone, now)).toEqual(['daily', daily]);
  });
});

describe('quiet hours', () => {
  it.each([
    ['22:00-07:00', 'Europe/Berlin', '2026-05-01T19:59Z', null],
    ['22:00-07:00', 'Europe/Berlin', '2026-05-01T20:00Z', '2026-05-02T05:00Z'],
    ['22:00-07:00', 'Europe/Berlin', '2026-05-02T04:59Z', '2026-05-02T05:00Z'],
    ['22:00-07:00', 'Europe/Berlin', '2026-05-02T05:00Z', null],
    ['13:00-14:30', 'Asia/Kathmandu', '2026-05-01T07:14Z', null],
    ['13:00-14:30', 'Asia/Kathmandu', '2026-05-01T07:15Z', '2026-05-01T08:45Z'],
    ['13:20-14:30', null, '2026-05-01T13:19Z', null],
    ['13:20-14:30', null, '2026-05-01T13:20Z', '2026-05-01T14:30Z'],
    ['13:00-14:30', 'Asia/Kathmandu', '2026-05-01T08:45Z', null],
    // Nights in which the clocks are changed.
    ['22:00-07:00', 'Europe/Berlin', '2026-03-28T22:00Z', '2026-03-29T05:00Z'],
    ['22:00-07:00', 'Europe/Berlin', '2026-10-24T21:00Z', '2026-10-25T06:00Z'],
    // They end at a time that is skipped, or that comes twice.
    ['22:00-02:30', 'Europe/Berlin', '2026-03-28T22:00Z', '2026-03-29T01:30Z'],
    ['22:00-02:30', 'Europe/Berlin', '2026-10-25T00:10Z', '2026-10-25T00:30Z'],
    ['22:00-02:30', 'Europe/Berlin', '2026-10-25T01:10Z', '2026-10-25T01:30Z'],
    ['10:00-10:00', null, '2026-05-01T10:00Z', null],
    ['nonsense', null, '2026-05-01T10:00Z', null],
  ])('finds the end of quiet hours %s (zone %s, now %s)', (quiet, zone, now, end) => {
    expect(quietUntil(quiet, zone, at(now))).toBe(end === null ? null : at(end));
  });

  it('postpones a digest that would be due in quiet hours', () => {
    expect(due('hourly', '22:00-07:00', null, '2026-05-01T23:10Z')).toEqual(['quiet', '2026-05-02T07:00Z']);
    expect(due('daily', '22:00-07:00', null, '2026-05-01T12:00Z')).toEqual(['daily', '2026-05-02T07:00Z']);
    expect(due('hourly', '22:00-07:00', null, '2026-05-01T12:10Z')).toEqual(['hourly', '2026-05-01T13:00Z']);
  });
});

it('posts a shared alert as soon as the first of its subscriptions wants it', () => {
  const [quiet, daily] = [
    { digest: null, quiet: '22:00-07:00' },
    { digest: 'daily' as const, quiet: null },
  ];
  const now = at('2026-05-01T23:10Z');
  expect(dueOf([daily, { digest: null, quiet: null }], null, now)).toEqual({ hold: null, dueAt: 0 });
  expect(dueOf([quiet, daily], null, now)).toEqual({ hold: 'daily', dueAt: at('2026-05-02T00:00Z') });
});
