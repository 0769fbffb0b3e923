import { describe, expect, it } from 'vitest';
import { partsOf } from '../../src/domain/story.ts';
import { ALICE, alertOf, BOB, COIN, KEYS, key, matchOf, PAYROLL, TREASURY, USDC } from '../discord/alerts.ts';

const gave = { from: TREASURY, to: ALICE };
const got = { ...COIN, from: BOB, to: TREASURY, value: '410000000000000000' };
const kinds = (...alerts: Parameters<typeof partsOf>[0][number][]) => partsOf(alerts).map(({ kind }) => kind);

describe('a swap', () => {
  it('groups what one watched wallet gives and gets in one transaction into a swap, in any order and in several pieces', () => {
    const [out, more, back] = [alertOf(gave), alertOf({ ...gave, to: BOB }), alertOf(got)];
    expect(partsOf([back, out, more])).toEqual([
      { kind: 'swap', wallet: TREASURY, gave: [out, more], got: [back], alerts: [back, out, more] },
    ]);
    expect(kinds(alertOf(gave), alertOf({ ...key('7'), to: TREASURY, value: '0' }))).toEqual(['swap']);
  });

  it.each([
    ['three assets', [alertOf(gave), alertOf(got), alertOf({ token: KEYS })]],
    ['one asset, out and back', [alertOf(gave), alertOf()]],
    ['two ways out', [alertOf(gave), alertOf({ ...got, from: TREASURY, to: BOB })]],
    ['two watched wallets that trade', [alertOf({ from: TREASURY, to: PAYROLL }), alertOf({ ...got, from: PAYROLL })]],
    ['one that trades, and gives to another', [alertOf({ from: TREASURY, to: PAYROLL }), alertOf(gave), alertOf(got)]],
    ['a wallet made to give nothing', [alertOf({ ...gave, value: '0' }), alertOf(got)]],
    [
      'an imitation',
      [alertOf(gave), alertOf(got, { warnings: [{ kind: 'imitation', symbol: 'ETH', genuine: null }] })],
    ],
  ])('groups no swap if %s', (_name, alerts) => {
    expect(kinds(...alerts)).toEqual(alerts.map(() => 'line'));
  });

  it('groups a swap also for subscriptions to its tokens', () => {
    const matches = [matchOf(TREASURY, 'outgoing'), matchOf(USDC, 'token')];
    expect(kinds(alertOf(gave, { matches }), alertOf(got))).toEqual(['swap']);
  });

  it('stands among the other things that happened', () => {
    const other = alertOf({ from: BOB, to: PAYROLL });
    expect(kinds(other, alertOf(gave), alertOf(got))).toEqual(['line', 'swap']);
    expect(kinds(alertOf(gave), other, alertOf(got))).toEqual(['swap', 'line']);
  });
});

describe('a sweep', () => {
  const keys = (count: number, more: object = {}) =>
    Array.from({ length: count }, (_, id) => alertOf({ ...key(String(id)), ...more }));

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
    [
      'of traps',
      [1, 2, 3].map((id) => alertOf(key(`${id}`), { warnings: [{ kind: 'imitation', symbol: 'KEY', genuine: USDC }] })),
    ],
    [
      'of somebody watching the token',
      [1, 2, 3].map((id) =>
        alertOf({ ...key(`${id}`), to: id > 1 ? BOB : ALICE }, { matches: [matchOf(KEYS, 'token')] }),
      ),
    ],
  ])('groups no sweep %s', (_name, alerts) => {
    expect(kinds(...alerts)).toEqual(alerts.map(() => 'line'));
  });
});
