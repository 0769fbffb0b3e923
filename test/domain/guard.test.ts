import { expect, it } from 'vitest';
import { imitatedBy } from '../../src/domain/guard.ts';
import type { KnownToken } from '../../src/domain/token.ts';

const REAL = `0x${'1'.repeat(40)}` as const;
const FAKE = `0x${'2'.repeat(40)}` as const;
const KNOWN: KnownToken[] = [
  { token: 'native', symbol: 'ETH', cataloged: false, seen: true },
  { token: REAL, symbol: 'USDC', cataloged: true, seen: true },
  { token: `0x${'3'.repeat(40)}`, symbol: 'BELL', cataloged: false, seen: true },
];

it.each([
  ['the symbol of a cataloged token', 'USDC', REAL],
  ['a symbol that looks like it', 'UЅDС', REAL],
  ['the native coin’s symbol', 'eth', 'native'],
  ['the symbol of a token that the catalog does not list', 'BELL', null],
  ['a symbol of its own', 'FISH', null],
  ['no symbol', null, null],
])('decides whether a token with %s (%s) imitates a known one', (_, symbol, genuine) => {
  expect(imitatedBy(FAKE, symbol, KNOWN)).toBe(genuine);
});

it('finds no imitation in the cataloged token itself', () => {
  expect(imitatedBy(REAL, 'USDC', KNOWN)).toBeNull();
});
