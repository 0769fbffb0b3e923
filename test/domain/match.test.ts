import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AddressText, Asset } from '../../src/domain/address.ts';
import { type Match, type MatchContext, matchTransfer, REASONS } from '../../src/domain/match.ts';
import {
  DEFAULT_CHOICES,
  DEFAULT_FILTERS,
  type Filters,
  type Subscription,
  styleOf,
} from '../../src/domain/subscription.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { transfer as transferOf } from '../store/contract/given.ts';

const address = (digit: string): AddressText => `0x${digit.repeat(40)}`;
const [WALLET, ALICE, BOB] = [address('1'), address('2'), address('3')];
const [TOKEN, OTHER] = [address('4'), address('5')];
const ZERO = address('0');

const CONTEXT: MatchContext = { now: 1_000, cataloged: null, isNamed: false, mutes: new Set() };

function subscription(change: Partial<Subscription> = {}, filters: Partial<Filters> = {}): Subscription {
  return {
    id: 1,
    guildId: 'guild',
    channelId: 'channel',
    address: WALLET,
    network: null,
    ...DEFAULT_CHOICES,
    paused: false,
    mutedUntil: null,
    createdBy: 'ada',
    createdAt: 0,
    lastEventAt: null,
    mentionedAt: null,
    minorMentionedAt: null,
    ...change,
    filters: { ...DEFAULT_FILTERS, ...filters },
  };
}

const transfer = (change: Partial<Transfer> = {}): Transfer =>
  transferOf(1, { from: ALICE, to: WALLET, token: TOKEN, value: '2000000', ...change });

const NATIVE = { kind: 'native', token: null, decimals: 18, value: '1000000000000000000' } as const;
const OUTGOING = { from: WALLET, to: ALICE };
const NFT = { kind: 'erc721', value: null, tokenId: '7', decimals: null } as const;
const MULTI = { kind: 'erc1155', value: '0', tokenId: '7', decimals: null } as const;
const INTERNAL = { ...NATIVE, internal: true };
const SELF = { from: WALLET };

const DENYING = { deniedCounterparties: [ALICE] };
const ONLY_BOB = { counterparties: [BOB] };
const muting = (muted: Asset) => ({ mutes: new Set([`guild ${muted}`, `other ${TOKEN}`]) });

type Row = [
  rule: string,
  wanted: Partial<Subscription>,
  filters: Partial<Filters>,
  moved: Partial<Transfer>,
  outcome: string,
  context?: Partial<MatchContext>,
];

const MUTED_BUT_KNOWN: Partial<MatchContext> = { ...muting(TOKEN), cataloged: true };
const UNCATALOGED: Partial<MatchContext> = { cataloged: false };
const LURE = { tokenName: 'Visit usdc-gift.com to claim' };
const LINK = { tokenName: 'yearn.finance' };

