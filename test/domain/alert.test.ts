import { describe, expect, it } from 'vitest';
import type { AddressText } from '../../src/domain/address.ts';
import { partsOf } from '../../src/domain/alert.ts';
import { ALICE, alertOf, BOB, COIN, KEYS, key, matchOf, PAYROLL, TREASURY, USDC } from '../discord/alerts.ts';

const GAVE = { from: TREASURY, to: ALICE };
const IMITATION = { warnings: [{ kind: 'imitation' as const, symbol: 'ETH', genuine: null }] };
const GOT = { ...COIN, from: BOB, to: TREASURY, value: '410000000000000000' };
const kinds = (...alerts: Parameters<typeof partsOf>[0][number][]) => partsOf(alerts).map(({ kind }) => kind);

describe('a swap', () => {
  it('groups what one watched wallet gives and gets in one transaction into a swap, in any order and in several pieces', () => {
    const [out, more, back] = [alertOf(GAVE), alertOf({ ...GAVE, to: BOB }), alertOf(GOT)];
    expect(partsOf([back, out, more])).toEqual([
      { kind: 'swap', wallet: TREASURY, gave: [out, more], got: [back], alerts: [back, out, more] },
    ]);
    expect(kinds(alertOf(GAVE), alertOf({ ...key('7'), to: TREASURY, value: '0' }))).toEqual(['swap']);
  });

  it.each([
    ['three assets', [alertOf(GAVE), alertOf(GOT), alertOf({ token: KEYS })]],
    ['one asset, out and back', [alertOf(GAVE), alertOf()]],
    ['two ways out', [alertOf(GAVE), alertOf({ ...GOT, from: TREASURY, to: BOB })]],
    ['two watched wallets that trade', [alertOf({ from: TREASURY, to: PAYROLL }), alertOf({ ...GOT, from: PAYROLL })]],
    ['one that trades, and gives to another', [alertOf({ from: TREASURY, to: PAYROLL }), alertOf(GAVE), alertOf(GOT)]],
    ['a wallet made to give nothing', [alertOf({ ...GAVE, value: '0' }), alertOf(GOT)]],
    ['an imitation', [alertOf(GAVE), alertOf(GOT, IMITATION)]],
  ])('groups no swap if %s', (_name, alerts) => {
    expect(kinds(...alerts)).toEqual(alerts.map(() => 'line'));
  });

  it('groups a swap also for subscriptions to its tokens', () => {
    const matches = [matchOf(TREASURY, 'outgoing'), matchOf(USDC, 'token')];
    expect(kinds(alertOf(GAVE, { matches }), alertOf(GOT))).toEqual(['swap']);
  });

  it('places a swap where its first transfer is among the other things that happened', () => {
    const other = alertOf({ from: BOB, to: PAYROLL });
    expect(kinds(other, alertOf(GAVE), alertOf(GOT))).toEqual(['line', 'swap']);
    expect(kinds(alertOf(GAVE), other, alertOf(GOT))).toEqual(['swap', 'line']);
  });
});

describe('a sweep', () => {
  const keys = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, id) => alertOf({ ...key(String(id)), ...more }));

  const watched = (id: string, to: AddressText) => alertOf({ ...key(id), to }, { matches: [matchOf(KEYS, 'token')] });

  it('groups three NFTs of one collection into or out of one wallet into a sweep', () => {
    expect(kinds(...keys(2))).toEqual(['line', 'line']);
    expect(kinds(...keys(3))).toEqual(['sweep']);
    expect(kinds(...keys(2), alertOf({ ...key('9'), from: BOB }))).toEqual(['sweep']);
    expect(kinds(...keys(3, { from: TREASURY, to: BOB }), ...keys(3))).toEqual(['sweep', 'sweep']);
  });

  it.each([
    ['of several collections', [...keys(2), alertOf({ ...key('9'), token: USDC })]],
    ['into several wallets', [...keys(2), alertOf({ ...key('9'), to: PAYROLL })]],
    ['of rounded ids', keys(3, { tokenIdExact: false })],
    ['of traps', ['1', '2', '3'].map((id) => alertOf(key(id), IMITATION))],
    ['of somebody watching the token', [watched('1', ALICE), watched('2', BOB), watched('3', BOB)]],
  ])('groups no sweep %s', (_name, alerts) => {
    expect(kinds(...alerts)).toEqual(alerts.map(() => 'line'));
  });
});
