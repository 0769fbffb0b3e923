import { type APISectionComponent, type APITextDisplayComponent, MessageFlags } from 'discord.js';
import { describe, expect, it } from 'vitest';
import { createRenderers } from '../../src/discord/render/renderers.ts';
import { type AddressText, checksumAddress, ZERO_ADDRESS } from '../../src/domain/address.ts';
import type { Alert, Warning } from '../../src/domain/alert.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { ALICE, alertOf, BOB, COIN, key, LIKE_ALICE, matchOf, PAYROLL, SETTINGS, TREASURY, USDC } from './alerts.ts';
import { plain, textsOf } from './shown.ts';

const HASH = `0x${'a'.repeat(64)}`;
const compact = (transfer: Partial<Transfer> = {}, more: Partial<Alert> = {}) =>
  alertOf(transfer, { style: 'compact', isCataloged: true, ...more });
const renderers = createRenderers(SETTINGS);
const render = (alerts: Alert[], now = 0) => renderers.render(alerts, 'ABCDEFGHIJ', now);
const renderAgain = (alerts: Alert[], frozen: object) =>
  renderers.renderAgain(alerts, 'ABCDEFGHIJ', JSON.stringify(frozen));
const textOf = (...alerts: Alert[]) => textsOf(render(alerts).payload.components).join('\n');
const read = (...alerts: Alert[]) => plain(textOf(...alerts));
const ALICE_SHORT = '0xcc95E8…cf6430';
const asking = { matches: [{ ...matchOf(TREASURY, 'incoming'), minimumUsd: '100' }] };
const swap = (price: string) => [
  compact({ ...COIN, txHash: HASH, from: TREASURY, to: ALICE, value: '1000000000000000000', price }),
  compact({ txHash: HASH, price: '1' }),
];
const address = (n: number): AddressText => `0x${n.toString(16).padStart(40, '0')}`;

