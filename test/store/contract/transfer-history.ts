import { describe, expect } from 'vitest';
import { DAY } from '../../../src/domain/clock.ts';
import {
  ALICE,
  address,
  CHANNEL,
  decision,
  delivery,
  freeze,
  GUILD,
  historyOf,
  keyOf,
  NOW,
  newAlert,
  OTHER_GUILD,
  post,
  pruneAll,
  routed,
  send,
  storedTransfer,
  subscribe,
  TREASURY,
  transfer,
  txHash,
  USDC,
} from './given.ts';
import type { StoreTest } from './index.ts';

export function transferHistoryContract(it: StoreTest): void {
  describe('history of transfers', () => {
    it('shows a guild what became of a transfer there, and nothing of other guilds', async ({ store }) => {
      const { id: subscription } = await subscribe(store, { label: 'Treasury' });
      await store.routing.commit(
        routed({
          transfers: [storedTransfer(1)],
          deliveries: [delivery(1, { received: 2 })],
          alerts: [newAlert(1), newAlert(1, { guildId: OTHER_GUILD, channelId: '2001' })],
          decisions: [decision(1, { subscription }), decision(1, { guildId: OTHER_GUILD, channelId: '2001' })],
        }),
      );
      expect(await historyOf(store, 1)).toMatchObject([
        {
          transfer: transfer(1),
          own: false,
          deliveries: [{ received: 2 }],
          decisions: [{ subscription, channelId: CHANNEL, outcome: 'matched', label: 'Treasury', address: TREASURY }],
          alerts: [{ channelId: CHANNEL, state: 'waiting', message: null }],
        },
      ]);
    });

    it('shows the message of an alert that was sent, with how many alerts it holds', async ({ store }) => {
      await post(store, [1, 2]);
      const batch = await send(store);
      const message = { messageId: `message-${batch}`, sentAt: NOW, attempts: 1, alerts: 2, together: 1 };
      expect(await historyOf(store, 1)).toMatchObject([{ alerts: [{ state: 'sent', message }] }]);
    });

    it('shows a transfer that nobody watches only to the guild whose project brought it', async ({ store }) => {
      await store.routing.commit(routed({ transfers: [storedTransfer(1, { scope: 7 })] }));
      const query = { guildId: GUILD, txHash: txHash(1) };
      expect(await store.history.transfers(query, NOW, 5)).toEqual({ total: 0, first: [] });
      const shown = { total: 1, first: [{ own: true }] };
      expect(await store.history.transfers({ ...query, ownScopes: [7] }, NOW, 5)).toMatchObject(shown);
    });

    it('counts all transfers of a transaction and returns the first of them', async ({ store }) => {
      for (const n of [1, 2, 3]) await post(store, [n], { transfer: { txHash: txHash(1), value: String(n) } });
      const { total, first } = await store.history.transfers({ guildId: GUILD, txHash: txHash(1) }, NOW, 2);
      expect([total, first.map((one) => one.transfer.value)]).toEqual([3, ['1', '2']]);
    });

    it('returns what is significant first, and last what anybody may have made', async ({ store }) => {
      const of = { transfer: { txHash: txHash(1) } };
      const transfers = [1, 2, 3, 4].map((n) => storedTransfer(n, { ...of, isWorthless: n < 3 }));
      const alerts = [1, 2, 3, 4].map((n) => newAlert(n, { isSignificant: n === 4 }));
      await store.routing.commit(routed({ transfers, alerts }));
      const { first } = await store.history.transfers({ guildId: GUILD, txHash: txHash(1) }, NOW, 3);
      expect(first.map(({ id }) => id)).toEqual([4, 3, 1]);
    });

    it('shows deliveries in order of time, decisions and alerts in the order they were stored', async ({ store }) => {
      const directions = ['incoming', 'outgoing', null] as const;
      const deliveries = directions.map((direction, n) =>
        delivery(1, { key: keyOf(9 - n), direction, seenAt: NOW + n, addressType: n === 1 ? 'token' : 'wallet' }),
      );
      const channels = ['1009', '1001', '1005'];
      await store.routing.commit(
        routed({
          transfers: [storedTransfer(1)],
          deliveries: deliveries.toReversed(),
          alerts: channels.map((channelId) => newAlert(1, { channelId })),
          decisions: channels.map((channelId, n) => decision(1, { channelId, subscription: 9 - n })),
        }),
      );
      const [history] = await historyOf(store, 1);
      expect(history!.deliveries.map(({ direction }) => direction)).toEqual(directions);
      expect(history!.deliveries.map(({ addressType }) => addressType)).toEqual(['wallet', 'token', 'wallet']);
      expect(history!.decisions.map(({ subscription }) => subscription)).toEqual([9, 8, 7]);
      expect(history!.alerts.map(({ channelId }) => channelId)).toEqual(channels);
    });

    it('shows why an alert failed last, when it was replayed and failed again', async ({ store }) => {
      await post(store, [1]);
      await store.outbox.expire(CHANNEL, NOW + 1, 'first', NOW + 1);
      const dead = async () => (await historyOf(store, 1))[0]!.alerts[0]!.dead;
      const [letter] = await store.deadLetters.list(9);
      expect(await dead()).toEqual({ reason: 'first', at: NOW + 1 });
      await store.deadLetters.replay(letter!.id, NOW + 2);
      await store.outbox.expire(CHANNEL, NOW + 9, 'last', NOW + 3);
      expect(await dead()).toEqual({ reason: 'last', at: NOW + 3 });
    });

    it('counts the alerts of a message, and those of the same transaction', async ({ store }) => {
      const transfers = [1, 2, 3].map((n) => storedTransfer(n, { transfer: { txHash: txHash(Math.min(n, 2)) } }));
      await store.routing.commit(routed({ transfers, alerts: [1, 2, 3].map((n) => newAlert(n)) }));
      await send(store);
      const shown = { alerts: [{ message: { alerts: 3, together: 2 } }] };
      expect(await historyOf(store, 2)).toMatchObject([shown, shown]);
    });

    it('counts the alerts that a digest was posted with, even those that are deleted', async ({ store }) => {
      await post(store, [1, 2], { now: NOW - 2 * DAY });
      await post(store, [3]);
      await send(store, { kind: 'digest' });
      await pruneAll(store, NOW - DAY);
      expect(await historyOf(store, 1)).toEqual([]);
      const message = { kind: 'digest', alerts: 3 };
      expect(await historyOf(store, 3)).toMatchObject([{ alerts: [{ state: 'sent', message }] }]);
    });

    it('finds the transactions of a guild’s message by its reference', async ({ store }) => {
      await post(store, [1, 2]);
      await send(store, { reference: 'abc' });
      const found = await store.history.transactionsOfMessage(GUILD, 'abc', 1, 1);
      const second = { network: 0, txHash: txHash(2), transfers: 1, transfer: transfer(2), perspectives: ['incoming'] };
      expect(found).toEqual({ total: 2, shown: [second] });
      expect(await store.history.transactionsOfMessage(OTHER_GUILD, 'abc', 1, 0)).toEqual({ total: 0, shown: [] });
    });

    it('lists the transactions of a message with something significant first', async ({ store }) => {
      await post(store, [1], { hold: 'hourly', dueAt: NOW });
      await post(store, [2], { hold: 'hourly', dueAt: NOW, isSignificant: true });
      await send(store, { reference: 'abc' });
      const { shown } = await store.history.transactionsOfMessage(GUILD, 'abc', 9, 0);
      expect(shown.map((transaction) => transaction.txHash)).toEqual([txHash(2), txHash(1)]);
    });

    it('finds the latest messages that show one of some addresses', async ({ store }) => {
      await post(store, [1]);
      await send(store, { reference: 'first' }, NOW);
      await post(store, [2], { now: NOW + 1 });
      await send(store, { reference: 'second' }, NOW + 1);
      const showing = (addresses: (typeof ALICE)[], since = 0, limit = 9) =>
        store.history.messagesShowing(GUILD, addresses, since, limit);
      expect((await showing([ALICE])).map(({ reference }) => reference)).toEqual(['second', 'first']);
      expect((await showing([USDC], 0, 1)).map(({ reference }) => reference)).toEqual(['second']);
      expect((await showing([TREASURY], NOW)).map(({ reference }) => reference)).toEqual(['second']);
      expect(await showing([address(9)])).toEqual([]);
      await post(store, [3], { now: NOW + 2 });
      await freeze(store, { reference: 'frozen' }, NOW + 2);
      expect((await showing([ALICE], 0, 1)).map(({ reference }) => reference)).toEqual(['frozen']);
      expect(await store.history.messagesShowing(OTHER_GUILD, [ALICE], 0, 9)).toEqual([]);
    });

    it('returns the parties of the latest decisions, latest first', async ({ store }) => {
      await post(store, [1], { transfer: { from: address(1) } });
      await post(store, [2], { transfer: { from: address(2) }, now: NOW + 1 });
      expect(await store.history.counterparties(GUILD, 9)).toEqual([address(2), TREASURY, address(1)]);
      expect(await store.history.counterparties(GUILD, 1)).toEqual([address(2), TREASURY]);
      expect(await store.history.counterparties(OTHER_GUILD, 9)).toEqual([]);
    });
  });
}
