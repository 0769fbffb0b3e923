import { expect, it } from 'vitest';
import type { AddressText } from '../../../src/domain/address.ts';
import { DEFAULT_FILTERS } from '../../../src/domain/subscription.ts';
import { subscriptionsTable, watcherLookUp } from '../../../src/store/sqlite/subscriptions.ts';
import { openHere } from './opened.ts';

const ADDRESS: AddressText = `0x${'1'.repeat(40)}`;
const OTHER: AddressText = `0x${'2'.repeat(40)}`;

function added(outcome: ReturnType<ReturnType<typeof subscriptionsTable>['add']>) {
  if (outcome.status !== 'added') throw new Error(outcome.status);
  return outcome.subscription;
}

it('finds who watches an address in every server, with everything that the router decides by', () => {
  const db = openHere();
  const table = subscriptionsTable(db);
  const common = { createdBy: 'u', createdAt: 1 };
  const filters = { ...DEFAULT_FILTERS, zero: true };
  const choices = {
    direction: 'incoming',
    kind: 'erc20',
    minimum: '5',
    token: OTHER,
    filters,
    digest: 'hourly',
    quiet: '22:00-07:00',
  } as const;
  const add = (guildId: string, channelId: string, watched: AddressText, more = {}) =>
    added(table.add({ ...common, guildId, channelId, address: watched, ...more }, 10)).id;
  const first = add('g', 'c', ADDRESS, choices);
  const second = add('h', 'd', ADDRESS);
  add('g', 'c', OTHER);
  table.change('g', first, { paused: true, mutedUntil: 9 });

  const byId = <One extends { id: number }>(found: One[]) => found.sort((a, b) => a.id - b.id);
  expect(byId(watcherLookUp(db)()(ADDRESS))).toEqual([
    { id: first, guildId: 'g', channelId: 'c', address: ADDRESS, ...choices, paused: true, mutedUntil: 9 },
    {
      id: second,
      guildId: 'h',
      channelId: 'd',
      address: ADDRESS,
      direction: 'any',
      kind: 'any',
      minimum: null,
      token: null,
      filters: DEFAULT_FILTERS,
      digest: null,
      quiet: null,
      paused: false,
      mutedUntil: null,
    },
  ]);
  expect(byId(table.watching([ADDRESS])).map(({ id }) => id)).toEqual([first, second]);
  expect(table.watching([])).toEqual([]);
});

it('lets several channels watch the same address, each once', () => {
  const table = subscriptionsTable(openHere());
  const wish = { guildId: 'g', channelId: 'c', address: ADDRESS, createdBy: 'u', createdAt: 1 };
  const first = table.add(wish, 10);
  expect(table.add(wish, 10)).toMatchObject({ status: 'exists', subscription: { id: added(first).id } });
  const second = table.add({ ...wish, channelId: 'd' }, 10);
  const third = table.add({ ...wish, address: OTHER }, 10);
  expect([first, second, third].map(({ status }) => status)).toEqual(['added', 'added', 'added']);
  expect(table.change('g', added(second).id, { channelId: 'c' })).toMatchObject({ status: 'exists' });
  expect(table.change('g', added(third).id, { channelId: 'd' })).toMatchObject({ status: 'changed' });
});
