import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AddressText } from '../../src/domain/address.ts';
import { type Match, type MatchContext, matchTransfer } from '../../src/domain/match.ts';
import { DEFAULT_CHOICES, DEFAULT_FILTERS, type Filters, type Subscription } from '../../src/domain/subscription.ts';
import type { Transfer } from '../../src/domain/transfer.ts';

const address = (digit: string): AddressText => `0x${digit.repeat(40)}`;
const [WALLET, ALICE, BOB, TOKEN, OTHER] = ['1', '2', '3', '4', '5'].map(address) as [
  AddressText,
  AddressText,
  AddressText,
  AddressText,
  AddressText,
];
const ZERO = address('0');

const CONTEXT: MatchContext = { now: 1_000, cataloged: () => null, tokenMuted: () => false };

function subscription(change: Partial<Subscription> = {}, filters: Partial<Filters> = {}): Subscription {
  return {
    id: 1,
    guildId: 'guild',
    channelId: 'channel',
    address: WALLET,
    ...DEFAULT_CHOICES,
    paused: false,
    mutedUntil: null,
    createdBy: 'ada',
    createdAt: 0,
    lastEventAt: null,
    mentionedAt: null,
    ...change,
    filters: { ...DEFAULT_FILTERS, ...filters },
  };
}

/** Two units of a token with 6 decimals, from Alice to the wallet. */
function transfer(change: Partial<Transfer> = {}): Transfer {
  return {
    kind: 'erc20',
    txHash: '0xabc',
    from: ALICE,
    to: WALLET,
    token: TOKEN,
    value: '2000000',
    tokenId: null,
    tokenIdExact: true,
    tokenType: 'ERC-20',
    tokenName: 'Token',
    tokenSymbol: 'TKN',
    decimals: 6,
    internal: false,
    blockNumber: 1,
    blockHash: null,
    gasFee: null,
    ...change,
  };
}

const NATIVE = { kind: 'native', token: null, decimals: 18, value: '1000000000000000000' } as const;
const OUTGOING = { from: WALLET, to: ALICE };
const NFT = { kind: 'erc721', value: null, tokenId: '7', decimals: null } as const;
const MULTI = { kind: 'erc1155', value: '0', tokenId: '7', decimals: null } as const;

/** What is asked for, what moves, and what becomes of it. */
type Row = [
  says: string,
  wanted: Partial<Subscription>,
  filters: Partial<Filters>,
  moved: Partial<Transfer>,
  outcome: string,
  context?: Partial<MatchContext>,
];

const UNCATALOGED: Partial<MatchContext> = { cataloged: () => false };
const LURE = { tokenName: 'Visit usdc-gift.com to claim' };

