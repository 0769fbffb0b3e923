import { expect, it } from 'vitest';
import { takenInTurn } from '../../src/domain/inbox.ts';

const scope = (name: string, ...sizes: number[]) => sizes.map((size, n) => ({ name: `${name}${n + 1}`, size }));
const taken = (scopes: ReturnType<typeof scope>[], limit = 9, characters = Number.POSITIVE_INFINITY) =>
  takenInTurn(scopes, limit, characters).map(({ name }) => name);

it('takes the oldest delivery of each scope, then the second of each', () => {
  expect(taken([scope('a', 1, 1, 1), scope('b', 1), scope('c', 1, 1)])).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
  expect(taken([scope('a', 1, 1, 1), scope('b', 1)], 3)).toEqual(['a1', 'b1', 'a2']);
  expect(taken([])).toEqual([]);
});

it('stops after the delivery that reaches the limit of size, but not before each scope had its turn', () => {
  expect(taken([scope('a', 4, 1), scope('b', 9, 1)], 9, 4)).toEqual(['a1', 'b1']);
  expect(taken([scope('a', 2, 2, 2), scope('b', 1, 1)], 9, 4)).toEqual(['a1', 'b1', 'a2']);
  expect(taken([scope('a', 2, 2, 2)], 9, 4)).toEqual(['a1', 'a2']);
});
