import { expect, it } from 'vitest';
import { type Movement, summarize } from '../../src/domain/activity.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { DAY, HOUR } from '../../src/domain/clock.ts';
import type { Transfer } from '../../src/domain/transfer.ts';
import { transfer as transferOf } from '../store/contract/given.ts';

const ME: AddressText = '0x1111111111111111111111111111111111111111';
const YOU: AddressText = '0x2222222222222222222222222222222222222222';
const USDC: AddressText = '0x3333333333333333333333333333333333333333';
const NOW = Date.UTC(2026, 0, 8, 12, 30);
const WEEK = { since: NOW - 7 * DAY, now: NOW, timezone: 'UTC' };

function movement(
  change: Partial<Movement> & { value?: string; out?: boolean; move?: Partial<Transfer> } = {},
): Movement {
  const { value = '1', out = false, move, ...rest } = change;
  const [from, to] = out ? [ME, YOU] : [YOU, ME];
  const transfer = transferOf(1, { from, to, token: USDC, value, ...move });
  return { transferId: 1, network: 0, at: NOW - HOUR, count: 1, hidden: null, imitation: false, transfer, ...rest };
}

const inWeek = (...movements: Movement[]) => summarize(ME, movements, WEEK);

it('sums amounts exactly, counts each of several equal transfers, and leaves out noise', async () => {
  const huge = '123456789012345678901234567890123456789';
  const found = await inWeek(
    movement({ value: huge, count: 2 }),
    movement({ value: '3', hidden: 'minimum' }),
    movement({ value: `${huge}0`, count: 0 }),
    movement({ value: '10', out: true }),
    movement({ value: '999', hidden: 'guard', count: 4 }),
    movement({ move: { kind: 'erc721', token: YOU, tokenId: '7', value: null } }),
  );
  expect(found).toMatchObject({ incoming: 4, outgoing: 1, other: 0 });
  expect(found.totals).toMatchObject([
    { incoming: { transfers: 3, value: BigInt(huge) * 2n + 3n }, outgoing: { value: 10n } },
    { incoming: { transfers: 1, value: 1n } },
  ]);
  expect(found.largest.map(({ transfer }) => transfer.value)).toEqual([huge, '10', '3']);
  expect(found.hidden.map(({ reason, transfers }) => `${transfers} ${reason}`)).toEqual(['4 guard', '1 minimum']);
});

it('sums only transfers that are known to be of one token and have an amount', async () => {
  const nameless = (tokenSymbol: string) => ({ token: null, tokenSymbol });
  const found = await inWeek(
    movement({ value: '5', move: nameless('ONE') }),
    movement({ value: '7', move: nameless('TWO') }),
    movement({ value: '3' }),
    movement({ move: { value: null } }),
  );
  expect(found.incoming).toBe(4);
  expect(found.totals.map(({ incoming }) => incoming.value)).toEqual([5n, 7n, 3n, 0n]);
});

it('keeps amounts and pieces of one contract in different sums', async () => {
  const piece = movement({ move: { kind: 'erc721', tokenId: '7', value: null } });
  const { totals } = await inWeek(movement({ value: '5000000' }), piece, piece);
  expect(totals.map(({ transfer, incoming }) => [transfer.kind, incoming.transfers, incoming.value])).toEqual([
    ['erc721', 2, 2n],
    ['erc20', 1, 5_000_000n],
  ]);
});

it('lists only the busiest of thousands of tokens, which anybody can send, and counts all', async () => {
  const tokens = Array.from({ length: 2_000 }, (_, n) => `0x${n.toString(16).padStart(40, '0')}` as const);
  const found = await inWeek(...tokens.map((token) => movement({ move: { token } })), movement());
  expect([found.assets, found.incoming]).toEqual([2_001, 2_001]);
  expect(found.totals).toHaveLength(6);
  const text = JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  expect(text.length).toBeLessThan(20_000);
});

it('lists the coin and listed tokens before those that anybody may have made, however busy these are', async () => {
  const spam = Array.from({ length: 40 }, (_, n) => `0x${n.toString(16).padStart(40, 'f')}` as const);
  const coins = movement({ value: '777', out: true, move: { kind: 'native', token: null, decimals: 18 } });
  const flood = spam.flatMap((token) => Array<Movement>(5).fill(movement({ value: '9999999', move: { token } })));
  const found = await summarize(ME, [coins, ...flood, movement({ value: '5' })], WEEK, (_, token) => token === USDC);
  for (const list of [found.totals, found.largest])
    expect(list.slice(0, 2).map(({ transfer }) => transfer.token)).toEqual([null, USDC]);
});

it('lists the largest transfers of each asset in turn, and never compares two assets', async () => {
  const other = { token: YOU, tokenSymbol: 'MINI', decimals: 0 };
  const found = await inWeek(
    ...['5', '90', '70'].map((value) => movement({ value })),
    ...['2', '9'].map((value) => movement({ value, move: other })),
  );
  expect(found.largest.map(({ transfer }) => transfer.value)).toEqual(['90', '9', '70', '2', '5']);
});

