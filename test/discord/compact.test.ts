import type { APISectionComponent, APITextDisplayComponent } from 'discord.js';
import { describe, expect, it } from 'vitest';
import { renderAlerts } from '../../src/discord/render.ts';
import { type AddressText, ZERO_ADDRESS } from '../../src/domain/address.ts';
import type { Alert } from '../../src/domain/alert.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { checksumAddress } from '../../src/domain/typed-address.ts';
import { ALICE, alertOf, BOB, COIN, key, matchOf, PAYROLL, SETTINGS, TREASURY, USDC } from './alerts.ts';
import { plain, textsOf } from './shown.ts';

const HASH = `0x${'a'.repeat(64)}`;
const compact = (transfer: Partial<Transfer> = {}, more: Partial<Alert> = {}) =>
  alertOf(transfer, { style: 'compact', isCataloged: true, ...more });
const render = (alerts: Alert[], now: number | null = 0, frozen: object | null = null) =>
  renderAlerts(alerts, 'ABCDEFGHIJ', SETTINGS, now, frozen && JSON.stringify(frozen));
const textOf = (...alerts: Alert[]) => textsOf(render(alerts).payload.components).join('\n');
const read = (...alerts: Alert[]) => plain(textOf(...alerts));
const address = (n: number): AddressText => `0x${n.toString(16).padStart(40, '0')}`;

describe('a compact alert', () => {
  it.each<[string, Partial<Transfer>, Partial<Alert>, string]>([
    ['money that came in', {}, {}, '📥 Treasury +5 USDC\n-# from 0xcc95…6430 · transaction'],
    [
      'coins that went out to a named address',
      { ...COIN, from: TREASURY, to: ALICE, value: '410000000000000000' },
      { labels: { [ALICE]: 'Alice' } },
      '📤 Treasury −0.41 ETH\n-# to Alice · transaction',
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
      '🪙 Dollar 5 USDC\n-# from 0xcc95…6430 to 0x1ea1…68cE · transaction',
    ],
    [
      'a mint of a watched token',
      { from: ZERO_ADDRESS, to: BOB },
      { matches: [matchOf(USDC, 'token')], labels: { [USDC]: 'Dollar' } },
      '✨ Dollar 5 USDC\n-# newly minted · to 0x1ea1…68cE · transaction',
    ],
    ['identical transfers', {}, { count: 2 }, '📥 Treasury +5 USDC ×2\n-# from 0xcc95…6430 · transaction'],
  ])('shows %s in two lines, the wallet first', (_, transfer, more, text) => {
    expect(read(compact(transfer, more))).toBe(text);
  });

  it('adds a third line for remarks, and only for them', () => {
    const alert = compact({ internal: true }, { warnings: [{ kind: 'late', ms: 7_200_000 }], reorganized: true });
    expect(read(alert).split('\n').slice(2)).toEqual([
      '-# Arrived 2 hr late. The chain was reorganized. The transaction is now in block 1,234.',
    ]);
  });

  it('contains both full addresses and the full hash as targets of links', () => {
    const text = textOf(compact({ txHash: HASH }));
    for (const part of [
      `/address/${checksumAddress(TREASURY)})`,
      `/address/${checksumAddress(ALICE)})`,
      `/tx/${HASH})`,
    ])
      expect(text).toContain(part);
  });

  it('links a watched token to its page', () => {
    expect(textOf(compact({ to: BOB }, { matches: [matchOf(USDC, 'token')] }))).toContain(
      `](https://explorer.example/token/${checksumAddress(USDC)})`,
    );
  });

  it('contains both full addresses and the full hash as text if there is no explorer', () => {
    const none = { explorerUrl: undefined, nativeSymbol: undefined };
    const { payload } = renderAlerts([compact({ txHash: HASH })], 'ABCDEFGHIJ', none);
    expect(textsOf(payload.components).join('\n')).toBe(
      [
        '📥 **Treasury** +5 USDC',
        `-# \`${TREASURY}\` · from \`${checksumAddress(ALICE)}\` · transaction \`${HASH}\``,
      ].join('\n'),
    );
  });

  it('keeps an uncataloged symbol in code, linked to its contract', () => {
    expect(textOf(compact({}, { isCataloged: false }))).toContain(
      `+5 [\`USDC\`](https://explorer.example/token/${checksumAddress(USDC)})`,
    );
  });

  it('keeps a cataloged symbol in code if it could pass for an amount', () => {
    expect(read(compact({ tokenSymbol: '9 USDC' }))).toContain('+5 `9 USDC`');
  });
});

