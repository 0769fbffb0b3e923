import { expect, it } from 'vitest';
import { MINUTE } from '../../src/domain/clock.ts';
import { isNextHead, latenessOf } from '../../src/domain/lateness.ts';

it('calls a transfer late once two samples passed its block ten minutes before it arrived', () => {
  expect(latenessOf([MINUTE, 2 * MINUTE], 12 * MINUTE)).toBe(11 * MINUTE);
  expect(latenessOf([2 * MINUTE, MINUTE], 12 * MINUTE)).toBe(11 * MINUTE);
  expect(latenessOf([MINUTE, 2 * MINUTE], 12 * MINUTE - 1)).toBeNull();
});

it('calls a transfer not late when fewer than two samples passed its block', () => {
  expect(latenessOf([], 60 * MINUTE)).toBeNull();
  expect(latenessOf([0], 60 * MINUTE)).toBeNull();
});

it('keeps the first head, and then one a minute if it is higher', () => {
  expect(isNextHead([], { block: 1, at: 0 })).toBe(true);
  const latest = [{ block: 100, at: 0 }];
  expect(isNextHead(latest, { block: 101, at: MINUTE })).toBe(true);
  expect(isNextHead(latest, { block: 101, at: MINUTE - 1 })).toBe(false);
  expect(isNextHead(latest, { block: 100, at: MINUTE })).toBe(false);
});

it('continues from the middle of the last three heads when one of them is absurd', () => {
  const latest = [100, 9e15, 99].map((block) => ({ block, at: 0 }));
  expect(isNextHead(latest, { block: 101, at: MINUTE })).toBe(true);
  expect(isNextHead(latest, { block: 100, at: MINUTE })).toBe(false);
});