const ROWS: Row[] = [
  ['posts a payment to the wallet', {}, {}, {}, 'as incoming'],
  ['posts a payment from the wallet', {}, {}, OUTGOING, 'as outgoing'],
  ['posts a transfer of a watched token', { address: TOKEN }, {}, {}, 'as token'],
  ['ignores a transfer between other addresses', { address: BOB }, {}, {}, 'unrelated'],
  ['posts nothing while the subscription is paused', { paused: true }, {}, {}, 'paused'],
  ['posts nothing while the subscription is muted', { mutedUntil: 1_001 }, {}, {}, 'muted'],
  ['posts again once the mute has ended', { mutedUntil: 1_000 }, {}, {}, 'as incoming'],
  ['hides a token that the guild muted', {}, {}, {}, 'token-muted', muting(TOKEN)],
  ['hides the coin if the guild muted it', {}, {}, NATIVE, 'token-muted', muting('native')],
  ['posts another token than the muted one', {}, {}, {}, 'as incoming', muting(OTHER)],
  ['posts a known token that leaves the wallet although it is muted', {}, {}, OUTGOING, 'as outgoing', MUTED_BUT_KNOWN],
  ['hides it if everything is held', { holdAll: true }, {}, OUTGOING, 'token-muted', MUTED_BUT_KNOWN],
  ['posts an outgoing payment if only those are wanted', { direction: 'outgoing' }, {}, OUTGOING, 'as outgoing'],
  ['hides an incoming payment if only outgoing ones are wanted', { direction: 'outgoing' }, {}, {}, 'direction'],
  ['hides an outgoing payment if only incoming ones are wanted', { direction: 'incoming' }, {}, OUTGOING, 'direction'],
  ['posts an incoming payment if only those are wanted', { direction: 'incoming' }, {}, {}, 'as incoming'],
  ['posts a watched token whatever the direction', { address: TOKEN, direction: 'outgoing' }, {}, {}, 'as token'],
  ['posts a transfer of the wanted kind', { kind: 'erc20' }, {}, {}, 'as incoming'],
  ['hides a transfer of another kind', { kind: 'native' }, {}, {}, 'kind'],
  ['posts an ERC-1155 if NFTs are wanted', { kind: 'nft' }, {}, MULTI, 'as incoming'],
  ['posts the only token that is wanted', { token: TOKEN }, {}, {}, 'as incoming'],
  ['hides every token but the one that is wanted', { token: OTHER }, {}, {}, 'token'],
  ['hides the coin if only a token is wanted', { token: TOKEN }, {}, NATIVE, 'token'],
  ['hides a denied token', {}, { deniedTokens: [TOKEN] }, {}, 'denied-token'],
  ['hides the coin if it is denied', {}, { deniedTokens: ['native'] }, NATIVE, 'denied-token'],
  ['posts another token than the denied one', {}, { deniedTokens: [OTHER] }, {}, 'as incoming'],
  ['posts a listed token', {}, { tokens: [OTHER, TOKEN] }, {}, 'as incoming'],
  ['posts the coin if it is listed', {}, { tokens: ['native'] }, NATIVE, 'as incoming'],
  ['hides a token that is not listed', {}, { tokens: [OTHER] }, {}, 'token-list'],
  [
    'hides a token without a known contract if others are listed',
    {},
    { tokens: [OTHER] },
    { token: null },
    'token-list',
  ],
  ['posts internal transfers', {}, {}, INTERNAL, 'as incoming'],
  ['hides internal transfers if they are not wanted', {}, { internal: false }, INTERNAL, 'internal'],
  ['posts a token transfer that is marked as internal', {}, { internal: false }, { internal: true }, 'as incoming'],
  ['hides a transfer from the wallet to itself', {}, {}, SELF, 'self'],
  ['hides a self-transfer of a watched token', { address: TOKEN }, {}, { to: ALICE }, 'self'],
  ['posts a watched token between unknown parties', { address: TOKEN }, {}, { from: null, to: null }, 'as token'],
  ['posts a self-transfer if those are wanted', {}, { self: true }, SELF, 'as self'],
  ['posts a self-transfer whatever the direction', { direction: 'outgoing' }, { self: true }, SELF, 'as self'],
  ['hides an amount of zero', {}, {}, { value: '0' }, 'zero'],
  ['hides zero coins', {}, {}, { ...NATIVE, value: '0' }, 'zero'],
  ['hides an amount of zero that has a token ID', {}, {}, { value: '0', tokenId: '0' }, 'zero'],
  ['applies the minimum to an amount with a token ID', { minimum: '100' }, {}, { value: '1', tokenId: '0' }, 'minimum'],
  ['posts an amount of zero if those are wanted', {}, { zero: true }, { value: '0' }, 'as incoming'],
  ['posts a transfer without an amount', {}, {}, { value: null }, 'as incoming'],
  ['posts an NFT, which has no amount', {}, {}, NFT, 'as incoming'],
  ['posts an ERC-1155 with an amount of zero', {}, {}, MULTI, 'as incoming'],
  ['posts a mint', {}, {}, { from: ZERO }, 'as incoming'],
  ['posts a burn', {}, {}, { from: WALLET, to: ZERO }, 'as outgoing'],
  ['posts an uncataloged token', {}, {}, {}, 'as incoming', UNCATALOGED],
  ['hides an uncataloged token if only others are wanted', {}, { cataloged: true }, {}, 'cataloged', UNCATALOGED],
  ['posts a cataloged token', {}, { cataloged: true }, {}, 'as incoming', { cataloged: true }],
  ['posts a token that could not be looked up in the catalog', {}, { cataloged: true }, {}, 'as incoming'],
  ['posts the coin if only cataloged tokens are wanted', {}, { cataloged: true }, NATIVE, 'as incoming', UNCATALOGED],
  ['hides a payment from a denied counterparty', {}, DENYING, {}, 'denied-counterparty'],
  ['hides a payment to a denied counterparty', {}, DENYING, OUTGOING, 'denied-counterparty'],
  ['does not deny the wallet as its own counterparty', {}, { deniedCounterparties: [WALLET] }, {}, 'as incoming'],
  ['hides a watched token from a denied sender', { address: TOKEN }, DENYING, {}, 'denied-counterparty'],
  ['posts a payment from a wanted counterparty', {}, { counterparties: [BOB, ALICE] }, {}, 'as incoming'],
  ['hides a payment from another than the wanted counterparties', {}, ONLY_BOB, {}, 'counterparty'],
  ['does not count the wallet as its own wanted counterparty', {}, { counterparties: [WALLET] }, {}, 'counterparty'],
  ['posts a watched token to a wanted recipient', { address: TOKEN }, { counterparties: [WALLET] }, {}, 'as token'],
  ['hides a transfer without a sender if counterparties are listed', {}, ONLY_BOB, { from: null }, 'counterparty'],
  ['posts exactly the minimum', { minimum: '2' }, {}, {}, 'as incoming'],
  ['hides an amount below the minimum', { minimum: '2.000001' }, {}, {}, 'minimum'],
  ['prefers the token’s own minimum', { minimum: '5' }, { minimums: { [TOKEN]: '2' } }, {}, 'as incoming'],
  ['hides an amount below the token’s own minimum', { minimum: '1' }, { minimums: { [TOKEN]: '3' } }, {}, 'minimum'],
  ['applies the general minimum to other tokens', { minimum: '5' }, { minimums: { [OTHER]: '1' } }, {}, 'minimum'],
  ['hides coins below the coin’s own minimum', {}, { minimums: { native: '1.5' } }, NATIVE, 'minimum'],
  ['posts an amount that cannot be compared with the minimum', { minimum: '5' }, {}, { decimals: null }, 'as incoming'],
  ['posts an NFT whatever the minimum', { minimum: '5' }, {}, { ...MULTI, value: '1', decimals: 0 }, 'as incoming'],
  ['hides an uncataloged token whose name is an invitation', {}, {}, LURE, 'guard', UNCATALOGED],
  ['hides an invitation in look-alike letters', {}, {}, { tokenSymbol: 'СLАІМ 500' }, 'guard', UNCATALOGED],
  ['hides an NFT whose name is an invitation', {}, {}, { ...NFT, ...LURE }, 'guard', UNCATALOGED],
  ['posts a cataloged token with a name like a link', {}, {}, LINK, 'as incoming', { cataloged: true }],
  ['posts a name like a link if the catalog could not be read', {}, {}, LINK, 'as incoming'],
  ['posts an invitation that the wallet itself sends', {}, {}, { ...OUTGOING, ...LURE }, 'as outgoing', UNCATALOGED],
  ['posts a watched token whatever its name', { address: TOKEN }, {}, LURE, 'as token', UNCATALOGED],
  ['posts the wanted token whatever its name', { token: TOKEN }, {}, LURE, 'as incoming', UNCATALOGED],
  ['posts a listed token whatever its name', {}, { tokens: [TOKEN] }, LURE, 'as incoming', UNCATALOGED],
  ['posts a name that merely contains such a word', {}, {}, { tokenName: 'Reclaimed' }, 'as incoming', UNCATALOGED],
];

