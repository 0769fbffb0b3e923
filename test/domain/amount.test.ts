import fc from 'fast-check';
import { expect, it } from 'vitest';
import { amountOfToken, isAmount, typedAmount, wholeDigits } from '../../src/domain/amount.ts';
import { csvLine } from '../../src/domain/csv.ts';
import { inUnits, isBelow, rounded } from '../../src/domain/transfer.ts';

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

it.each([
  ['0.000441234567', '0.000441'],
  ['0.0004417', '0.000442'],
  ['0.5', '0.5'],
  ['1.23456', '1.23'],
  ['12345.678', '12346'],
  ['0.9999', '1'],
  ['21', '21'],
])('rounds a fee of %s to three significant digits: %s', (amount, shown) => {
  expect(rounded(amount, 3)).toBe(shown);
});

it.each([
  ['250', true],
  ['0.5', true],
  ['10.25', true],
  ['.5', false],
  ['5.', false],
  ['1,5', false],
  ['-1', false],
  ['1e3', false],
  ['', false],
  ['1'.repeat(61), false],
])('takes “%s” for an amount: %s', (text, expected) => {
  expect(isAmount(text)).toBe(expected);
});

it.each([
  ['250', '250'],
  ['0.5', '0.5'],
  ['1k', '1000'],
  ['1.5M', '1500000'],
  ['0.5k', '500'],
  ['1.2345k', '1234.5'],
  ['2b', '2000000000'],
  ['1_000', '1000'],
  ['1_000.5', '1000.5'],
  ['1_00', null],
  ['1,5', null],
  ['1,000', null],
  ['k', null],
  ['', null],
  ['-1', null],
])('reads the typed amount %s as %s', (text, amount) => {
  expect(typedAmount(text)).toBe(amount);
});

it('separates a token’s amount from its symbol, on either side', () => {
  expect(amountOfToken('HUSD 100')).toEqual({ amount: '100', token: 'HUSD' });
  expect(amountOfToken(' 1.5M  HUSD')).toEqual({ amount: '1.5M', token: 'HUSD' });
  expect(amountOfToken('100 200')).toBeNull();
  expect(amountOfToken('HUSD')).toBeNull();
});

it.each([
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1+1', "'-1+1"],
  ['@x', "'@x"],
  ['\t=1', "'\t=1"],
  ["'=1", "''=1"],
  // Quoted only if it needs that.
  ['a,b', '"a,b"'],
  ['a;b', '"a;b"'],
  ['say "b"', '"say ""b"""'],
  ['a\nb', '"a\nb"'],
  [' a', '" a"'],
  ['a ', '"a "'],
  ['a b', 'a b'],
  [1.5, '1.5'],
  [null, ''],
])('writes %j into a CSV file as %s, so that no spreadsheet reads it as a formula', (cell, line) => {
  expect(csvLine([cell])).toBe(line);
});
