import { expect, it } from 'vitest';
import { type Match, matchTransfer } from '../../src/domain/match.ts';
import { DEFAULT_CHOICES, DEFAULT_FILTERS, type Filters, type Watcher } from '../../src/domain/subscription.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { transfer as transferOf } from '../store/contract/given.ts';

const at = (digit: string) => `0x${digit.repeat(40)}` as const;
const [WALLET, ALICE, GENUINE] = [at('1'), at('2'), at('3')];
const [UNKNOWN, NAMED, WORTHLESS] = [at('4'), at('5'), at('6')];
/** GENUINE is cataloged, WORTHLESS is not; the catalog does not know the others, and the guild has named one of them. */
function matched(moved: Transfer, change: Partial<Watcher>, filters: Partial<Filters>, isSenderWatched = false): Match {
  const { token } = moved;
  const cataloged = token === GENUINE ? true : token === WORTHLESS ? false : null;
  const isNamed = token === NAMED || token === WORTHLESS;
  const context = { now: 0, cataloged, isNamed, mutes: new Set<string>() };
  return matchTransfer(watcher(change, { zero: true, ...filters }), moved, context, isSenderWatched);
}
const watcher = (change: Partial<Watcher> = {}, filters: Partial<Filters> = {}): Watcher => ({
  ...DEFAULT_CHOICES,
  id: 1,
  guildId: 'guild',
  channelId: 'channel',
  address: WALLET,
  paused: false,
  mutedUntil: null,
  ...change,
  filters: { ...DEFAULT_FILTERS, ...filters },
});
const transfer = (token: `0x${string}` | null, change: Partial<Transfer> = {}): Transfer =>
  transferOf(1, { kind: token === null ? 'native' : 'erc20', from: ALICE, to: WALLET, token, ...change });

it.each([
  ['the coin leaves', transfer(null), true, {}, {}, true],
  ['a cataloged token leaves', transfer(GENUINE), true, {}, {}, true],
  ['an uncataloged token claims to leave', transfer(WORTHLESS), true, {}, {}, false],
  ['a token that the subscription names leaves', transfer(WORTHLESS), true, { token: WORTHLESS }, {}, true],
  ['a token that nobody can look up leaves', transfer(UNKNOWN), true, {}, {}, false],
  ['a token that only the guild knows leaves', transfer(NAMED), true, {}, {}, true],
  ['nothing leaves', transfer(null, { value: '0' }), true, {}, {}, false],
  ['an NFT of a known collection leaves', transfer(GENUINE, { kind: 'erc721', value: null }), true, {}, {}, true],
  ['the coin comes in', transfer(null), false, {}, {}, false],
  ['the coin comes in from the minimum on', transfer(null), false, { minimum: '5' }, {}, true],
  ['less than the minimum comes in', transfer(null), false, { minimum: '5.1' }, {}, false],
  ['the coin comes in and the minimum is 0', transfer(null), false, { minimum: '0.00' }, {}, false],
  ['what comes in is worth the minimum', transfer(null, { price: '2' }), false, { minimumUsd: '10' }, {}, true],
  ['what comes in is worth less', transfer(null, { price: '1.99' }), false, { minimumUsd: '10' }, {}, false],
  ['what comes in has no known price', transfer(null, { price: null }), false, { minimumUsd: '10' }, {}, false],
  ['something comes in from $0 on', transfer(null, { price: '2' }), false, { minimumUsd: '0.0' }, {}, false],
  ['much of an uncataloged token comes in', transfer(WORTHLESS), false, { minimum: '1' }, {}, false],
  ['a token reaches its own minimum', transfer(GENUINE), false, {}, { minimums: { [GENUINE]: '2' } }, true],
] as const)('judges whether it matters that %s', (_, moved, isLeaving, change, filters, expected) => {
  const match = matched(isLeaving ? { ...moved, from: WALLET, to: ALICE } : moved, change, filters);
  expect(match.outcome === 'matched' && match.isSignificant).toBe(expected);
});

it.each<[string, Transfer, Partial<Watcher>, Partial<Filters>, boolean]>([
  ['the coin to a subscription without filters', transfer(null), {}, {}, false],
  ['the coin to a subscription to incoming transfers', transfer(null), { direction: 'incoming' }, {}, true],
  ['the coin, with a minimum for pings', transfer(null), { mentionMinimum: '1' }, {}, true],
  ['the coin, with a minimum of value for pings', transfer(null), { mentionMinimumUsd: '1' }, {}, true],
  ['an uncataloged token, with a minimum for pings', transfer(WORTHLESS), { mentionMinimum: '1' }, {}, false],
  ['an uncataloged token from a listed party', transfer(WORTHLESS), {}, { counterparties: [ALICE] }, false],
  ['a token that the subscription names', transfer(UNKNOWN), {}, { tokens: [UNKNOWN] }, true],
])('decides about a ping for %s', (_, moved, change, filters, expected) => {
  expect(matched(moved, change, filters)).toMatchObject({ isSignificant: false, mayMention: expected });
});

it('judges that it matters when a known asset comes in from another watched address', () => {
  expect(matched(transfer(GENUINE), {}, {}, true)).toMatchObject({ isSignificant: true, passesHolds: false });
  expect(matched(transfer(UNKNOWN), {}, {}, true)).toMatchObject({ isSignificant: false });
});