/** `unrelated`, why the transfer is hidden, or how a posted one is seen. */
function inWords(match: Match): string {
  if (match.outcome === 'matched') return `as ${match.perspective}`;
  return match.outcome === 'hidden' ? match.reason : match.outcome;
}

it.each(ROWS)(
  'decides by the filters of a subscription: %s',
  (_rule, wanted, filters, moved, outcome, context = {}) => {
    const match = matchTransfer(subscription(wanted, filters), transfer(moved), { ...CONTEXT, ...context });
    expect(inWords(match)).toBe(outcome);
  },
);

it('gives the first reason in order where two apply', () => {
  const alone = ROWS.filter(([, wanted, , moved, outcome]) => {
    return (REASONS as readonly string[]).includes(outcome) && !wanted.address && Object.keys(moved).length === 0;
  });
  expect(new Set(alone.map(([, , , , outcome]) => outcome)).size).toBeGreaterThan(10);
  for (const [, wanted, filters, , a, context] of alone) {
    for (const [, otherWanted, otherFilters, , b, otherContext] of alone) {
      const both = subscription({ ...wanted, ...otherWanted }, { ...filters, ...otherFilters });
      const match = matchTransfer(both, transfer(), { ...CONTEXT, ...context, ...otherContext });
      expect(inWords(match)).toBe(REASONS.find((reason) => reason === a || reason === b));
    }
  }
});

it('hides by default no transfer with a value between two parties', () => {
  const party = fc.constantFrom(WALLET, ALICE, BOB, ZERO, TOKEN, null);
  const text = fc.option(fc.string({ maxLength: 40 }));
  const moved = fc.record<Transfer>({
    kind: fc.constantFrom('native', 'erc20', 'erc721', 'erc1155', 'unknown'),
    txHash: fc.constant('0xabc'),
    from: party,
    to: party,
    token: fc.constantFrom(TOKEN, OTHER, null),
    value: fc.option(fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }).map(String)),
    tokenId: fc.option(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }).map(String)),
    tokenIdExact: fc.boolean(),
    tokenType: text,
    tokenName: text,
    tokenSymbol: text,
    decimals: fc.option(fc.nat(255)),
    internal: fc.boolean(),
    blockNumber: fc.option(fc.nat()),
    blockHash: fc.constant(null),
    gasFee: fc.constant(null),
  });
  const context = fc.constantFrom(null, true).map((cataloged) => ({ ...CONTEXT, cataloged }));
  fc.assert(
    fc.property(moved, context, (given, known) => {
      fc.pre(given.from !== given.to || given.from === null);
      const touches = [given.from, given.to, given.token].includes(WALLET);
      const match = matchTransfer(subscription(), given, known);
      expect(match.outcome).toBe(touches ? 'matched' : 'unrelated');
    }),
  );
});

it('shows alerts as chosen for the subscription, or else for the server, or else compact', () => {
  expect(styleOf(['compact'], 'full')).toBe('compact');
  expect(styleOf([null], 'full')).toBe('full');
  expect(styleOf([null], null)).toBe('compact');
});

it('shows an alert of several subscriptions with every detail if one of them wants that', () => {
  expect(styleOf(['compact', 'full'], null)).toBe('full');
  expect(styleOf(['compact', null], 'full')).toBe('full');
  expect(styleOf(['compact', 'compact'], 'full')).toBe('compact');
  expect(styleOf([], null)).toBe('compact');
});
