import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { createTokenCatalog } from '../../src/routing/token-catalog.ts';

const token = (n: number): AddressText => `0x${n.toString(16).padStart(40, '0')}`;

/** This many tokens from the nth on, which came for a scope. */
const tokens = (scope: number, from: number, count: number) =>
  Array.from({ length: count }, (_, n) => [token(from + n), scope] as const);

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
  return { ...catalog, requested, clock };
}

it('looks up a limited number of tokens for one server’s own project, and every token of the operator’s', async () => {
  const { learn, requested, clock } = open();
  for (let round = 0; round < 10; round++) await learn(new Map(tokens(7, round * 100, 100)), new Map());
  expect(requested).toHaveLength(20);
  await learn(new Map(tokens(0, 5_000, 20)), new Map());
  expect(requested).toHaveLength(40);
  clock.advance(3_000);
  await learn(new Map(tokens(7, 9_000, 100)), new Map());
  expect(requested).toHaveLength(41);
});

it('looks up tokens of each scope in turn, so that one with many does not delay another', async () => {
  const { learn, requested } = open();
  await learn(new Map([...tokens(7, 0, 100), ...tokens(0, 1_000, 2)]), new Map());
  expect(requested).toHaveLength(20);
  expect(requested).toEqual(expect.arrayContaining([token(1_000), token(1_001)]));
});
