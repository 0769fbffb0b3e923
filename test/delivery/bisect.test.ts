import { expect, it } from 'vitest';
import { NO_SEARCH, narrowed, type Search, widened } from '../../src/delivery/bisect.ts';

it('narrows a refused message to a half at a time, then to one alert as plain text, then to nothing', () => {
  const steps: (Search | null)[] = [];
  let search: Search | null = NO_SEARCH;
  while (search) {
    search = narrowed(search, search.limit);
    steps.push(search);
  }
  expect(steps).toEqual([
    { limit: 5, plain: false },
    { limit: 3, plain: false },
    { limit: 2, plain: false },
    { limit: 1, plain: false },
    { limit: 1, plain: true },
    null,
  ]);
});

it('tries at most five alerts after a digest was refused', () => {
  expect(narrowed(NO_SEARCH, 20_000)).toEqual({ limit: 5, plain: false });
});

it('widens to twice as many alerts after each message that was sent, and to ten at most', () => {
  const [first, second] = [widened({ limit: 1, plain: true }), widened({ limit: 8, plain: false })];
  expect([first, second]).toEqual([
    { limit: 2, plain: false },
    { limit: 10, plain: false },
  ]);
});
