import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inUnits, isBelow, wholeDigits } from '../../src/domain/amount.ts';

it.each([
  ['1000000000000000000', 18, '1'],
  ['109700', 2, '1097'],
  ['1234567890', 6, '1234.56789'],
  ['0', 18, '0'],
  ['1', 18, '0.000000000000000001'],
  ['1234567', null, '1234567'],
  ['1234567', 0, '1234567'],
])('formats the amount %s with %s decimals as %s', (value, decimals, text) => {
  expect(inUnits(value, decimals)).toBe(text);
});

it('formats any amount with any decimals without losing a digit', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.integer({ min: 0, max: 255 }), (value, decimals) => {
      const [whole = '', fraction = ''] = inUnits(value.toString(), decimals).split('.');
      expect(BigInt(whole + fraction.padEnd(decimals, '0'))).toBe(value);
    }),
  );
});

it.each([
  ['1.5e+21', '1500000000000000000000'],
  ['1.25E2', '125'],
  ['12e0', '12'],
  ['7.0', '7'],
  ['7.500', null],
  ['1.25e1', null],
  ['0.0', '0'],
  ['007', '7'],
  ['0.5e1', '5'],
  ['1e100', null],
  ['5e-1', null],
  ['-1', null],
  ['1,000', null],
])('reads %s as %s in whole digits', (source, digits) => {
  expect(wholeDigits(source)).toBe(digits);
});

it('compares an amount with a minimum exactly', () => {
  expect(isBelow('999999', 6, '1')).toBe(true);
  expect(isBelow('1000000', 6, '1')).toBe(false);
  expect(isBelow('1', 0, '0.5')).toBe(false);
  expect(isBelow('0', 0, '0.000001')).toBe(true);
});