it('lists the largest amounts, the latest among equals', async () => {
  const hours = [3, 1, 7, 5, 2, 6, 4];
  const found = await inWeek(
    movement({ value: '900', move: { kind: 'erc1155', token: YOU, tokenId: '7', decimals: null } }),
    ...hours.map((ago) => movement({ at: NOW - ago * HOUR, value: '5' })),
  );
  const largest = found.largest.map(({ at, transfer }) => `${transfer.kind} ${(NOW - at) / HOUR}`);
  expect(largest).toEqual([1, 2, 3, 4, 5].map((ago) => `erc20 ${ago}`));
  expect(found.totals.find(({ transfer }) => transfer.kind === 'erc1155')!.incoming.value).toBe(900n);
});

it('counts a self-transfer neither as incoming nor as outgoing', async () => {
  const { incoming, outgoing, other } = await inWeek(movement({ move: { from: ME } }));
  expect([incoming, outgoing, other]).toEqual([0, 0, 1]);
});

it('returns a bucket for each day of a week in the time zone, and for each hour of 24 hours', async () => {
  const days = (await inWeek(movement({ at: NOW - 7 * DAY }), movement({ at: NOW, out: true }))).buckets;
  expect(days.map(({ label }) => label)).toEqual(['01', '02', '03', '04', '05', '06', '07', '08']);
  expect([days[0]!, days[7]!].map(({ incoming, outgoing }) => `+${incoming} −${outgoing}`)).toEqual(['+1 −0', '+0 −1']);
  // Midnight in Kathmandu is at 18:15 UTC.
  const day = { since: NOW - DAY, now: NOW, timezone: 'Asia/Kathmandu' };
  const hours = (await summarize(ME, [movement({ at: Date.UTC(2026, 0, 7, 18, 20) })], day)).buckets;
  expect(hours).toHaveLength(25);
  expect(hours.find(({ label }) => label === '00')).toMatchObject({ incoming: 1 });
});

/** The buckets of New York, each as a label and how many transfers it has of one at each of these times. */
async function newYork(since: number, now: number, times: number[]): Promise<string[]> {
  const movements = times.map((at) => movement({ at }));
  const { buckets } = await summarize(ME, movements, { since, now, timezone: 'America/New_York' });
  return buckets.map(({ label, incoming }) => `${label}: ${incoming}`);
}

it('returns a bucket for each hour when clocks go back or forward', async () => {
  const hoursOf = (day: number, hours: number[]) => hours.map((hour) => day + hour * HOUR);
  // The hour from 01:00 comes twice: it begins at 05:00 UTC and at 06:00 UTC.
  const [november, march] = [Date.UTC(2026, 10, 1), Date.UTC(2026, 2, 8)];
  const back = november + 15 * HOUR;
  const repeated = await newYork(back - DAY, back, hoursOf(november, [5.5, 6, 6.5, 7]));
  expect(repeated).toHaveLength(25);
  expect(repeated.slice(12, 18)).toEqual(['23: 0', '00: 0', '01: 1', '01: 2', '02: 1', '03: 0']);
  // There is no hour from 02:00: 03:00 begins at 07:00 UTC.
  const forward = march + 15 * HOUR;
  const left = await newYork(forward - DAY, forward, hoursOf(march, [6.5, 7]));
  expect(left).toHaveLength(25);
  expect(left.slice(14, 18)).toEqual(['00: 0', '01: 1', '03: 1', '04: 0']);
});

it('returns a bucket for each day when clocks go back or forward', async () => {
  // 1 November has 25 hours there, 8 March has 23; both end at midnight.
  const back = [4, 28.9, 29].map((hour) => Date.UTC(2026, 10, 1) + hour * HOUR);
  const november = await newYork(Date.UTC(2026, 9, 31, 12), Date.UTC(2026, 10, 2, 12), back);
  expect(november).toEqual(['31: 0', '01: 2', '02: 1']);
  const forward = [5, 27.9, 28].map((hour) => Date.UTC(2026, 2, 8) + hour * HOUR);
  const march = await newYork(Date.UTC(2026, 2, 7, 12), Date.UTC(2026, 2, 9, 4, 30), forward);
  expect(march).toEqual(['07: 0', '08: 2', '09: 1']);
});

it('sums what is worth something, and lists what is worth most first, as far as prices are known', async () => {
  const coin = { kind: 'native', token: null, decimals: 18, price: '2500' } as const;
  const found = await inWeek(
    movement({ value: '4000000', move: { price: '0.9995' } }),
    movement({ value: '5000000', count: 2 }),
    movement({ value: '1000000000000000000', out: true, move: coin }),
    movement({ value: '9', move: { token: YOU } }),
  );
  expect(found).toMatchObject({ worth: { incoming: 3_998n * 10n ** 15n, outgoing: 2_500n * 10n ** 18n }, unpriced: 3 });
  expect(found.totals.map(({ transfer }) => transfer.token)).toEqual([null, USDC, YOU]);
  expect(found.totals[1]!.incoming.worth).toBeNull();
  const largest = found.largest.map(({ transfer }) => transfer.value);
  expect(largest).toEqual(['1000000000000000000', '4000000', '5000000', '9']);
});
