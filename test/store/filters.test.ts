import { expect, it } from 'vitest';
import { bloomFilters, emptyFilter, note } from '../../src/store/sqlite/filters.ts';

const EPOCH = 2 ** 17;
/** The same in every run, and spread as hashes are; another one for each number. */
const prefixOf = (n: number) => (Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0');

function filterOf(from: number, transactions: number): Uint8Array {
  const filter = emptyFilter();
  for (let n = from; n < from + transactions; n++) note(filter, prefixOf(n));
  return filter;
}

it('a full filter passes everything that it holds, and one in 200 others at the most', () => {
  const filters = bloomFilters();
  filters.add(7, filterOf(0, EPOCH));
  const passed = (from: number) =>
    Array.from({ length: 20_000 }, (_, n) => filters.of(prefixOf(from + n))).filter(([epoch]) => epoch === 7).length;
  expect(passed(0)).toBe(20_000);
  expect(passed(EPOCH - 20_000)).toBe(20_000);
  expect(passed(EPOCH)).toBeLessThan(100);
});

it('many epochs are told apart; one that is taken away leaves nothing to the one that gets its place', () => {
  const filters = bloomFilters();
  const each = 100;
  const expectEpoch = (epoch: number, from: number, held: boolean) => {
    for (let n = from; n < from + each; n++) expect(filters.of(prefixOf(n)).includes(epoch)).toBe(held);
  };
  const epochs = Array.from({ length: 19 }, (_, epoch) => epoch);
  for (const epoch of epochs) filters.add(epoch, filterOf(epoch * each, each));
  expect(filters.epochs()).toEqual(epochs);
  for (const epoch of epochs) {
    expectEpoch(epoch, epoch * each, true);
    expectEpoch(epoch, ((epoch + 1) % epochs.length) * each, false);
  }
  expect(filters.remove(9)).toBe(true);
  expect(filters.remove(9)).toBe(false);
  filters.add(30, filterOf(30 * each, each));
  expectEpoch(9, 9 * each, false);
  expectEpoch(30, 9 * each, false);
  expectEpoch(30, 30 * each, true);
  expectEpoch(10, 10 * each, true);
  // What is taken down anew replaces what was there.
  filters.add(10, filterOf(40 * each, each));
  expectEpoch(10, 10 * each, false);
  expectEpoch(10, 40 * each, true);
});
