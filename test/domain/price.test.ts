import { expect, it } from 'vitest';
import { plainDecimal } from '../../src/domain/amount.ts';
import { inDollars, isFarFrom, isWorthLess, type Transfer, worthOf } from '../../src/domain/transfer.ts';

const of = (value: string | null, price: string | null, change: Partial<Transfer> = {}) =>
  ({ kind: 'erc20', value, decimals: 6, tokenId: null, price, ...change }) as const;

it.each([
  ['2412.335', '2412.335'],
  ['7.0', '7'],
  ['1.5e-7', '0.00000015'],
  ['1.25E+3', '1250'],
  ['0.1e1', '1'],
  ['-1', null],
  ['1e999', null],
  ['NaN', null],
  ['', null],
])('reads the number %s as %s', (source, decimal) => {
  expect(plainDecimal(source)).toBe(decimal);
});

it('multiplies exactly, however many digits there are', () => {
  const worth = worthOf(of('123456789012345678901234567890', '0.1'), 3)!;
  expect(inDollars(worth)).toBe('37037036703703703670370.370367');
  expect(inDollars(worthOf(of('1', '3', { decimals: 30 }))!)).toBe('0');
});

it.each([
  ['an unknown price', of('1', null)],
  ['no source', of('1', null, { price: undefined } as object)],
  ['an unknown amount', of(null, '1')],
  ['unknown decimals', of('1', '1', { decimals: null })],
  ['an item', of('1', '1', { kind: 'erc1155', tokenId: '7' })],
])('does not know what a transfer with %s is worth, so it is not worth less than any minimum', (_, transfer) => {
  expect(worthOf(transfer)).toBeNull();
  expect(isWorthLess('1000000', transfer)).toBe(false);
});

it('compares with a minimum to the last digit', () => {
  expect(isWorthLess('100', of('40000000', '2.5'))).toBe(false);
  expect(isWorthLess('100', of('39999999', '2.5'))).toBe(true);
});

it.each([
  ['2', '20', false],
  ['2', '20.01', true],
  ['0.0021', '2.1', true],
  ['2100', '2.1', true],
  ['0.5', '0.05', false],
])('says whether %s and %s differ more than tenfold: %s', (one, other, far) => {
  expect([isFarFrom(one, other), isFarFrom(other, one)]).toEqual([far, far]);
});
