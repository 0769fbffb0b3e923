import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import type { AddressText } from '../../src/domain/address.ts';
import { createTokenCatalog } from '../../src/routing/token-catalog.ts';

const token = (n: number): AddressText => `0x${n.toString(16).padStart(40, '0')}`;

/** Tokens from n on that came for a scope. */
const tokens = (scope: number, from: number, count: number) =>
  Array.from({ length: count }, (_, n) => [token(from + n), scope] as const);

function open() {
  const clock = createManualClock();
  const asked: AddressText[] = [];
  const catalog = createTokenCatalog({
    clock,
    async lookUp(address) {
      asked.push(address);
      return { status: 'not-found' };
    },
  });
  return { ...catalog, asked, clock };
}

it('looks up only so many tokens for one server’s own project, and every token of the operator’s', async () => {
  const { learn, asked, clock } = open();
  for (let round = 0; round < 10; round++) await learn(new Map(tokens(7, round * 100, 100)), new Map());
  expect(asked).toHaveLength(20);
  await learn(new Map(tokens(0, 5_000, 20)), new Map());
  expect(asked).toHaveLength(40);
  clock.advance(3_000);
  await learn(new Map(tokens(7, 9_000, 100)), new Map());
  expect(asked).toHaveLength(41);
});

it('looks tokens up for each scope in turn, so that one with many does not delay another’s', async () => {
  const { learn, asked } = open();
  await learn(new Map([...tokens(7, 0, 100), ...tokens(0, 1_000, 2)]), new Map());
  expect(asked).toHaveLength(20);
  expect(asked).toEqual(expect.arrayContaining([token(1_000), token(1_001)]));
});