describe('compact alerts of a transaction', () => {
  it('shows several transfers of a transaction as one compact alert with the sum and each counterparty', () => {
    const legs = [ALICE, BOB].map((to) => compact({ txHash: HASH, from: TREASURY, to }));
    expect(read(...legs)).toBe(
      '📤 Treasury −10 USDC in 2 transfers\n-# −5 USDC to 0xcc95…6430 · −5 USDC to 0x1ea1…68cE · transaction',
    );
  });

  it('shows a swap as one compact alert', () => {
    const gave = compact({ txHash: HASH, from: TREASURY, to: ALICE, value: '1200000000' });
    const got = compact({ txHash: HASH, ...COIN, from: ALICE, to: TREASURY, value: '410000000000000000' });
    expect(read(gave, got)).toBe('🔄 Treasury −1,200 USDC → +0.41 ETH\n-# with 0xcc95…6430 · transaction');
  });

  it.each([
    ['en-US', 'to 0xcc95…6430', 'from the zero address', 'with the zero address'],
    ['de', 'an 0xcc95…6430', 'von der Nulladresse', 'mit der Nulladresse'],
    ['pt-BR', 'para 0xcc95…6430', 'do endereço zero', 'com o endereço zero'],
  ])('inflects the zero address after a preposition in %s', (language, to, from, withIt) => {
    const leg = (transfer: Partial<Transfer>) => compact({ txHash: HASH, ...transfer }, { language });
    const minted = leg({ ...COIN, from: ZERO_ADDRESS, to: TREASURY });
    const paid = read(leg({ from: TREASURY, to: ALICE }), minted);
    for (const words of [to, from]) expect(paid).toContain(words);
    expect(read(leg({ from: TREASURY, to: ZERO_ADDRESS }), minted)).toContain(withIt);
  });

  it('shows a sweep as one compact alert with its IDs', () => {
    const keys = ['3', '1', '2', '10'].map((id) => compact({ txHash: HASH, ...key(id) }));
    expect(read(...keys)).toBe('📥 Treasury +4 × Harbor Keys\n-# #1–#3, #10 · from 0xcc95…6430 · transaction');
  });

  it('shows a transaction with different directions as one compact alert, each with its own sign', () => {
    const alerts = [compact({ txHash: HASH }), compact({ txHash: HASH, from: TREASURY, to: BOB })];
    expect(read(...alerts)).toBe(
      [
        '🧾 Treasury · 2 transfers in one transaction',
        '-# +5 USDC from 0xcc95…6430 · −5 USDC to 0x1ea1…68cE · transaction',
      ].join('\n'),
    );
  });

  it('sums up two hundred transfers of a transaction in one compact alert', () => {
    const many = Array.from({ length: 200 }, (_, n) => compact({ txHash: HASH, from: TREASURY, to: address(n + 1) }));
    const { payload, used } = render(many);
    expect(used).toBe(200);
    expect(plain(textsOf(payload.components).join('\n'))).toMatch(
      /^📤 Treasury −1,000 USDC in 200 transfers\n-# to 0x0000…0001, (0x\S+, ){4}and 195 more · transaction$/,
    );
  });

  it('shows up to ten transfers of a transaction one by one, and sums up eleven', () => {
    const paid = (count: number) =>
      read(...Array.from({ length: count }, (_, n) => compact({ txHash: HASH, from: TREASURY, to: address(n + 1) })));
    expect(paid(10).match(/−5 USDC to /g)).toHaveLength(10);
    expect(paid(11)).toMatch(/^📤 Treasury −55 USDC in 11 transfers\n-# to 0x0000…0001, /);
  });

  describe('of twelve transfers', () => {
    const twelve = (transferOf: (n: number) => Partial<Transfer>, moreOf: (n: number) => Partial<Alert> = () => ({})) =>
      Array.from({ length: 12 }, (_, n) => compact({ txHash: HASH, ...transferOf(n) }, moreOf(n)));
    const others = '0x0000…0001, 0x0000…0002, 0x0000…0003';

    it.each<[string, Alert[], string]>([
      [
        'the sum that twelve watched wallets got',
        twelve(
          (n) => ({ to: address(n + 1) }),
          (n) => ({ matches: [matchOf(address(n + 1), 'incoming')] }),
        ),
        `🧾 ${others}, and 9 more · 12 transfers in one transaction\n-# +60 USDC in 12 transfers from 0xcc95…6430`,
      ],
      [
        'the sum that twelve watched wallets paid',
        twelve(
          (n) => ({ from: address(n + 1), to: ALICE }),
          (n) => ({ matches: [matchOf(address(n + 1), 'outgoing')] }),
        ),
        `🧾 ${others}, and 9 more · 12 transfers in one transaction\n-# −60 USDC in 12 transfers to 0xcc95…6430`,
      ],
      [
        'the token if an amount is unknown',
        twelve((n) => ({ value: n === 5 ? null : '5000000' })),
        '🧾 Treasury · 12 transfers in one transaction\n-# + USDC in 12 transfers from 0xcc95…6430',
      ],
      [
        'the token if the sum is too long to be read',
        twelve(() => ({ decimals: 130 })),
        '🧾 Treasury · 12 transfers in one transaction\n-# + USDC in 12 transfers from 0xcc95…6430',
      ],
      [
        'a sum for each number of decimals that a token claims',
        twelve((n) => ({ decimals: n < 6 ? 6 : 3 })),
        '🧾 Treasury · 12 transfers in one transaction\n-# +30 USDC in 6 transfers from 0xcc95…6430' +
          ' · +30,000 USDC in 6 transfers from 0xcc95…6430',
      ],
      [
        'each token whose contract is unknown',
        twelve((n) => ({ token: null, tokenSymbol: n < 6 ? 'AAA' : 'BBB' })),
        '🧾 Treasury · 12 transfers in one transaction\n-# + `AAA` in 6 transfers from 0xcc95…6430' +
          ' · + `BBB` in 6 transfers from 0xcc95…6430',
      ],
    ])('shows below a title without a sum %s', (_, alerts, text) => {
      expect(read(...alerts)).toBe(`${text} · transaction`);
    });

    it('shows no single transfer’s amount as the total if one of two tokens has no sum', () => {
      const tiny = compact({ txHash: HASH, ...COIN, value: '1' });
      for (const unsummed of [
        twelve((n) => ({ value: n === 5 ? null : '5000000' })),
        twelve(() => ({ decimals: 130 })),
      ]) {
        const text = read(...unsummed, tiny);
        expect(text).toContain('+ USDC in 12 transfers from');
        expect(text).toContain('+0.000000000000000001 ETH in 1 transfer from');
      }
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

  it('ends a message of compact alerts before a suspicious alert, which gets a tall card', () => {
    const fake = compact({}, { warnings: [{ kind: 'imitation', symbol: 'USDC', genuine: null }] });
    const uncataloged = compact({}, { warnings: [{ kind: 'uncataloged' }] });
    for (const tall of [fake, uncataloged]) {
      expect(render([compact(), tall]).used).toBe(1);
      expect(render([tall, compact()])).toMatchObject({ used: 1, payload: { embeds: [{}] } });
    }
  });

  it('pings once, and keeps the role when the message is rendered again', () => {
    const alert = compact({}, { matches: [matchOf(TREASURY, 'incoming', 1, '77')] });
    const { payload } = render([alert]);
    expect(payload.allowed_mentions).toEqual({ parse: [], roles: ['77'] });
    expect(textsOf(payload.components)[0]).toMatch(/^.* \+5 USDC <@&77>\n/);
    const again = render([alert], null, payload).payload;
    expect(again.allowed_mentions).toEqual({ parse: [] });
    expect(textsOf(again.components)).toEqual(textsOf(payload.components));
  });

  it('leaves room for the mentions in a message of compact alerts, and again when it is rendered again', () => {
    const labelsOf = (length: number) => ({ [ALICE]: 'A'.repeat(length), [TREASURY]: 'T'.repeat(length) });
    const lengthOf = (payload: ReturnType<typeof render>['payload']) => textsOf(payload.components).join('').length;
    const alerts = Array.from({ length: 10 }, (_, n) => {
      const roles = [2 * n, 2 * n + 1].map((role) => String(10n ** 19n + BigInt(role)));
      const matches = roles.map((role, index) => matchOf(TREASURY, 'incoming', index, role));
      return compact({}, { labels: labelsOf(60), matches });
    });
    const full = render(alerts);
    expect(full.used).toBeGreaterThan(5);
    expect(lengthOf(full.payload)).toBeLessThanOrEqual(4_000);
    const before = render(alerts.map((alert) => ({ ...alert, labels: labelsOf(1) })));
    for (let length = 1; length <= 60; length++) {
      const renamed = alerts.slice(0, before.used).map((alert) => ({ ...alert, labels: labelsOf(length) }));
      const { payload, used } = render(renamed, null, before.payload);
      expect(used).toBe(before.used);
      expect(lengthOf(payload)).toBeLessThanOrEqual(4_000);
    }
  });

  it('keeps a compact message compact after the server chooses full alerts, and a tall one tall', () => {
    const small = compact();
    const tall = { ...small, style: 'full' as const };
    const [before, card] = [render([small]).payload, render([tall]).payload];
    expect(render([tall], null, before).payload).toEqual(before);
    expect(render([small], null, card).payload).toEqual(card);
  });

  it('keeps a suspicious alert of the same transaction out of a compact message', () => {
    const first = compact({ txHash: HASH });
    const fake = compact({ txHash: HASH }, { warnings: [{ kind: 'imitation', symbol: 'USDC', genuine: null }] });
    expect(render([first, fake], 0, render([first]).payload).used).toBe(1);
  });

  it('drops links rather than alerts when longer names no longer fit', () => {
    const alerts = Array.from({ length: 10 }, () => compact());
    const before = render(alerts).payload;
    const labels = { [ALICE]: 'A'.repeat(60), [TREASURY]: 'T'.repeat(60) };
    const renamed = alerts.map((alert) => ({ ...alert, labels, reorganized: true }));
    const again = render(renamed, null, before);
    expect([again.used, again.payload.components!.length]).toEqual([10, 10]);
    const texts = again.payload.components!.slice(1) as APITextDisplayComponent[];
    for (const { content } of texts) expect(content).toContain('A'.repeat(19));
  });
});
