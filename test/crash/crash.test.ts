import { expect, it } from 'vitest';
import { crash } from './crash.ts';

it('shows everything acknowledged, and nothing twice, after 20 kills at any point', async () => {
  const { rounds, acknowledged, shown, lost, doubled, problems, points } = await crash(20);
  expect({ rounds, shown, lost, doubled, problems }).toEqual({
    rounds: 20,
    shown: acknowledged,
    lost: 0,
    doubled: 0,
    problems: [],
  });
  // However slow the machine is, a round without any work would show nothing.
  expect(acknowledged).toBeGreaterThan(rounds);
  expect(points.size).toBeGreaterThan(8);
  // Most points are steps of calls to the store, which are found by their names.
  expect([...points.keys()].filter((point) => point.includes('.')).length).toBeGreaterThan(3);
}, 900_000);
