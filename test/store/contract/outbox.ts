import { describe, expect } from 'vitest';
import { BURST_ALERTS } from '../../../src/domain/batch.ts';
import { DAY, SECOND } from '../../../src/domain/clock.ts';
import {
  CHANNEL,
  due,
  dueAlerts,
  freeze,
  GUILD,
  matchOf,
  NOW,
  newBatch,
  next,
  OTHER_CHANNEL,
  post,
  send,
  subscribe,
  transfer,
  txHash,
} from './given.ts';
import type { StoreTest } from './index.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1);

export function outboxContract(it: StoreTest): void {
  describe('outbox', () => {
    it('returns the oldest due alerts of a channel, those of one transaction together', async ({ store }) => {
      await post(store, [1, 2]);
      await post(store, [3], { transfer: { txHash: txHash(1), value: '6' } });
      await post(store, [4], { channelId: OTHER_CHANNEL });
      expect(await due(store)).toEqual([1, 1, 2]);
    });

    it('holds an alert back until it is due', async ({ store }) => {
      await post(store, [1], { hold: 'hourly', dueAt: NOW + 5 });
      expect(await next(store)).toMatchObject({ status: 'nothing', until: NOW + 5 });
      expect(await store.outbox.channelsWithWork()).toMatchObject([{ channelId: CHANNEL, sleepUntil: NOW + 5 }]);
      expect(await next(store, NOW + 5)).toMatchObject({ status: 'alerts', reason: 'hourly' });
      expect(await store.outbox.due(CHANNEL, { hold: 'hourly', isSignificant: false }, NOW + 5, 0, 9)).toHaveLength(1);
    });

    it('returns significant alerts first, and with them only others of their transactions', async ({ store }) => {
      await post(store, [1, 2]);
      await post(store, [3], { hold: 'hourly', dueAt: NOW });
      await post(store, [4], { transfer: { txHash: txHash(7), value: '1' }, isSignificant: true });
      await post(store, [5], { transfer: { txHash: txHash(7), value: '2' } });
      await post(store, [6], { isSignificant: true });
      const ids = async () => (await dueAlerts(store)).alerts.map(({ id }) => id);
      expect(await dueAlerts(store)).toMatchObject({ waiting: 2, transactions: 2, lane: { isSignificant: true } });
      expect(await ids()).toEqual([4, 5, 6]);
      await send(store, { isSignificant: true });
      expect(await ids()).toEqual([3]);
      await send(store);
      expect(await ids()).toEqual([1, 2]);
    });

    it('counts a burst of each lane on its own, and so posts a payment while dust is collected', async ({ store }) => {
      await post(store, numbers(BURST_ALERTS + 1));
      await send(store);
      await post(store, [100]);
      expect(await next(store, NOW + 1)).toMatchObject({ status: 'nothing', until: expect.any(Number) });
      await post(store, [101], { isSignificant: true });
      expect(await next(store, NOW + 1)).toMatchObject({ status: 'alerts', reason: null, waiting: 1 });
      await send(store, { isSignificant: true }, NOW + 1);
      expect(await next(store, NOW + 2)).toMatchObject({ status: 'nothing', until: expect.any(Number) });
    });

    it('waits for the end of a burst or for the first held alert, whichever comes first', async ({ store }) => {
      await post(store, numbers(BURST_ALERTS + 1));
      await send(store);
      await post(store, [100]);
      const end = NOW + 10 * SECOND;
      expect(await next(store, end - 1)).toMatchObject({ status: 'nothing', until: end, isCollecting: true });
      expect(await next(store, end)).toMatchObject({ status: 'alerts', reason: 'burst' });
      await post(store, [101], { hold: 'hourly', dueAt: end + 1 });
      expect(await next(store)).toMatchObject({ status: 'nothing', until: end });
      await post(store, [102], { hold: 'daily', dueAt: end - 1 });
      expect(await next(store)).toMatchObject({ status: 'nothing', until: end - 1, isCollecting: true });
      expect(await next(store, end)).toMatchObject({ status: 'alerts', reason: 'daily' });
    });

    it('counts neither held alerts nor each transfer of one transaction as a burst', async ({ store }) => {
      await post(store, numbers(BURST_ALERTS + 1));
      await send(store, { kind: 'digest', reason: 'hourly' });
      for (const n of numbers(BURST_ALERTS + 1))
        await post(store, [200 + n], { transfer: { txHash: txHash(200), value: String(n) } });
      await send(store);
      await post(store, [100]);
      expect(await next(store)).toMatchObject({ status: 'alerts', reason: null });
    });

    it('makes alerts due that are held for longer than any hold lasts', async ({ store }) => {
      await post(store, [1], { hold: 'daily', dueAt: NOW + 365 * DAY });
      await store.outbox.endLongHolds(NOW);
      expect(await due(store)).toEqual([1]);
    });

    it('repeats a frozen message until it was sent', async ({ store }) => {
      await post(store, [1]);
      const id = await freeze(store, { nonce: 'n1', payload: '{"content":"a"}' });
      await post(store, [2]);
      const batch = { id, kind: 'create', nonce: 'n1', payload: '{"content":"a"}', attempts: 1, unconfirmed: true };
      expect(await next(store)).toMatchObject({ status: 'batch', batch, alerts: 1 });
      await store.outbox.markNotSent(id);
      await store.outbox.countAttempt(id, NOW + 1);
      await store.outbox.markNotSent(id);
      const again = { id, attempts: 2, unconfirmed: false, firstSentAt: NOW };
      expect(await next(store)).toMatchObject({ status: 'batch', batch: again });
      await store.outbox.markSent(id, 'm1', NOW + 2);
      expect(await due(store)).toEqual([2]);
    });

    it('freezes each alert into one message only', async ({ store }) => {
      await post(store, [1]);
      const { alerts } = await dueAlerts(store);
      await freeze(store);
      expect(await store.outbox.freeze(newBatch(alerts), NOW)).toBeNull();
    });

    it('refuses to freeze alerts that changed after they were rendered', async ({ store }) => {
      await post(store, [1]);
      const { alerts } = await dueAlerts(store);
      for (const changed of [{ count: 2 }, { reorganized: true }]) {
        const rendered = alerts.map((alert) => ({ ...alert, ...changed }));
        expect(await store.outbox.freeze(newBatch(rendered), NOW)).toBeNull();
      }
      expect(await due(store)).toEqual([1]);
    });

    it('returns an unfrozen message’s alerts to those that wait, and takes its mention back', async ({ store }) => {
      const { id: subscription } = await subscribe(store);
      await post(store, [1], { matches: [matchOf(subscription)] });
      const id = await freeze(store, { mentioning: [{ subscription, isSignificant: true }] });
      expect(await store.subscriptions.get(GUILD, subscription)).toMatchObject({ mentionedAt: NOW });
      await store.outbox.unfreeze(id);
      expect(await store.subscriptions.get(GUILD, subscription)).toMatchObject({ mentionedAt: null });
      expect(await due(store)).toEqual([1]);
    });

    it('keeps a message’s known ID when it is recorded as sent without one', async ({ store }) => {
      await post(store, [1]);
      const id = await freeze(store);
      await store.outbox.markSent(id, 'm1', NOW);
      await store.outbox.markSent(id, null, NOW);
      const query = { guildId: GUILD, txHash: txHash(1) };
      const { first } = await store.history.transfers(query, NOW, 9);
      expect(first).toMatchObject([{ alerts: [{ message: { messageId: 'm1' } }] }]);
      const { channelId } = first[0]!.alerts[0]!;
      expect(await store.history.transfers({ ...query, channelId }, NOW, 9)).toMatchObject({ total: 1, first });
      expect(await store.history.transfers({ ...query, channelId: 'other' }, NOW, 9)).toEqual({ total: 0, first: [] });
      expect((await store.history.transfers({ ...query, skip: 1 }, NOW, 9)).first).toEqual([]);
    });

    it('has no work left in a channel whose last message was sent', async ({ store }) => {
      await post(store, [1]);
      const id = await freeze(store);
      await store.outbox.markSent(id, 'm1', NOW);
      expect(await store.outbox.channelsWithWork()).toEqual([]);
      expect(await next(store)).toMatchObject({ status: 'nothing', until: null });
    });

    it('returns alerts in the order of the requested ids, without deleted ones', async ({ store }) => {
      await post(store, [1, 2]);
      const [first, second] = (await dueAlerts(store)).alerts.map(({ id }) => id);
      const alerts = await store.outbox.alerts([second!, 999, first!]);
      expect(alerts.map(({ id }) => id)).toEqual([second, first]);
      expect(alerts[1]).toMatchObject({ guildId: GUILD, channelId: CHANNEL, transfer: transfer(1), count: 1 });
    });
  });
}
