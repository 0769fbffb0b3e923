import { expect, it } from 'vitest';
import { crash } from './crash.ts';

it('shows everything acknowledged, and nothing twice, after 30 kills at any point', async () => {
  const { rounds, acknowledged, shown, lost, doubled, problems, points } = await crash(30);
  expect({ rounds, shown, lost, doubled, problems }).toEqual({
    rounds: 30,
    shown: acknowledged,
    lost: 0,
    doubled: 0,
    problems: [],
  });
  // However slow the machine is, a round without any work would show nothing.
  expect(acknowledged).toBeGreaterThan(rounds);
  expect(points.size).toBeGreaterThan(10);
}, 900_000);
