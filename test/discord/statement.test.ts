import { expect, it } from 'vitest';
import { renderStatement, statementCsv } from '../../src/discord/render/statement.ts';
import type { AssetSum, GuildStatement } from '../../src/domain/balance.ts';
import { alertOf, TREASURY, USDC } from './alerts.ts';

const COIN = 10n ** 18n;
const sum = (change: Partial<AssetSum> = {}): AssetSum => ({
  asset: 'native',
  transfer: null,
  transfers: 1,
  opening: 100n * COIN,
  incoming: 0n,
  outgoing: 0n,
  fees: 0n,
  closing: 100n * COIN,
  ...change,
});
const token = (change: Partial<AssetSum>) =>
  sum({
    asset: USDC,
    transfer: alertOf({ decimals: 6, tokenSymbol: 'USDC' }).transfer,
    opening: 2_000_000n,
    ...change,
  });
const statementOf = (sums: AssetSum[], others: number | null = null, wallets = 1): GuildStatement => ({
  plan: { guildId: '1', period: 'weekly', timezone: 'Europe/Berlin', until: 0, closing: {} },
  since: Date.parse('2026-03-22T23:00Z'),
  until: Date.parse('2026-03-29T22:00Z'),
  wallets: Array.from({ length: wallets }, () => ({
    address: TREASURY,
    label: 'Treasury',
    since: 0,
    statement: { network: 0, address: TREASURY, range: { after: 7, upTo: 9 }, sums, others },
  })),
  known: [{ token: USDC, network: 0, symbol: 'USDC', cataloged: true, seen: true }],
  language: 'en-US',
});
const SETTINGS = { explorerUrl: 'https://explorer.example', nativeSymbol: 'HARBOR' };
function shown(statement: GuildStatement) {
  const { embeds } = renderStatement(SETTINGS, statement, 'ref') as {
    embeds: [{ title: string; description: string }];
  };
  return embeds[0];
}

const ADDS = '✅ Everything adds up.';
const OFF = '⚠️ 1 sum does not add up.';
const spent = { closing: 99n * COIN };

it.each<[string, AssetSum, others: number | null, text: string, line: string]>([
  [
    'what adds up',
    sum({ incoming: 5n * COIN, closing: 105n * COIN }),
    null,
    ADDS,
    '100 → **105** HARBOR (+5) · adds up',
  ],
  [
    'a fee',
    sum({ outgoing: 2n * COIN, fees: COIN / 8n, closing: 98n * COIN - COIN / 8n }),
    null,
    ADDS,
    '100 → **97.875** HARBOR (−2 −0.125 fees) · adds up',
  ],
  ['an unknown balance', sum({ opening: null }), null, '1 sum could not be checked', 'unknown → **100** HARBOR'],
  ['more that came in', sum({ closing: 101n * COIN }), 3, OFF, '⚠️ Does not add up: 1 HARBOR more came in'],
  ['more that went out', sum(spent), 0, OFF, '⚠️ Does not add up: 1 HARBOR more went out'],
  ['other fees', sum(spent), 2, OFF, '1 HARBOR more went out: probably the fees of 2 other'],
  ['a token, which pays no fees', token({ closing: 1_000_000n }), 2, OFF, 'add up: 1 USDC more went out'],
])('shows in a statement %s', (_, given, others, text, line) => {
  const { title, description } = shown(statementOf([given], others));
  expect(title).toMatch(/^🧾 Weekly statement · Mar 23\s–\s29, 2026$/u);
  expect(description).toContain(text);
  expect(description.includes('Everything adds up')).toBe(text === ADDS);
  expect(description).toContain(line);
});

it('names each wallet’s network and its coin where there are several', () => {
  const networks = new Map([[0, { title: 'Base', explorerUrl: 'https://base.example', nativeSymbol: 'ETH' }]]);
  const { embeds } = renderStatement({ ...SETTINGS, networks }, statementOf([sum()]), 'ref') as {
    embeds: [{ description: string }];
  };
  expect(embeds[0].description).toMatch(/https:\/\/base\.example\/.* · Base\n100 → \*\*100\*\* ETH/);
});

it('leaves wallets of a long statement to its file', () => {
  const long = statementOf([sum({ closing: 99n * COIN, outgoing: COIN })], null, 99);
  const { description } = shown(long);
  expect(description.length).toBeLessThan(4_000);
  expect(description.split('**Treasury**').length - 1).toBe(
    99 - Number(/…and (\d+) more wallets/.exec(description)![1]),
  );
  expect(statementCsv(SETTINGS, long).split('\r\n')).toHaveLength(100);
});

it('has exact amounts in its file', () => {
  const sums = [sum({ closing: 99n * COIN - 1n }), token({ closing: null })];
  expect(
    statementCsv(SETTINGS, statementOf(sums))
      .split('\r\n')
      .map((row) => row.split(',').slice(4).join()),
  ).toEqual([
    'opening,in,out,fees,closing,does not add up,from block,to block',
    '100,0,0,0,98.999999999999999999,-1.000000000000000001,7,9',
    '2,0,0,0,,,7,9',
  ]);
});
