import { expect, it } from 'vitest';
import { meantBy } from '../../commands/shared/meant.ts';

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
])('takes %.20s for %s', (typed, meant) => {
  expect(meantBy(typed, KNOWN)).toBe(meant);
});
