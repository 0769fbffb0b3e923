import { expect, it } from 'vitest';
import { sharedStyle, styleOf } from '../../src/domain/subscription.ts';

it('shows alerts as chosen for the subscription, or else for the server, or else compact', () => {
  expect(styleOf('compact', 'full')).toBe('compact');
  expect(styleOf(null, 'full')).toBe('full');
  expect(styleOf(null, null)).toBe('compact');
});

it('shows an alert of several subscriptions with every detail if one of them wants that', () => {
  expect(sharedStyle(['compact', 'full'])).toBe('full');
  expect(sharedStyle(['compact', 'compact'])).toBe('compact');
  expect(sharedStyle([])).toBe('compact');
});
