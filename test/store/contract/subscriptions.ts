import { describe, expect } from 'vitest';
import type { AddressText } from '../../../src/domain/address.ts';
import {
  DEFAULT_CHOICES,
  DEFAULT_FILTERS,
  type NewSubscription,
  type SubscriptionChange,
} from '../../../src/domain/subscription.ts';
import {
  ADA,
  ALICE,
  address,
  BOB,
  CHANNEL,
  contextOf,
  GUILD,
  NOW,
  name,
  newSubscription,
  OTHER_CHANNEL,
  OTHER_GUILD,
  subscribe,
  TREASURY,
  transfer,
  USDC,
} from './given.ts';
import type { StoreTest } from './index.ts';

export function subscriptionsContract(it: StoreTest): void {
  describe('subscriptions', () => {
    it('returns a new subscription with the defaults for what was not chosen', async ({ store: { subscriptions } }) => {
      const place = { guildId: GUILD, channelId: CHANNEL, address: TREASURY, createdBy: ADA, createdAt: NOW };
      const outcome = await subscriptions.add({ ...place, label: 'Treasury' }, 10);
      expect(outcome).toMatchObject({
        status: 'added',
        subscription: { ...place, ...DEFAULT_CHOICES, label: 'Treasury', paused: false, mutedUntil: null },
      });
    });

    it('limits a guild’s subscriptions and the channels for one address, whatever others have', async ({ store }) => {
      await subscribe(store);
      const add = (changed: Partial<NewSubscription>, limit: number) =>
        store.subscriptions.add(newSubscription({ channelId: OTHER_CHANNEL, ...changed }), limit, 1);
      expect(await add({ address: ALICE }, 1)).toEqual({ status: 'full' });
      expect(await add({}, 9)).toEqual({ status: 'crowded' });
      expect(await add({ address: ALICE }, 9)).toMatchObject({ status: 'added' });
      expect(await add({ guildId: OTHER_GUILD, channelId: '9' }, 1)).toMatchObject({ status: 'added' });
    });

    it.for([
      ['exists', CHANNEL, 1, 1],
      ['full', OTHER_CHANNEL, 1, 1],
      ['crowded', OTHER_CHANNEL, 2, 1],
      ['label-taken', OTHER_CHANNEL, 2, 2],
    ] as const)(
      'refuses a new subscription as `%s` before every later reason that applies too',
      async ([status, channelId, limit, channelsPerAddress], { store }) => {
        await subscribe(store);
        await name(store, ALICE, 'Cold');
        const added = newSubscription({ channelId, label: 'cold' });
        expect(await store.subscriptions.add(added, limit, channelsPerAddress)).toMatchObject({ status });
        expect(await store.subscriptions.list(GUILD)).toHaveLength(1);
        expect(await store.labels.list(GUILD)).toHaveLength(1);
      },
    );

    it('shows and changes a subscription only in its own guild', async ({ store }) => {
      const { id } = await subscribe(store);
      expect(await store.subscriptions.get(OTHER_GUILD, id)).toBeNull();
      expect(await store.subscriptions.list(OTHER_GUILD)).toEqual([]);
      expect(await store.subscriptions.change(OTHER_GUILD, id, { label: 'Mine' })).toEqual({ status: 'missing' });
      expect(await store.subscriptions.mute(OTHER_GUILD, [id], NOW)).toBe(0);
      expect(await store.subscriptions.remove(OTHER_GUILD, id)).toBe(false);
      expect(await store.subscriptions.get(GUILD, id)).toMatchObject({ label: null, mutedUntil: null });
    });

    it('gives an address one name in all channels of a guild, and a name to one address', async ({ store }) => {
      const { subscriptions, labels } = store;
      const { id } = await subscribe(store, { label: 'Treasury' });
      const other = await subscribe(store, { channelId: OTHER_CHANNEL });
      expect(other.label).toBe('Treasury');
      expect(await labels.list(GUILD)).toEqual([{ address: TREASURY, name: 'Treasury', createdBy: ADA, at: NOW }]);
      const taken = { status: 'label-taken', name: 'treasury', address: TREASURY };
      const second = newSubscription({ address: ALICE, label: 'treasury' });
      expect(await subscriptions.add(second, 10)).toEqual(taken);
      expect(await subscriptions.list(GUILD)).toHaveLength(2);
      const alice = await subscribe(store, { address: ALICE });
      const changed = { label: 'treasury', minimum: '5' };
      expect(await subscriptions.change(GUILD, alice.id, changed)).toEqual(taken);
      expect(await subscriptions.get(GUILD, alice.id)).toMatchObject({ label: null, minimum: null });

      await subscriptions.change(GUILD, other.id, { label: 'Cold' }, { userId: BOB, at: NOW + 1 });
      expect(await subscriptions.get(GUILD, id)).toMatchObject({ label: 'Cold' });
      expect(await labels.list(GUILD)).toEqual([{ address: TREASURY, name: 'Cold', createdBy: BOB, at: NOW + 1 }]);
      const renamed = await subscriptions.add(newSubscription({ channelId: '9', label: 'Hot' }), 10);
      expect(renamed).toMatchObject({ status: 'added', before: 'Cold' });
      await subscriptions.change(GUILD, id, { label: null });
      expect(await labels.list(GUILD)).toEqual([]);
      await subscribe(store, { guildId: OTHER_GUILD, channelId: '8', label: 'Hot' });
      expect(await subscriptions.get(GUILD, id)).toMatchObject({ label: null });
    });

    it('refuses to move a subscription to a taken channel before it refuses its taken label', async ({ store }) => {
      const first = await subscribe(store);
      const { id } = await subscribe(store, { channelId: OTHER_CHANNEL });
      await name(store, ALICE, 'Cold');
      const change = (changed: SubscriptionChange) => store.subscriptions.change(GUILD, id, changed);
      const taken = await change({ channelId: CHANNEL, label: 'cold' });
      expect(taken).toMatchObject({ status: 'exists', subscription: { id: first.id } });
      expect(await change({ channelId: '1009', label: 'cold' })).toMatchObject({ status: 'label-taken' });
      expect(await store.subscriptions.get(GUILD, id)).toMatchObject({ channelId: OTHER_CHANNEL, label: null });
      const moved = { status: 'changed', subscription: { channelId: '1009' } };
      expect(await change({ channelId: '1009' })).toMatchObject(moved);
    });

    it('keeps who named an address when somebody gives it the same name again', async ({ store }) => {
      const { id } = await subscribe(store, { label: 'Treasury' });
      await store.subscriptions.change(GUILD, id, { label: 'Treasury' }, { userId: BOB, at: NOW + 1 });
      await store.labels.set(GUILD, { address: TREASURY, name: 'Treasury', createdBy: BOB, at: NOW + 1 });
      expect(await store.labels.list(GUILD)).toMatchObject([{ createdBy: ADA, at: NOW }]);
    });

    it('removes a subscription once and never gives its id to another', async ({ store }) => {
      const { id } = await subscribe(store);
      expect(await store.subscriptions.remove(GUILD, id)).toBe(true);
      expect(await store.subscriptions.remove(GUILD, id)).toBe(false);
      expect((await subscribe(store)).id).toBeGreaterThan(id);
    });

    it('finds who watches an address in every guild, with everything that the router decides by', async ({ store }) => {
      const filters = { ...DEFAULT_FILTERS, zero: true };
      const wanted = { direction: 'incoming', kind: 'erc20', minimum: '5', token: USDC, filters } as const;
      const more = { digest: 'hourly', quiet: '22:00-07:00', holdAll: true, minimumUsd: '100' } as const;
      const choices = { ...wanted, ...more };
      const first = await subscribe(store, { ...choices, showBalance: true, warnBelow: '0.5' });
      expect(first).toMatchObject({ showBalance: true, warnBelow: '0.5', minimumUsd: '100' });
      const second = await subscribe(store, { guildId: OTHER_GUILD, channelId: '9' });
      await subscribe(store, { address: ALICE });
      await store.subscriptions.change(GUILD, first.id, { paused: true, mutedUntil: NOW });
      const found = (await store.subscriptions.watching([TREASURY])).sort((a, b) => a.id - b.id);
      expect(found.map(({ id }) => id)).toEqual([first.id, second.id]);
      // The rest is for people or for the message.
      const { label, mention, mentionCooldown, watchSilence, style, showBalance, warnBelow, ...defaults } =
        DEFAULT_CHOICES;
      const common = { ...defaults, address: TREASURY, paused: false, mutedUntil: null };
      const { watched } = await contextOf(store, 1, { transfer: transfer(1, { from: null }) });
      expect(watched[0]!.watchers.toSorted((a, b) => a.id - b.id)).toEqual([
        { ...common, ...choices, id: first.id, guildId: GUILD, channelId: CHANNEL, paused: true, mutedUntil: NOW },
        { ...common, id: second.id, guildId: OTHER_GUILD, channelId: '9' },
      ]);
      expect(await store.subscriptions.watching([])).toEqual([]);
    });

    it('lists the muted tokens of one guild until their time is over', async ({ store: { subscriptions } }) => {
      await subscriptions.muteToken(GUILD, USDC, NOW + 2);
      await subscriptions.muteToken(GUILD, 'native', NOW + 1);
      await subscriptions.muteToken(OTHER_GUILD, ALICE, NOW + 1);
      expect(await subscriptions.tokenMutes(GUILD, NOW)).toEqual([
        { token: 'native', until: NOW + 1 },
        { token: USDC, until: NOW + 2 },
      ]);
      expect(await subscriptions.tokenMutes(GUILD, NOW + 1)).toEqual([{ token: USDC, until: NOW + 2 }]);
      await subscriptions.muteToken(GUILD, USDC, NOW + 5);
      await subscriptions.muteToken(GUILD, 'native', null);
      expect(await subscriptions.tokenMutes(GUILD, NOW)).toEqual([{ token: USDC, until: NOW + 5 }]);
    });
  });

  describe('importing subscriptions', () => {
    const file = { guildId: GUILD, userId: ADA, added: [], changed: [], labels: [], at: NOW };
    const limits = { subscriptions: 10, labels: 10 };

    const [present, crowding, other] = [
      { address: TREASURY, channelId: CHANNEL, change: {} },
      { address: TREASURY, channelId: OTHER_CHANNEL, change: {} },
      { address: address(9), channelId: CHANNEL, change: {} },
    ];
    const [free, taken] = [
      { address: USDC, name: 'USD Coin' },
      { address: address(9), name: 'cold' },
    ];
    it.for([
      ['stale', 'adds what is there after a row that exceeds the limits', [crowding, present], [free], 1],
      ['stale', 'adds a subscription twice after a row that exceeds the limits', [crowding, other, other], [free], 1],
      ['stale', 'gives a taken name after a name that exceeds the limit', [crowding], [free, taken], 1],
      ['full', 'exceeds every limit', [crowding], [free], 1],
      ['crowded', 'has an address in too many channels and too many names', [crowding], [free], 9],
      ['labels-full', 'has too many names', [other], [free], 9],
    ] as const)('refuses a file as `%s` that %s', async ([outcome, _what, added, labels, subscriptions], { store }) => {
      await subscribe(store);
      await name(store, ALICE, 'Cold');
      const limits = { subscriptions, channelsPerAddress: 1, labels: 1 };
      const changed = { ...file, added: [...added], labels: [...labels] };
      expect(await store.subscriptions.importAll(changed, limits)).toBe(outcome);
      expect(await store.subscriptions.list(GUILD)).toHaveLength(1);
      expect(await store.labels.list(GUILD)).toHaveLength(1);
    });

    it('lets the addresses of a file swap their names, and refuses the name of another address', async ({ store }) => {
      await subscribe(store, { label: 'One' });
      await subscribe(store, { address: ALICE, label: 'Two' });
      const named = (address: AddressText, label: string) => ({ address, channelId: CHANNEL, change: { label } });
      const swapped = { ...file, changed: [named(TREASURY, 'Two'), named(ALICE, 'One')] };
      expect(await store.subscriptions.importAll(swapped, limits)).toBe('imported');
      expect((await store.subscriptions.list(GUILD)).map(({ label }) => label)).toEqual(['Two', 'One']);
      const taken = { ...file, labels: [{ address: USDC, name: 'one' }] };
      expect(await store.subscriptions.importAll(taken, limits)).toBe('stale');
      expect(await store.labels.list(GUILD)).toHaveLength(2);
    });

    it('imports nothing of a file that changes what was removed or belongs to another guild', async ({ store }) => {
      await subscribe(store, { guildId: OTHER_GUILD });
      const changed = [{ address: TREASURY, channelId: CHANNEL, change: { label: 'Mine' } }];
      const added = [{ address: ALICE, channelId: OTHER_CHANNEL, change: {} }];
      expect(await store.subscriptions.importAll({ ...file, added, changed }, limits)).toBe('stale');
      expect(await store.subscriptions.list(GUILD)).toEqual([]);
      expect(await store.subscriptions.list(OTHER_GUILD)).toMatchObject([{ label: null }]);
    });
  });
}