describe('a compact alert', () => {
  it('adds what the chain does not have to no sum of its transaction', () => {
    const gone = compact({ txHash: HASH, from: BOB, settled: 0 }, { count: 0 });
    expect(read(compact({ txHash: HASH }), gone)).toMatch(
      /^📥 Treasury \+5 USDC\n-# from 0xcc95E8…cf6430 · transaction\n📥 Treasury \+5 USDC\n-# .*\n-# ⚠️ The chain does not have/,
    );
  });

  it.each<[string, Partial<Transfer>, Partial<Alert>, string]>([
    ['money that came in', {}, {}, '📥 Treasury +5 USDC\n-# from 0xcc95E8…cf6430 · transaction'],
    [
      'coins that went out to a named address',
      { ...COIN, from: TREASURY, to: ALICE, value: '410000000000000000' },
      { labels: { [ALICE]: 'alice.eth' } },
      '📤 Treasury −0.41 ETH\n-# to alice.eth · transaction',
    ],
    [
      'a move between two watched wallets',
      { from: TREASURY, to: PAYROLL },
      {},
      '🔁 Treasury → Payroll 5 USDC\n-# both watched · transaction',
    ],
    ['a transfer to itself', { from: TREASURY }, {}, '↩️ Treasury 5 USDC\n-# to itself · transaction'],
    ['a mint', { from: ZERO_ADDRESS, ...key('7') }, {}, '✨ Treasury + Harbor Keys #7\n-# newly minted · transaction'],
    ['a burn', { from: TREASURY, to: ZERO_ADDRESS }, {}, '🔥 Treasury −5 USDC\n-# burned · transaction'],
    [
      'a watched token',
      { from: ALICE, to: BOB },
      { matches: [matchOf(USDC, 'token')], labels: { [USDC]: 'Dollar' } },
      '🪙 Dollar 5 USDC\n-# from 0xcc95E8…cf6430 to 0x1ea1f3…8368cE · transaction',
    ],
    [
      'a mint of a watched token',
      { from: ZERO_ADDRESS, to: BOB },
      { matches: [matchOf(USDC, 'token')], labels: { [USDC]: 'Dollar' } },
      '✨ Dollar 5 USDC\n-# newly minted · to 0x1ea1f3…8368cE · transaction',
    ],
    ['identical transfers', {}, { count: 2 }, '📥 Treasury +5 USDC ×2\n-# from 0xcc95E8…cf6430 · transaction'],
  ])('shows %s in two lines, the wallet first', (_, transfer, more, text) => {
    expect(read(compact(transfer, more))).toBe(text);
  });

  it.each<[string, Alert[], string]>([
    ['a payment', [compact({ value: '18400123456', price: '1' })], '-# ≈\u00a0$18,400 · from '],
    ['equal ones', [compact({ price: '0.99' }, { count: 2 })], '-# ≈\u00a0$9.90 · from '],
    ['dust', [compact({ value: '1', price: '1' })], '-# <\u00a0$0.01 · from '],
    ['a swap, by what it gave', swap('2500'), '-# ≈\u00a0$2,500 · with '],
    [
      'each of several',
      [compact({ txHash: HASH, price: '2' }), compact({ txHash: HASH, ...key('7') })],
      '-# +5 USDC ≈\u00a0$10.00 from ',
    ],
    ['what a filter by value let through', [compact({ price: null }, asking)], '-# price unknown · from '],
    ['nothing, where nobody asked for the price', [compact({ price: null })], '-# from '],
  ])('begins the second line with the worth of %s', (_, alerts, begins) => {
    expect(read(...alerts).split('\n')[1]).toContain(begins);
  });

  it('adds a third line for remarks, and only for them', () => {
    const alert = compact({ internal: true }, { warnings: [{ kind: 'late', ms: 7_200_000 }], reorganized: true });
    expect(read(alert).split('\n').slice(2)).toEqual([
      '-# Arrived 2 hr late. The chain was reorganized. The transaction is now in block 1,234.',
    ]);
  });

  it('contains both full addresses and the full hash as targets of links, and a watched token’s page', () => {
    const text = textOf(compact({ txHash: HASH }));
    for (const target of [
      `/address/${checksumAddress(TREASURY)})`,
      `/address/${checksumAddress(ALICE)})`,
      `/tx/${HASH})`,
    ])
      expect(text).toContain(target);
    expect(textOf(compact({ to: BOB }, { matches: [matchOf(USDC, 'token')] }))).toContain(
      `](https://explorer.example/token/${checksumAddress(USDC)})`,
    );
  });

  it('contains both full addresses and the full hash as text if there is no explorer', () => {
    const none = { explorerUrl: undefined, nativeSymbol: undefined };
    const { payload } = createRenderers(none).render([compact({ txHash: HASH })], 'ABCDEFGHIJ', 0);
    expect(textsOf(payload.components).join('\n')).toBe(
      [
        '📥 **Treasury** +5 USDC',
        `-# \`${TREASURY}\` · from \`${checksumAddress(ALICE)}\` · transaction \`${HASH}\``,
      ].join('\n'),
    );
  });

  it('keeps in code a symbol that is uncataloged, linked to its contract, or that could pass for an amount', () => {
    expect(textOf(compact({}, { isCataloged: false }))).toContain(
      `+5 [\`USDC\`](https://explorer.example/token/${checksumAddress(USDC)})`,
    );
    expect(read(compact({ tokenSymbol: '9 USDC' }))).toContain('+5 `9 USDC`');
  });
});

