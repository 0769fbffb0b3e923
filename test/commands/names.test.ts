import { expect, it } from 'vitest';
import { boldName } from '../../commands/shared/names.ts';

it('shows a label in bold between other words, and a missing one as its fallback', () => {
  expect(boldName('Treasury', '#1')).toBe('**Treasury**');
  expect(boldName('*Treasury*', '#1')).toBe('**`*Treasury*`**');
  expect([boldName(null, '#1'), boldName('\u200b', '#1')]).toEqual(['#1', '#1']);
});
