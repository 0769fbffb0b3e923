import { describe, expect } from 'vitest';
import { HOUR } from '../../../src/domain/clock.ts';
import type { SeenDelivery } from '../../../src/domain/identity.ts';
import type { StoredDelivery } from '../../../src/domain/routing.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  ADA,
  ALICE,
  address,
  CHANNEL,
  contextOf,
  decision,
  delivery,
  finishErasure,
  firstEvent,
  GUILD,
  historyOf,
  keyOf,
  matchOf,
  NOW,
  newAlert,
  OTHER_CHANNEL,
  OTHER_GUILD,
  queryOf,
  received,
  routed,
  saveProject,
  storedTransfer,
  subscribe,
  TREASURY,
  transfer,
  USDC,
} from './given.ts';
import type { StoreTest } from './index.ts';

const ROUTED = { code: 'LEDGERBELL_ROUTED' };

const channelsWithWork = async ({ outbox }: Store) =>
  (await outbox.channelsWithWork()).map(({ channelId }) => channelId).sort();

const asRead = ({ projectId, addressType, direction, lastAt, ...seen }: StoredDelivery): SeenDelivery => seen;

export function routingContract(it: StoreTest): void {
  describe('routing', () => {
    it('refuses to store a transfer twice', async ({ store: { routing } }) => {
      await routing.commit(routed({ transfers: [storedTransfer(1)] }));
      await expect(routing.commit(routed({ transfers: [storedTransfer(1)] }))).rejects.toThrow(/unique/i);
    });

    it('refuses a second alert of a transfer in a channel, with all that was decided with it', async ({ store }) => {
      const done = await store.inbox.append([received('{}')]);
      const twice = { done, transfers: [storedTransfer(1)], alerts: [newAlert(1), newAlert(1)] };
      await expect(store.routing.commit(routed(twice))).rejects.toThrow(/unique/i);
      expect(await store.inbox.next(9)).toHaveLength(1);
      expect(await channelsWithWork(store)).toEqual([]);
    });

    it('returns what is next in the inbox after a commit, without what it took out', async ({ store }) => {
      const [first, ...others] = await store.inbox.append(['a', 'b', 'c', 'd'].map((text) => received(text)));
      const { next } = await store.routing.commit(routed({ done: [first!] }), { limit: 2, bytes: 99 });
      expect(next).toMatchObject([
        { id: others[0], body: 'b' },
        { id: others[1], body: 'c' },
      ]);
      expect((await store.routing.commit(routed({ done: [others[0]!] }))).next).toEqual([]);
    });

    it('stores nothing about deliveries that an earlier commit took out of the inbox', async ({ store }) => {
      const bodies = ['first', 'second'].map((text) => received(text));
      const [first, second] = await store.inbox.append(bodies);
      const once = { transfers: [storedTransfer(1)], deliveries: [delivery(1)], alerts: [newAlert(1)] };
      await store.routing.commit(routed({ done: [first!], ...once }));

      // The response to that commit was lost: the router takes the same body for a second transfer.
      const again = routed({
        done: [first!, second!],
        transfers: [storedTransfer(1, { count: 2 })],
        deliveries: [delivery(1, { count: 2 })],
        changed: [keyOf(1)],
      });
      await expect(store.routing.commit(again)).rejects.toMatchObject(ROUTED);
      const quarantined = [{ id: first!, reason: 'no JSON' }];
      await expect(store.routing.commit(routed({ quarantined }))).rejects.toMatchObject(ROUTED);

      expect((await store.inbox.next(9)).map(({ id }) => id)).toEqual([second]);
      expect(await store.quarantine.list()).toEqual([]);
      expect(await historyOf(store, 1)).toMatchObject([{ count: 1 }]);
    });

    it('stores nothing about deliveries of a project that was erased after the context was read', async ({ store }) => {
      const scope = await saveProject(store);
      const [erased, other] = await store.inbox.append([scope, 0].map((of) => received('{}', { scope: of })));
      await store.erasure.begin(GUILD);
      await finishErasure(store, GUILD);

      const result = routed({
        done: [erased!, other!],
        transfers: [storedTransfer(1, { scope }), storedTransfer(2)],
        deliveries: [delivery(1), delivery(2)],
        learned: { heads: [{ scope, block: 9, at: NOW }] },
      });
      await expect(store.routing.commit(result)).rejects.toMatchObject(ROUTED);
      expect((await store.inbox.next(9)).map(({ id }) => id)).toEqual([other]);
      const queries = [scope, 0].map((of, index) => queryOf(index + 1, { scope: of }));
      expect(await store.routing.context(queries, NOW)).toMatchObject({ transfers: [], deliveries: [] });
    });

    it('stores an alert of one transfer in each of several channels', async ({ store }) => {
      const alerts = [newAlert(1), newAlert(1, { channelId: OTHER_CHANNEL })];
      await store.routing.commit(routed({ transfers: [storedTransfer(1)], alerts }));
      expect(await channelsWithWork(store)).toEqual([CHANNEL, OTHER_CHANNEL]);
    });

    it('stores nothing about subscriptions that were removed or erased since the context', async ({ store }) => {
      const own = await subscribe(store);
      const removed = await subscribe(store, { channelId: OTHER_CHANNEL });
      const erased = await subscribe(store, { guildId: OTHER_GUILD, channelId: '9' });
      await store.subscriptions.remove(GUILD, removed.id);
      await store.erasure.begin(OTHER_GUILD);
      await finishErasure(store, OTHER_GUILD);
      const all = [own, removed, erased];
      const met = { counterparty: ALICE, seenAt: NOW, isPaid: false };
      await store.routing.commit(
        routed({
          transfers: [storedTransfer(1)],
          alerts: all.map(({ id, guildId, channelId }) => newAlert(1, { guildId, channelId, matches: [matchOf(id)] })),
          decisions: all.map(({ id, guildId, channelId }) => decision(1, { guildId, channelId, subscription: id })),
          stats: all.map(({ id }) => firstEvent(id)),
          learned: { counterparties: all.map(({ guildId, address }) => ({ guildId, address, ...met })) },
        }),
      );
      const here = [{ channelId: CHANNEL }];
      expect(await historyOf(store, 1)).toMatchObject([{ decisions: here, alerts: here }]);
      expect(await store.metrics.stored(OTHER_GUILD)).toMatchObject({ waiting: 0, history: 0 });
      expect(await channelsWithWork(store)).toEqual([CHANNEL]);
      expect(await store.channels.channelForNotices(OTHER_GUILD, '8')).toBeNull();
      await subscribe(store, { guildId: OTHER_GUILD, channelId: '9' });
      const { counterparties } = (await contextOf(store, 2)).knowledge;
      expect(counterparties.map(({ guildId }) => guildId)).toEqual([GUILD]);
    });

    it('returns every watcher of a first transfer, and no transfer after too many', async ({ store }) => {
      const watch = (count: number, channel: string) => {
        const added = Array.from({ length: count }, (_, n) => ({
          address: TREASURY,
          channelId: `${channel}${n}`,
          change: {},
        }));
        const file = { guildId: GUILD, userId: ADA, added, changed: [], labels: [], at: NOW };
        return store.subscriptions.importAll(file, { subscriptions: 9_999, labels: 0 });
      };
      await watch(2_501, '1');
      // The first two are of one transfer.
      const twice = await store.routing.context([queryOf(1), queryOf(1), queryOf(3)], NOW);
      expect(twice).toMatchObject({ covered: 2, watched: [{ watchers: { length: 2_501 } }] });
      await watch(2_500, '2');
      const { address: to } = await subscribe(store, { guildId: OTHER_GUILD, address: address(9) });
      const [many, one] = [queryOf(1), queryOf(2, { transfer: transfer(2, { to }) })];
      for (const [queries, watchers] of [
        [[one, many, one], 1],
        [[many, one], 5_001],
      ] as const) {
        const { covered, watched } = await store.routing.context([...queries], NOW);
        expect([covered, ...watched.map((found) => found.watchers.length)]).toEqual([1, watchers]);
      }
    });

    it('stores an alert that another subscription still matches', async ({ store }) => {
      const [token, treasury] = [await subscribe(store, { address: USDC }), await subscribe(store)];
      await store.subscriptions.remove(GUILD, token.id);
      const matches = [token, treasury].map(({ id }) => matchOf(id));
      const stats = [token, treasury].map(({ id }) => firstEvent(id));
      await store.routing.commit(routed({ transfers: [storedTransfer(1)], alerts: [newAlert(1, { matches })], stats }));
      expect(await channelsWithWork(store)).toEqual([CHANNEL]);
    });

    it('returns the activity stats of the watchers, as they were stored last', async ({ store }) => {
      const { id: subscription } = await subscribe(store);
      expect((await contextOf(store, 1)).stats).toEqual([]);
      const first = firstEvent(subscription);
      await store.routing.commit(routed({ stats: [first] }));
      expect((await contextOf(store, 1)).stats).toEqual([first]);
      const second = { subscription, events: 2, lastEventAt: NOW + HOUR, gapMs: HOUR };
      await store.routing.commit(routed({ stats: [second] }));
      expect((await contextOf(store, 1)).stats).toEqual([second]);
      expect(await store.subscriptions.get(GUILD, subscription)).toMatchObject({ lastEventAt: NOW + HOUR });
    });

    it('returns a delivery as it was stored last', async ({ store }) => {
      const first = delivery(1, { ids: ['seen'] });
      await store.routing.commit(routed({ transfers: [storedTransfer(1)], deliveries: [first] }));
      const [seen] = (await contextOf(store, 1)).transfers;
      expect((await contextOf(store, 1)).deliveries).toEqual([asRead(first)]);
      const changed = { count: 2, received: 3, lastAt: NOW + 2, run: 'another-run', windowMs: 7, inWindow: 2 };
      const second = { ...first, ...changed, ids: ['seen', 'again'], places: ['1 log:5'] };
      await store.routing.commit(routed({ transfers: [seen!], deliveries: [second] }));
      expect((await contextOf(store, 1)).deliveries).toEqual([asRead(second)]);
    });
  });
}
