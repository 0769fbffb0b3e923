import { expect, it } from 'vitest';
import { mentionsOf } from '../../src/domain/mention.ts';

const NOW = 1_000_000_000;
const MINUTE = 60_000;

function line(value: string | null, match: object, decimals: number | null = 6) {
  const plain = { subscription: 1, mention: '7', mentionMinimum: null, mentionCooldown: 5, mentionedAt: null };
  return { transfer: { kind: 'erc20' as const, value, decimals, tokenId: null }, matches: [{ ...plain, ...match }] };
}

it.each([
  ['without a minimum', line('1', {}), ['7']],
  ['without a role', line('1', { mention: null }), []],
  ['below the minimum', line('99999999', { mentionMinimum: '100' }), []],
  ['at the minimum', line('100000000', { mentionMinimum: '100' }), ['7']],
  ['with an amount that cannot be compared', line('1', { mentionMinimum: '100' }, null), ['7']],
  ['without an amount', line(null, { mentionMinimum: '100' }), ['7']],
  ['within the cool-down', line('1', { mentionedAt: NOW - 5 * MINUTE + 1 }), []],
  ['after the cool-down', line('1', { mentionedAt: NOW - 5 * MINUTE }), ['7']],
  ['within the cool-down after the clock was set back', line('1', { mentionedAt: NOW + MINUTE }), []],
  ['after a mention that a wrong clock put days ahead', line('1', { mentionedAt: NOW + 3 * 24 * 60 * MINUTE }), ['7']],
])('decides whether to mention a role for an alert %s', (_, given, roles) => {
  expect(mentionsOf([given], NOW).roles).toEqual(roles);
  // A token id that comes with an amount changes nothing.
  expect(mentionsOf([{ ...given, transfer: { ...given.transfer, tokenId: '0' } }], NOW).roles).toEqual(roles);
});

it('mentions a role once, for all subscriptions that ask for it', () => {
  const lines = [
    line('1', { subscription: 1 }),
    line('1', { subscription: 2 }),
    line('1', { subscription: 3, mentionMinimum: '5' }),
    line('1', { subscription: 4, mention: '8' }),
  ];
  expect(mentionsOf(lines, NOW)).toEqual({ roles: ['7', '8'], subscriptions: [1, 2, 4] });
});

it('mentions at most twenty roles, and starts no cool-down for the others', () => {
  const lines = Array.from({ length: 21 }, (_, n) => line('1', { subscription: n, mention: `role ${n}` }));
  const twenty = Array.from({ length: 20 }, (_, n) => n);
  expect(mentionsOf(lines, NOW)).toEqual({ roles: twenty.map((n) => `role ${n}`), subscriptions: twenty });
});
