import { expect, it } from 'vitest';
import { imitatedBy, isLure } from '../../src/domain/scam.ts';
import type { KnownToken } from '../../src/domain/token.ts';
import { transfer as transferOf } from '../store/contract/given.ts';

const REAL = `0x${'1'.repeat(40)}` as const;
const FAKE = `0x${'2'.repeat(40)}` as const;
const KNOWN: KnownToken[] = [
  { token: 'native', network: 0, symbol: 'ETH', cataloged: false, seen: true },
  { token: REAL, network: 0, symbol: 'USDC', cataloged: true, seen: true },
  { token: `0x${'3'.repeat(40)}`, network: 0, symbol: 'BELL', cataloged: false, seen: true },
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

it('finds no imitation in the cataloged token itself, and one of the coin before one of a token', () => {
  expect(imitatedBy(REAL, 'USDC', KNOWN)).toBeNull();
  const known: KnownToken[] = [{ token: REAL, network: 0, symbol: 'ETH', cataloged: true, seen: true }, KNOWN[0]!];
  expect(imitatedBy(FAKE, 'ETH', known)).toBe('native');
});

it.each([
  ['Claim it', true],
  ['visit us', true],
  ['AIRDROP', true],
  ['Rеdееm here', true],
  ['a voucher', true],
  ['your reward', true],
  ['your rewards', true],
  ['fish.example', true],
  ['Proclaim', false],
  ['Claimant', false],
])('decides whether the token name %s is a lure (%s)', (tokenName, expected) => {
  expect(isLure(transferOf(1, { tokenName, tokenSymbol: 'FISH' }))).toBe(expected);
});
