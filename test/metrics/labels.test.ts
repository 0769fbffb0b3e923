import { expect, it } from 'vitest';
import { networkLabels } from '../../src/metrics/metrics.ts';

it('distinguishes at most fifty networks in logs and metrics, and names none where there is one', () => {
  const named = (count: number) => networkLabels(Array.from({ length: count }, (_, index) => ({ name: `n${index}` })));
  expect(named(1)).toEqual([]);
  expect(new Set(named(50)).size).toBe(50);
  expect(named(200)).toHaveLength(200);
  expect(new Set(named(200)).size).toBe(50);
  expect(named(200).slice(48, 51)).toEqual(['n48', 'others', 'others']);
});
