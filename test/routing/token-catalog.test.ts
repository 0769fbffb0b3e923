import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { createTokenCatalog } from '../../src/routing/token-catalog.ts';

const token = (n: number): AddressText => `0x${n.toString(16).padStart(40, '0')}`;

const FOUND = Promise.resolve({ status: 'not-found' as const });

const tokens = (scope: number, from: number, count: number, isUrgent = false) =>
  Array.from({ length: count }, (_, n) => [token(from + n), { scope, isUrgent }] as const);

function open() {
  const clock = createManualClock();
  const requested: AddressText[] = [];
  const catalog = createTokenCatalog({
    clock,
    async lookUp(address) {
      requested.push(address);
      return { status: 'not-found' };
    },
  });
  const learn = (wanted: ReturnType<typeof tokens>) => catalog.learn(new Map(wanted), new Map(), clock.now());
  return { learn, requested, clock };
}

it('looks up a limited number of tokens for one server’s own project, and more for the operator’s', async () => {
  const { learn, requested, clock } = open();
  for (let round = 0; round < 10; round++) await learn(tokens(7, round * 100, 100));
  expect(requested).toHaveLength(20);
  for (let round = 0; round < 10; round++) await learn(tokens(0, 5_000 + round * 100, 100));
  expect(requested).toHaveLength(120);
  clock.advance(3_000);
  await learn(tokens(7, 9_000, 100));
  expect(requested).toHaveLength(121);
});

it('looks up tokens of each scope in turn, so that one with many does not delay another', async () => {
  const { learn, requested } = open();
  await learn([...tokens(7, 0, 100), ...tokens(0, 1_000, 2)]);
  expect(requested).toHaveLength(20);
  expect(requested).toEqual(expect.arrayContaining([token(1_000), token(1_001)]));
});

it('looks up what left or imitates a known token first, however many others came in', async () => {
  const { learn, requested } = open();
  for (let round = 0; round < 10; round++) await learn(tokens(0, round * 100, 100));
  requested.length = 0;
  await learn([...tokens(0, 5_000, 100), ...tokens(0, 1, 1, true)]);
  expect(requested).toEqual([token(1)]);
});

it('waits for the explorer 1.5 s at most for a delivery, over all commits before it', async () => {
  const clock = createManualClock();
  const catalog = createTokenCatalog({
    clock,
    lookUp: (address) => (address === token(1) ? FOUND : new Promise(() => {})),
  });
  const learn = async (wanted: ReturnType<typeof tokens>, since: number) => {
    const began = clock.now();
    let isDone = false;
    const done = catalog.learn(new Map(wanted), new Map(), since).then(() => (isDone = true));
    for (let tick = 0; tick < 20 && !isDone; tick++) {
      await new Promise(setImmediate);
      if (!isDone) clock.advance(100);
    }
    await done;
    return clock.now() - began;
  };
  const arrival = clock.now();
  expect(await learn(tokens(0, 1, 2), arrival)).toBe(1_500);
  expect(await learn(tokens(0, 10, 5), arrival)).toBe(0);
  expect(await learn(tokens(0, 20, 5), clock.now() - 1_000)).toBe(500);
});
