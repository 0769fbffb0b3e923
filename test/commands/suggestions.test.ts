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
  ['pa', null],
  ['bridge', null],
  ['x'.repeat(5_000), null],
])('takes %.20s for %s', (typed, match) => {
  expect(closestMatch(typed, KNOWN)).toBe(match);
});
