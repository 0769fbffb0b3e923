import { expect, it } from 'vitest';
import { takenInTurn } from '../../src/domain/inbox.ts';

/** Of scope 7, the third delivery has the id 73. */
const scope = (number: number, ...sizes: number[]) => sizes.map((size, n) => ({ id: 10 * number + n + 1, size }));
const taken = (scopes: ReturnType<typeof scope>[], limit = 9, bytes = Number.POSITIVE_INFINITY) =>
  takenInTurn(scopes, limit, bytes);

it('takes the oldest delivery of each scope, then the second of each', () => {
  expect(taken([scope(1, 1, 1, 1), scope(2, 1), scope(3, 1, 1)])).toEqual([11, 21, 31, 12, 32, 13]);
  expect(taken([scope(1, 1, 1, 1), scope(2, 1)], 3)).toEqual([11, 21, 12]);
  expect(taken([])).toEqual([]);
});

it('stops after the delivery that reaches the limit of size, but not before each scope had its turn', () => {
  expect(taken([scope(1, 4, 1), scope(2, 9, 1)], 9, 4)).toEqual([11, 21]);
  expect(taken([scope(1, 2, 2, 2), scope(2, 1, 1)], 9, 4)).toEqual([11, 21, 12]);
  expect(taken([scope(1, 2, 2, 2)], 9, 4)).toEqual([11, 12]);
});
