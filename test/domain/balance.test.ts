import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AddressText } from '../../src/domain/address.ts';
import { type AssetSum, countedAssets, differenceOf, leftBy, periodAt } from '../../src/domain/balance.ts';
import { blockBefore, ChainError, refusalOf } from '../../src/domain/chain-node.ts';
import { thresholdOf } from '../../src/domain/subscription.ts';
import { catalogedAmong, type KnownToken } from '../../src/domain/token.ts';
import type { Transfer } from '../../src/domain/transfer.ts';

const [A, B, TOKEN, FAKE]: AddressText[] = ['0xa', '0xb', '0x1', '0x2'];

it.each([
  ['2026-03-25T12:00Z', 'weekly', 'Europe/Berlin', '2026-03-22T23:00Z', '2026-03-29T22:00Z'],
  ['2026-03-29T22:00Z', 'weekly', 'Europe/Berlin', '2026-03-29T22:00Z', '2026-04-05T22:00Z'],
  ['2026-12-31T23:59Z', 'monthly', 'UTC', '2026-12-01T00:00Z', '2027-01-01T00:00Z'],
  // The time zone was another one when the last statement ended.
  ['2026-03-29T22:00Z', 'weekly', 'America/New_York', '2026-03-23T04:00Z', '2026-03-30T04:00Z'],
] as const)('knows the period of %s: %s in %s', (at, period, timezone, since, until) => {
  expect(periodAt(Date.parse(at), period, timezone)).toEqual({ since: Date.parse(since), until: Date.parse(until) });
});

it.each<[string, Partial<Transfer>, AddressText, object | null]>([
  ['its sender', { kind: 'erc20', token: TOKEN! }, A!, { asset: TOKEN, address: A, block: 5 }],
  ['its receiver', { kind: 'native', token: null }, B!, { asset: 'native', address: B, block: 5 }],
  ['nobody else', { kind: 'native', token: null }, TOKEN!, null],
  ['nobody, as an NFT', { kind: 'erc721', token: TOKEN! }, A!, null],
  ['nobody, without a contract', { kind: 'erc20', token: null }, A!, null],
  ['nobody, without a block', { kind: 'native', token: null, blockNumber: null }, A!, null],
])('a transfer leaves a balance to %s', (_, transfer, address, left) => {
  expect(leftBy({ from: A, to: B, blockNumber: 5, ...transfer } as Transfer, address)).toEqual(left);
});

it.each<[Partial<AssetSum>, bigint | null]>([
  [{}, 0n],
  [{ closing: 12n }, 4n],
  [{ closing: null }, null],
  [{ opening: null }, null],
])('compares what moved with the balances %#', (changed, difference) => {
  const sum = { opening: 10n, incoming: 5n, outgoing: 4n, fees: 3n, closing: 8n, ...changed } as AssetSum;
  expect(differenceOf(sum)).toBe(difference);
});

it('trusts and counts cataloged tokens, and all where nothing is cataloged', () => {
  const known = [
    { token: TOKEN, network: 1, cataloged: true },
    { token: 'native', network: 1, cataloged: true },
    { token: FAKE, network: 1, cataloged: false },
  ] as KnownToken[];
  expect([...catalogedAmong(known), ...catalogedAmong(known, 1)]).toEqual([TOKEN, TOKEN]);
  expect(catalogedAmong(known, 2).size).toBe(0);
  const counts = countedAssets(known);
  expect([counts('native'), counts(TOKEN!), counts(FAKE!)]).toEqual([true, true, false]);
  expect(countedAssets(known.slice(2))(FAKE!)).toBe(true);
});

it('reads the asset of a limit, or the coin', () => {
  expect(thresholdOf(`5 ${TOKEN}`)).toEqual({ amount: '5', asset: TOKEN });
  expect(thresholdOf('0.5')).toEqual({ amount: '0.5', asset: 'native' });
});

it('finds the last block before a time, however irregular the blocks are, in few calls', async () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 1, maxLength: 3_000 });
  await fc.assert(
    fc.asyncProperty(gaps, fc.nat(), async (between, at) => {
      const blocks = [{ number: 0, hash: '0x0', at: 1 }];
      for (const [index, gap] of between.entries())
        blocks.push({ number: index + 1, hash: '0x0', at: blocks[index]!.at + gap });
      const wanted = at % (blocks.at(-1)!.at + 10);
      let calls = 0;
      const header = async (number: number) => {
        calls++;
        return blocks[number]!;
      };
      const found = await blockBefore({ header }, wanted, blocks.at(-1)!);
      expect(found).toEqual(blocks.findLast((block) => block.at < wanted) ?? blocks[0]);
      expect(calls).toBeLessThanOrEqual(30);
    }),
  );
});

it('goes on after refusals only: a node that is away may respond later', () => {
  const refused = new ChainError('refused', 'eth_getLogs');
  expect(refusalOf(refused)).toBe(refused);
  expect(refused.message).toBe('eth_getLogs: refused');
  for (const error of [new ChainError('away', 'eth_getLogs'), new TypeError('no')])
    expect(() => refusalOf(error)).toThrow(error);
});
