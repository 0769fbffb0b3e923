import { expect, it } from 'vitest';
import { closestMatch } from '../../commands/shared/suggestions.ts';

const KNOWN = ['Treasury', 'Treasury cold', 'Payroll', 'Élan', 'apis'];

it.each([
  ['Tresury', 'Treasury'],
  ['treasruy', 'Treasury'],
  ['Treassury', 'Treasury'],
  ['pay', 'Payroll'],
  ['elan', 'Élan'],
  ['apiz', 'apis'],
])('suggests the closest name for “%s”: %s', (typed, match) => {
  expect(closestMatch(typed, KNOWN)).toBe(match);
});

it.each(['pa', 'bridge', 'x'.repeat(5_000)])(
  'suggests nothing for “%.20s”, which is not close to any name',
  (typed) => {
    expect(closestMatch(typed, KNOWN)).toBeNull();
  },
);