describe('compact alerts of a transaction', () => {
  it.each<[string, Alert[], string]>([
    [
      'several transfers, with the sum and each counterparty',
      [ALICE, BOB].map((to) => compact({ txHash: HASH, from: TREASURY, to })),
      '📤 Treasury −10 USDC in 2 transfers\n-# −5 USDC to 0xcc95E8…cf6430 · −5 USDC to 0x1ea1f3…8368cE',
    ],
    [
      'a swap',
      [
        compact({ txHash: HASH, from: TREASURY, to: ALICE, value: '1200000000' }),
        compact({ txHash: HASH, ...COIN, from: ALICE, to: TREASURY, value: '410000000000000000' }),
      ],
      '🔄 Treasury −1,200 USDC → +0.41 ETH\n-# with 0xcc95E8…cf6430',
    ],
    [
      'a sweep, with its IDs',
      ['3', '1', '2', '10'].map((id) => compact({ txHash: HASH, ...key(id) })),
      '📥 Treasury +4 × Harbor Keys\n-# #1–#3, #10 · from 0xcc95E8…cf6430',
    ],
    [
      'different directions, each with its own sign',
      [compact({ txHash: HASH }), compact({ txHash: HASH, from: TREASURY, to: BOB })],
      '🧾 Treasury · 2 transfers in one transaction\n-# −5 USDC to 0x1ea1f3…8368cE · +5 USDC from 0xcc95E8…cf6430',
    ],
  ])('shows as one compact alert %s', (_, alerts, text) => {
    expect(read(...alerts)).toBe(`${text} · transaction`);
  });

  it.each([
    ['en-US', 'to 0xcc95E8…cf6430', 'from the zero address', 'with the zero address'],
    ['de', 'an 0xcc95E8…cf6430', 'von der Nulladresse', 'mit der Nulladresse'],
    ['pt-BR', 'para 0xcc95E8…cf6430', 'do endereço zero', 'com o endereço zero'],
  ])('inflects the zero address after a preposition in %s', (language, to, from, withIt) => {
    const leg = (transfer: Partial<Transfer>) => compact({ txHash: HASH, ...transfer }, { language });
    const minted = leg({ ...COIN, from: ZERO_ADDRESS, to: TREASURY });
    const paid = read(leg({ from: TREASURY, to: ALICE }), minted);
    for (const words of [to, from]) expect(paid).toContain(words);
    expect(read(leg({ from: TREASURY, to: ZERO_ADDRESS }), minted)).toContain(withIt);
  });

  it('shows up to ten transfers of a transaction one by one, and sums up eleven or two hundred', () => {
    const paid = (count: number) =>
      render(Array.from({ length: count }, (_, n) => compact({ txHash: HASH, from: TREASURY, to: address(n + 1) })));
    const shown = [10, 11, 200].map((count) => plain(textsOf(paid(count).payload.components).join('\n')));
    expect(shown[0]!.match(/−5 USDC to /g)).toHaveLength(10);
    expect(shown[1]).toMatch(/^📤 Treasury −55 USDC in 11 transfers\n-# to 0x000000…000001, /);
    expect(shown[2]).toMatch(
      /^📤 Treasury −1,000 USDC in 200 transfers\n-# to 0x000000…000001, (0x\S+, ){4}and 195 more · transaction$/,
    );
    expect(paid(200).used).toBe(200);
  });

  describe('of twelve transfers', () => {
    const twelve = (transferOf: (n: number) => Partial<Transfer>, moreOf: (n: number) => Partial<Alert> = () => ({})) =>
      Array.from({ length: 12 }, (_, n) => compact({ txHash: HASH, ...transferOf(n) }, moreOf(n)));
    const others = '0x000000…000001, 0x000000…000002, 0x000000…000003';

    it.each<[string, Alert[], string]>([
      [
        'the sum that twelve watched wallets got',
        twelve(
          (n) => ({ to: address(n + 1) }),
          (n) => ({ matches: [matchOf(address(n + 1), 'incoming')] }),
        ),
        `🧾 ${others}, and 9 more · 12 transfers in one transaction\n-# +60 USDC in 12 transfers from 0xcc95E8…cf6430`,
      ],
      [
        'the token if an amount is unknown',
        twelve((n) => ({ value: n === 5 ? null : '5000000' })),
        '🧾 Treasury · 12 transfers in one transaction\n-# + USDC in 12 transfers from 0xcc95E8…cf6430',
      ],
      [
        'the token if the sum is too long to be read',
        twelve(() => ({ decimals: 130 })),
        '🧾 Treasury · 12 transfers in one transaction\n-# + USDC in 12 transfers from 0xcc95E8…cf6430',
      ],
      [
        'a sum for each number of decimals that a token claims',
        twelve((n) => ({ decimals: n < 6 ? 6 : 3 })),
        '🧾 Treasury · 12 transfers in one transaction\n-# +30 USDC in 6 transfers from 0xcc95E8…cf6430' +
          ' · +30,000 USDC in 6 transfers from 0xcc95E8…cf6430',
      ],
    ])('shows below a title without a sum %s', (_, alerts, text) => {
      expect(read(...alerts)).toBe(`${text} · transaction`);
    });
  });
});

describe('a message of compact alerts', () => {
  it('fits ten compact alerts into a message, with one button that contains the reference', () => {
    const { payload, used } = render(Array.from({ length: 12 }, () => compact()));
    expect(used).toBe(10);
    const [first] = payload.components as APISectionComponent[];
    expect(first!.accessory).toMatchObject({ label: 'Details', custom_id: 'why:show:ABCDEFGHIJ' });
    expect(JSON.stringify(payload).split('ABCDEFGHIJ')).toHaveLength(2);
  });

  it('keeps a suspicious alert out of a message of compact ones, even of its transaction, and gives it a tall card', () => {
    const first = compact({ txHash: HASH });
    const fake = compact({ txHash: HASH }, { warnings: [{ kind: 'imitation', symbol: 'USDC', genuine: null }] });
    expect(render([compact(), fake]).used).toBe(1);
    expect(render([fake, compact()])).toMatchObject({ used: 1, payload: { embeds: [{}] } });
    expect(renderers.countFitting([first, fake], JSON.stringify(render([first]).payload))).toBe(1);
  });

  it('shows a warning that its channel got within the hour in lines, with the digits that differ', () => {
    const warnings: Warning[] = [{ kind: 'look-alike', address: ALICE, like: LIKE_ALICE, label: null, isRepeat: true }];
    expect(read(compact({}, { warnings, style: 'full' }))).toBe(
      [
        '📥 Treasury +5 USDC',
        '-# from `0xcc95…E80DA76b…6430` · transaction',
        '-# ⚠️ Flagged again as a look-alike or an imitation. Do not copy its addresses.',
      ].join('\n'),
    );
  });

  /** A transfer of a token that the explorer does not list, in one transaction. */
  const uncataloged = (n: number, change: Partial<Transfer> = {}, style: 'compact' | 'full' = 'full') =>
    compact(
      { txHash: HASH, token: address(n + 1), tokenSymbol: `SPAM${n}`, ...change },
      {
        isCataloged: false,
        warnings: [{ kind: 'uncataloged' }],
        style,
        matches: [{ ...matchOf(TREASURY, change.from === TREASURY ? 'outgoing' : 'incoming'), isKnown: false }],
      },
    );

  it('says in a dim line that the chain does not have it, and that it was found there', () => {
    for (const style of ['compact', 'full'] as const) {
      const token = uncataloged(0, {}, style);
      const found: Warning = { kind: 'found', ms: 3_600_000 };
      expect(read({ ...token, warnings: [...token.warnings, found] })).toMatch(
        /^-# .* · Found on the chain, 1 hr late.*$/,
      );
      const gone = { ...token, count: 0, transfer: { ...token.transfer, settled: 0 } };
      expect(read(gone)).toMatch(/^-# .* · ⚠️ The chain does not have this transfer.*$/);
    }
  });

  it('shows uncataloged tokens that come in with one transaction in one dim line, in either style', () => {
    for (const style of ['compact', 'full'] as const) {
      expect(read(uncataloged(0, {}, style))).toBe('-# 📥 Treasury +5 `SPAM0` · uncataloged token · transaction');
      expect(read(...[0, 1, 2, 3].map((n) => uncataloged(n, {}, style)))).toBe(
        '-# 📥 Treasury +5 `SPAM0` · uncataloged token · +3 more uncataloged tokens · transaction',
      );
    }
  });

  it('shows a token that there were too many to look up in one dim line, too (101 new tokens)', () => {
    const warnings = [{ kind: 'unchecked' as const, isCrowded: true as const }];
    for (const style of ['compact', 'full'] as const) {
      const [one, two] = [0, 1].map((n) => ({ ...uncataloged(n, {}, style), warnings }));
      expect(read(one!)).toBe('-# 📥 Treasury +5 `SPAM0` · unchecked token · transaction');
      expect(read(one!, two!)).toContain('+1 more uncataloged token');
    }
  });

  it('shows what left before 299 worthless tokens that came in with it, in one message', () => {
    const paid = (style: 'compact' | 'full') =>
      compact({ ...COIN, txHash: HASH, from: TREASURY, to: BOB, value: `777${'0'.repeat(18)}` }, { style });
    for (const style of ['compact', 'full'] as const) {
      const alerts = [...Array.from({ length: 299 }, (_, n) => uncataloged(n, {}, style)), paid(style)];
      const { payload, used } = render(alerts.toReversed());
      expect(used).toBe(300);
      const text = plain(textsOf(payload.components).join('\n') + JSON.stringify(payload.embeds ?? []));
      expect(text).toMatch(/📤 (Treasury −|Outgoing · )777 ETH/);
      expect(text).toContain('+299 more uncataloged tokens');
      expect(text.length).toBeLessThan(1_500);
    }
  });

  it('keeps what left before 100 transfers that uncataloged tokens claim, also when more join (one transaction)', () => {
    for (const style of ['compact', 'full'] as const) {
      const claimed = Array.from({ length: 100 }, (_, n) => uncataloged(n, { from: TREASURY, to: BOB }, style));
      const paid = compact(
        { ...COIN, txHash: HASH, from: TREASURY, to: BOB, value: `777${'0'.repeat(18)}` },
        { style, isSignificant: true },
      );
      const { payload } = render([paid, ...claimed.slice(1)]);
      const again = renderAgain([...claimed, paid], payload);
      expect(again.used).toBe(101);
      const text = plain(textsOf(again.payload.components).join('\n') + JSON.stringify(again.payload.embeds ?? []));
      const amounts = [...text.matchAll(/−(\d+) /g)].map(([, amount]) => amount);
      expect(amounts.slice(0, 2)).toEqual(['777', '5']);
    }
  });

  it('writes only as many sums as may fit, of thousands that a stranger can cause (one transaction)', () => {
    let reads = 0;
    const value = { get: () => String(++reads), enumerable: true };
    const claimed = Array.from({ length: 1_000 }, (_, n) => uncataloged(n, { from: TREASURY, to: BOB }));
    for (const { transfer } of claimed) Object.defineProperty(transfer, 'value', value);
    expect(render(claimed).used).toBe(claimed.length);
    // Each is read once besides.
    expect(reads).toBeLessThan(2 * claimed.length);
  });

  it('does not call it a swap if a token that anybody may have made came in for what left', () => {
    const treasure = compact({ txHash: HASH, ...key('7777'), from: TREASURY, to: BOB });
    for (const warnings of [[{ kind: 'uncataloged' as const }], []]) {
      const free = { ...uncataloged(1, { kind: 'erc721', value: null, tokenId: '0' }), warnings };
      const text = read(treasure, free);
      expect(text).not.toContain('🔄');
      expect(text).toMatch(/− ?Harbor Keys #7777/);
    }
  });

  it('marks a transfer that only an uncataloged token claims', () => {
    expect(read(uncataloged(0, { from: TREASURY, to: BOB }, 'compact'))).toMatch(
      /\n-# ⚠️ A token can claim this; the wallet may have sent nothing\.$/,
    );
  });

  const pinging = (more: Parameters<typeof compact>[1] = {}, value = '5000000') =>
    compact(
      { value },
      { matches: [matchOf(TREASURY, 'incoming', 1, '77')], labels: { [TREASURY]: 'Treasury' }, ...more },
    );

  it('pings once, with a headline that a push notification shows, and keeps it when it is rendered again', () => {
    const alert = pinging();
    const { payload } = render([alert]);
    expect(payload.allowed_mentions).toEqual({ parse: [], roles: ['77'] });
    const [headline, facts] = payload.content!.split('\n');
    expect(headline).toBe(`📥 Treasury +5 USDC ← ${ALICE_SHORT} <@&77>`);
    expect(facts).toContain(`address/${checksumAddress(ALICE)}`);
    expect(facts).toContain(`address/${checksumAddress(TREASURY)}`);
    // No previews of the links, and no Components V2, whose push notifications have no text.
    expect(payload).toMatchObject({ flags: MessageFlags.SuppressEmbeds, embeds: [] });
    const again = renderAgain([{ ...alert, labels: { [TREASURY]: 'Vault' } }], payload).payload;
    expect(again).toEqual({
      ...payload,
      content: payload.content!.replaceAll('Treasury', 'Vault'),
      allowed_mentions: { parse: [] },
    });
  });

  it('posts the headline above a card, too', () => {
    const { content, embeds } = render([pinging({ style: 'full' })]).payload;
    expect([content, embeds?.length]).toEqual([`📥 Treasury +5 USDC ← ${ALICE_SHORT} <@&77>`, 1]);
    const fake = pinging({ warnings: [{ kind: 'imitation', symbol: 'USDC', genuine: null }], isCataloged: false });
    expect(render([fake]).payload.content).toBe(`⚠️ Imitation! 📥 Treasury +5 \`USDC\` ← ${ALICE_SHORT} <@&77>`);
  });

  it('names the network in the headline above a card, and below the headline of a compact alert, where there are several', () => {
    const networks = new Map(
      ['Fuse', 'Base'].map((title, id) => [id, { title, explorerUrl: undefined, nativeSymbol: title }]),
    );
    const contentOf = (style: 'full' | 'compact') =>
      createRenderers({ ...SETTINGS, networks }).render([pinging({ style, network: 1 })], 'ABCDEFGHIJ', 0).payload as {
        content: string;
      };
    expect(contentOf('full').content).toBe(`📥 Treasury +5 USDC ← ${ALICE_SHORT} · Base <@&77>`);
    expect(contentOf('compact').content.split('\n')[1]).toContain(' · Base · ');
  });

  it('begins a new message with the transaction that pings', () => {
    const others = [compact(), compact()];
    expect(render([...others, pinging(), compact()]).used).toBe(2);
    expect(render([pinging(), ...others])).toMatchObject({
      used: 3,
      payload: { content: expect.stringMatching(/^📥 Treasury \+5 USDC/) },
    });
  });

  it('names what left in the headline of several transfers, and no shortened amount', () => {
    const txHash = `0x${'7'.repeat(64)}`;
    const dust = pinging({ isSignificant: false, matches: [matchOf(TREASURY, 'incoming')] }, '1');
    const left = compact(
      { from: TREASURY, to: ALICE, txHash, value: '777000000' },
      { isSignificant: true, matches: [matchOf(TREASURY, 'outgoing', 1, '77')], labels: { [TREASURY]: 'Treasury' } },
    );
    const other = (token: AddressText) => ({
      ...dust,
      transfer: { ...dust.transfer, txHash, token, tokenSymbol: 'DUST' },
    });
    expect(render([other(BOB), other(PAYROLL), left]).payload.content).toMatch(
      new RegExp(`^📤 Treasury −777 USDC → ${ALICE_SHORT} and 2 more <@&77>\n`),
    );
    const long = pinging({}, '9'.repeat(400));
    expect(render([long]).payload.content).toMatch(/^🧾 Treasury · 1 transfer in one transaction <@&77>\n/);
  });

  it('leaves room for the mentions in a message of compact alerts, and again when it is rendered again', () => {
    const labelsOf = (length: number) => ({ [ALICE]: 'A'.repeat(length), [TREASURY]: 'T'.repeat(length) });
    const fits = ({ content, embeds, flags }: ReturnType<typeof render>['payload']) =>
      content!.length <= 2_000 &&
      (embeds!.length === 0) === (flags === MessageFlags.SuppressEmbeds) &&
      embeds!.every(({ description }) => description!.length <= 4_096);
    const alerts = Array.from({ length: 10 }, (_, n) => {
      const roles = [2 * n, 2 * n + 1].map((role) => String(10n ** 19n + BigInt(role)));
      const matches = roles.map((role, index) => matchOf(TREASURY, 'incoming', index, role));
      return compact({}, { labels: labelsOf(60), matches });
    });
    const full = render(alerts);
    expect(full.used).toBeGreaterThan(4);
    expect(full.payload).toSatisfy(fits);
    const before = render(alerts.map((alert) => ({ ...alert, labels: labelsOf(1) })));
    for (let length = 1; length <= 60; length++) {
      const renamed = alerts.slice(0, before.used).map((alert) => ({ ...alert, labels: labelsOf(length) }));
      const { payload, used } = renderAgain(renamed, before.payload);
      expect(used).toBe(before.used);
      expect(payload).toSatisfy(fits);
    }
  });

  it.each([
    ['compact', (index: number) => index === 1],
    ['compact', (index: number) => index % 2 === 1],
    ['compact', () => true],
    ['full', (index: number) => index === 1],
    ['full', (index: number) => index % 2 === 1],
    ['full', () => true],
  ] as const)('marks in a full message whatever the chain does not have (%s, %s)', (style, isGone) => {
    const bare = createRenderers({ ...SETTINGS, explorerUrl: undefined });
    const warnings: Warning[] = [{ kind: 'found', ms: 3_600_000 }, { kind: 'uncataloged' }];
    const all = Array.from({ length: 40 }, (_, n) => {
      const txHash = `0x${String(n >> 1).padStart(64, '7')}`;
      return alertOf({ txHash, from: TREASURY, to: address(n), value: `${n}${'1'.repeat(20)}` }, { style, warnings });
    });
    const { payload, used } = bare.render(all, 'ABCDEFGHIJ', 0);
    expect(used).toBeGreaterThan(style === 'full' ? 4 : 9);
    const gone = all
      .slice(0, used)
      .map((alert, index) =>
        isGone(index) ? { ...alert, count: 0, transfer: { ...alert.transfer, settled: 0 } } : alert,
      );
    const again = bare.renderAgain(gone, 'ABCDEFGHIJ', JSON.stringify(payload));
    expect(again.used).toBe(used);
    const texts = [
      ...textsOf(again.payload.components),
      ...(again.payload.embeds ?? []).map((embed) => JSON.stringify(embed)),
    ];
    expect(texts.join('').length).toBeLessThanOrEqual(style === 'full' ? 8_000 : 4_000);
    const marked = texts.filter((text) => /does not have|not on the chain/.test(text));
    const transactions = new Set(gone.flatMap(({ count, transfer: { txHash } }) => (count === 0 ? [txHash] : [])));
    expect(marked).toHaveLength(transactions.size);
  });

  it('keeps a compact message compact after the server chooses full alerts, and a tall one tall', () => {
    const small = compact();
    const tall = { ...small, style: 'full' as const };
    const [before, card] = [render([small]).payload, render([tall]).payload];
    expect(renderAgain([tall], before).payload).toEqual(before);
    expect(renderAgain([small], card).payload).toEqual(card);
  });

  it('drops links rather than alerts when longer names no longer fit', () => {
    const alerts = Array.from({ length: 10 }, () => compact());
    const before = render(alerts).payload;
    const labels = { [ALICE]: 'A'.repeat(60), [TREASURY]: 'T'.repeat(60) };
    const renamed = alerts.map((alert) => ({ ...alert, labels, reorganized: true }));
    const again = renderAgain(renamed, before);
    expect([again.used, again.payload.components!.length]).toEqual([10, 10]);
    const texts = again.payload.components!.slice(1) as APITextDisplayComponent[];
    for (const { content } of texts) expect(content).toContain('A'.repeat(19));
  });
});