const ROWS: Row[] = [
  ['a plain payment', {}, {}, {}, 'as incoming'],
  ['a payment out', {}, {}, OUTGOING, 'as outgoing'],
  ['a watched token', { address: TOKEN }, {}, {}, 'as token'],
  ['somebody else’s', { address: BOB }, {}, {}, 'unrelated'],
  ['nothing while paused', { paused: true }, {}, {}, 'paused'],
  ['nothing while muted', { mutedUntil: 1_001 }, {}, {}, 'muted'],
  ['everything after the mute', { mutedUntil: 1_000 }, {}, {}, 'as incoming'],
  ['nothing of a muted token', {}, {}, {}, 'token-muted', { tokenMuted: (g, a) => g === 'guild' && a === TOKEN }],
  ['nothing of the muted coin', {}, {}, NATIVE, 'token-muted', { tokenMuted: (_, asset) => asset === 'native' }],
  ['another token than the muted one', {}, {}, {}, 'as incoming', { tokenMuted: (_, asset) => asset === OTHER }],
  ['the wanted direction', { direction: 'outgoing' }, {}, OUTGOING, 'as outgoing'],
  ['not the other direction', { direction: 'outgoing' }, {}, {}, 'direction'],
  ['not what goes out, where what comes in is wanted', { direction: 'incoming' }, {}, OUTGOING, 'direction'],
  ['what comes in, where that is wanted', { direction: 'incoming' }, {}, {}, 'as incoming'],
  ['a watched token whatever the direction', { address: TOKEN, direction: 'outgoing' }, {}, {}, 'as token'],
  ['the wanted kind', { kind: 'erc20' }, {}, {}, 'as incoming'],
  ['not another kind', { kind: 'native' }, {}, {}, 'kind'],
  ['both kinds of NFT', { kind: 'nft' }, {}, MULTI, 'as incoming'],
  ['the one token', { token: TOKEN }, {}, {}, 'as incoming'],
  ['not another token', { token: OTHER }, {}, {}, 'token'],
  ['not the coin when a token is wanted', { token: TOKEN }, {}, NATIVE, 'token'],
  ['not a denied token', {}, { deniedTokens: [TOKEN] }, {}, 'denied-token'],
  ['not the denied coin', {}, { deniedTokens: ['native'] }, NATIVE, 'denied-token'],
  ['the rest beside a denied token', {}, { deniedTokens: [OTHER] }, {}, 'as incoming'],
  ['a listed token', {}, { tokens: [OTHER, TOKEN] }, {}, 'as incoming'],
  ['the listed coin', {}, { tokens: ['native'] }, NATIVE, 'as incoming'],
  ['not a token beside the list', {}, { tokens: [OTHER] }, {}, 'token-list'],
  ['internal transfers', {}, {}, { ...NATIVE, internal: true }, 'as incoming'],
  ['no internal transfers if so chosen', {}, { internal: false }, { ...NATIVE, internal: true }, 'internal'],
  ['token transfers whatever their flag', {}, { internal: false }, { internal: true }, 'as incoming'],
  ['nothing to oneself', {}, {}, { from: WALLET }, 'self'],
  ['nothing to oneself of a watched token', { address: TOKEN }, {}, { to: ALICE }, 'self'],
  ['to oneself if so chosen', {}, { self: true }, { from: WALLET }, 'as self'],
  ['that whatever the direction', { direction: 'outgoing' }, { self: true }, { from: WALLET }, 'as self'],
  ['nothing of no value', {}, {}, { value: '0' }, 'zero'],
  ['nothing of no coin', {}, {}, { ...NATIVE, value: '0' }, 'zero'],
  ['nothing of no value that comes with a token id', {}, {}, { value: '0', tokenId: '0' }, 'zero'],
  ['no small amount that comes with a token id', { minimum: '100' }, {}, { value: '1', tokenId: '0' }, 'minimum'],
  ['no value if so chosen', {}, { zero: true }, { value: '0' }, 'as incoming'],
  ['an amount that did not come', {}, {}, { value: null }, 'as incoming'],
  ['an NFT, which has no value', {}, {}, NFT, 'as incoming'],
  ['an ERC-1155 whose value reads 0', {}, {}, MULTI, 'as incoming'],
  ['a mint', {}, {}, { from: ZERO }, 'as incoming'],
  ['a burn', {}, {}, { from: WALLET, to: ZERO }, 'as outgoing'],
  ['uncataloged tokens', {}, {}, {}, 'as incoming', UNCATALOGED],
  ['only cataloged tokens', {}, { cataloged: true }, {}, 'cataloged', UNCATALOGED],
  ['a cataloged token', {}, { cataloged: true }, {}, 'as incoming', { cataloged: (token) => token === TOKEN }],
  ['a token that nobody could ask about', {}, { cataloged: true }, {}, 'as incoming'],
  ['the coin among cataloged tokens', {}, { cataloged: true }, NATIVE, 'as incoming', UNCATALOGED],
  ['nothing from a denied counterparty', {}, { deniedCounterparties: [ALICE] }, {}, 'denied-counterparty'],
  ['nothing to a denied counterparty', {}, { deniedCounterparties: [ALICE] }, OUTGOING, 'denied-counterparty'],
  ['everything when the wallet itself is denied', {}, { deniedCounterparties: [WALLET] }, {}, 'as incoming'],
  [
    'a watched token but from the denied',
    { address: TOKEN },
    { deniedCounterparties: [ALICE] },
    {},
    'denied-counterparty',
  ],
  ['a wanted counterparty', {}, { counterparties: [BOB, ALICE] }, {}, 'as incoming'],
  ['only wanted counterparties', {}, { counterparties: [BOB] }, {}, 'counterparty'],
  ['not the wallet as its own counterparty', {}, { counterparties: [WALLET] }, {}, 'counterparty'],
  ['a watched token to the wanted', { address: TOKEN }, { counterparties: [WALLET] }, {}, 'as token'],
  [
    'not a contract’s creation among wanted counterparties',
    {},
    { counterparties: [BOB] },
    { from: null },
    'counterparty',
  ],
  ['at least the minimum', { minimum: '2' }, {}, {}, 'as incoming'],
  ['nothing below the minimum', { minimum: '2.000001' }, {}, {}, 'minimum'],
  ['the token’s minimum before the general one', { minimum: '5' }, { minimums: { [TOKEN]: '2' } }, {}, 'as incoming'],
  ['nothing below the token’s minimum', { minimum: '1' }, { minimums: { [TOKEN]: '3' } }, {}, 'minimum'],
  ['other tokens by the general minimum', { minimum: '5' }, { minimums: { [OTHER]: '1' } }, {}, 'minimum'],
  ['the coin by its own minimum', {}, { minimums: { native: '1.5' } }, NATIVE, 'minimum'],
  ['what cannot be compared', { minimum: '5' }, {}, { decimals: null }, 'as incoming'],
  ['an NFT whatever the minimum', { minimum: '5' }, {}, { ...MULTI, value: '1', decimals: 0 }, 'as incoming'],
  ['no uncataloged invitation', {}, {}, LURE, 'guard', UNCATALOGED],
  ['no invitation in another script’s letters', {}, {}, { tokenSymbol: 'СLАІМ 500' }, 'guard', UNCATALOGED],
  ['no NFT that invites', {}, {}, { ...NFT, ...LURE }, 'guard', UNCATALOGED],
  ['a cataloged name like a link', {}, {}, { tokenName: 'yearn.finance' }, 'as incoming', { cataloged: () => true }],
  ['a name like a link that nobody could ask about', {}, {}, { tokenName: 'yearn.finance' }, 'as incoming'],
  ['what the wallet itself sends', {}, {}, { ...OUTGOING, ...LURE }, 'as outgoing', UNCATALOGED],
  ['the token that is watched', { address: TOKEN }, {}, LURE, 'as token', UNCATALOGED],
  ['the token that is asked for by name', { token: TOKEN }, {}, LURE, 'as incoming', UNCATALOGED],
  ['a listed token whatever its name', {}, { tokens: [TOKEN] }, LURE, 'as incoming', UNCATALOGED],
  ['a name that only holds such a word', {}, {}, { tokenName: 'Reclaimed' }, 'as incoming', UNCATALOGED],
];

/** `matched`, or the reason why it is hidden. */
function inWords(match: Match): string {
  switch (match.outcome) {
    case 'matched':
      return `as ${match.perspective}`;
    case 'hidden':
      return match.reason;
    case 'unrelated':
      return 'unrelated';
  }
}

describe('filters of a subscription', () => {
  it.each(ROWS)(
    'decides by a subscription’s filters what is posted: %s',
    (_, wanted, filters, moved, outcome, context = {}) => {
      const match = matchTransfer(subscription(wanted, filters), transfer(moved), { ...CONTEXT, ...context });
      expect(inWords(match)).toBe(outcome);
    },
  );
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
  const context = fc.constantFrom(null, true).map((cataloged) => ({ ...CONTEXT, cataloged: () => cataloged }));
  fc.assert(
    fc.property(moved, context, (given, known) => {
      fc.pre(given.from !== given.to || given.from === null);
      const touches = [given.from, given.to, given.token].includes(WALLET);
      const match = matchTransfer(subscription(), given, known);
      expect(match.outcome).toBe(touches ? 'matched' : 'unrelated');
    }),
  );
});
