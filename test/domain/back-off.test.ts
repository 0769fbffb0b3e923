import { expect, it } from 'vitest';
import { UNSURE_BACK_OFF } from '../../src/delivery/decide.ts';
import { backOff } from '../../src/domain/back-off.ts';
import { SECOND } from '../../src/domain/clock.ts';

it('doubles waits up to a maximum', () => {
  const waits = [0, 1, 2, 3, 4, 5_000].map((doublings) => backOff(doublings, { base: 10, max: 100 }));
  expect(waits).toEqual([10, 20, 40, 80, 100, 100]);
});

it('makes a share of the wait random', () => {
  const waits = [0, 0.5, 1].map((random) => backOff(2, { base: 10, max: 100, jitter: 0.5 }, random));
  expect(waits).toEqual([20, 30, 40]);
});

it('pauses after an attempt of unknown outcome with full jitter up to 1 s, doubling to a minute', () => {
  const waits = (random: number) => [0, 1, 2, 5, 6, 7, 999].map((n) => backOff(n, UNSURE_BACK_OFF, random));
  expect(waits(1)).toEqual([1, 2, 4, 32, 60, 60, 60].map((seconds) => seconds * SECOND));
  expect(waits(0.5)).toEqual([0.5, 1, 2, 16, 30, 30, 30].map((seconds) => seconds * SECOND));
  expect(waits(0)).toEqual([0, 0, 0, 0, 0, 0, 0]);
});
