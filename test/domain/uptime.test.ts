import { expect, it } from 'vitest';
import { addPause, pausesUntil, uptimeSince } from '../../src/domain/uptime.ts';

it('counts back through the time in which the bot could work and skips each pause', () => {
  const pauses = [
    { from: 100, until: 200 },
    { from: 400, until: 500 },
  ];
  expect(uptimeSince(1_000, 300, [])).toBe(700);
  expect(uptimeSince(1_000, 300, pauses)).toBe(700);
  expect(uptimeSince(1_000, 600, pauses)).toBe(300);
  expect(uptimeSince(1_000, 750, pauses)).toBe(50);
  expect(uptimeSince(450, 10, pauses)).toBe(390);
});

it('joins a pause with the one that it touches', () => {
  const pauses = addPause(addPause([], { from: 1, until: 5 }), { from: 5, until: 9 });
  expect(pauses).toEqual([{ from: 1, until: 9 }]);
  expect(addPause(pauses, { from: 20, until: 20 })).toEqual(pauses);
  expect(addPause(pauses, { from: 20, until: 30 })).toHaveLength(2);
});

it('cuts pauses that lie beyond a clock that was set back', () => {
  const pauses = [
    { from: 1, until: 5 },
    { from: 10, until: 20 },
    { from: 30, until: 40 },
  ];
  expect(pausesUntil(pauses, 12)).toEqual([
    { from: 1, until: 5 },
    { from: 10, until: 12 },
  ]);
});
