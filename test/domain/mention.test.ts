import { expect, it } from 'vitest';
import { type Alert, mentionsOf } from '../../src/domain/alert.ts';
import { DAY, MINUTE } from '../../src/domain/clock.ts';

const NOW = 1_000_000_000;

function alertOf(value: string | null, match: object, decimals: number | null = 6) {
  const plain = {
    subscription: 1,
    mention: '7',
    mayMention: true,
    minimumUsd: null,
    mentionMinimum: null,
    mentionMinimumUsd: null,
    mentionCooldown: 5,
    mentionedAt: null,
  };
  const transfer = { kind: 'erc20' as const, value, decimals, tokenId: null };
  return { transfer, count: 1, isSignificant: true, matches: [{ ...plain, ...match }] } as unknown as Alert;
}

it.each([
  ['without a minimum', alertOf('1', {}), ['7']],
  ['that the chain does not have', { ...alertOf('1', {}), count: 0 }, []],
  ['without a role', alertOf('1', { mention: null }), []],
  ['below the minimum', alertOf('99999999', { mentionMinimum: '100' }), []],
  ['at the minimum', alertOf('100000000', { mentionMinimum: '100' }), ['7']],
  ['with an amount that cannot be compared', alertOf('1', { mentionMinimum: '100' }, null), ['7']],
  ['without an amount', alertOf(null, { mentionMinimum: '100' }), ['7']],
  ['that is not worth a mention', alertOf('1', { mayMention: false }), []],
  ['within the cooldown', alertOf('1', { mentionedAt: NOW - 5 * MINUTE + 1 }), []],
  ['after the cooldown', alertOf('1', { mentionedAt: NOW - 5 * MINUTE }), ['7']],
  ['within the cooldown after the clock was set back', alertOf('1', { mentionedAt: NOW + MINUTE }), []],
  ['after a mention that a wrong clock put days ahead', alertOf('1', { mentionedAt: NOW + 3 * DAY }), ['7']],
])('decides whether to mention a role for an alert %s', (_, given, roles) => {
  expect(mentionsOf([given], NOW).roles).toEqual(roles);
  // A token id that comes with an amount changes nothing.
  expect(mentionsOf([{ ...given, transfer: { ...given.transfer, tokenId: '0' } }], NOW).roles).toEqual(roles);
});

const significant = (subscription: number) => ({ subscription, isSignificant: true });

it('mentions a role once, for all subscriptions that ask for it', () => {
  const alerts = [
    alertOf('1', { subscription: 1 }),
    alertOf('1', { subscription: 2 }),
    alertOf('1', { subscription: 3, mentionMinimum: '5' }),
    alertOf('1', { subscription: 4, mention: '8' }),
  ];
  expect(mentionsOf(alerts, NOW)).toEqual({ roles: ['7', '8'], mentioning: [1, 2, 4].map(significant) });
});

it('mentions at most twenty roles, and starts no cooldown for the others', () => {
  const alerts = Array.from({ length: 21 }, (_, n) => alertOf('1', { subscription: n, mention: `role ${n}` }));
  const { roles, mentioning } = mentionsOf(alerts, NOW);
  const twenty = Array.from({ length: 20 }, (_, n) => n);
  expect([roles, mentioning]).toEqual([twenty.map((n) => `role ${n}`), twenty.map(significant)]);
});
