import { describe, expect, it } from 'vitest';
import { DAY } from '../../../src/domain/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  CHANNEL,
  freeze,
  GUILD,
  keyOf,
  NOW,
  newBatch,
  next,
  OTHER_CHANNEL,
  post,
  routed,
  send,
  storedTransfer,
  subscribe,
  transfer,
  txHash,
} from './given.ts';
import type { OpenEmpty } from './index.ts';

/** The transaction numbers of the alerts that a channel is sent next; empty when that is something else. */
async function due(store: Store, now = NOW, channelId = CHANNEL): Promise<number[]> {
  const found = await next(store, now, channelId);
  return found.status === 'alerts' ? found.alerts.map((alert) => Number(alert.transfer.txHash)) : [];
}

export function outboxContract(open: OpenEmpty): void {
  describe('outbox', () => {
    it('returns the oldest due alerts of a channel, those of one transaction together', async () => {
      const store = await open();
      await post(store, [1, 2]);
      await post(store, [3], { transfer: { txHash: txHash(1), value: '6' } });
      await post(store, [4], { channelId: OTHER_CHANNEL });
      expect(await due(store)).toEqual([1, 1, 2]);
    });

    it('holds an alert back until it is due', async () => {
      const store = await open();
      await post(store, [1], { hold: 'hourly', dueAt: NOW + 5 });
      expect(await next(store)).toMatchObject({ status: 'nothing', until: NOW + 5 });
      expect(await store.outbox.channelsWithWork()).toMatchObject([{ channelId: CHANNEL, sleepUntil: NOW + 5 }]);
      expect(await next(store, NOW + 5)).toMatchObject({ status: 'alerts', reason: 'hourly' });
      expect(await store.outbox.due(CHANNEL, 'hourly', NOW + 5, 0, 9)).toHaveLength(1);
    });

    it('makes alerts due that are held for longer than any hold lasts', async () => {
      const store = await open();
      await post(store, [1], { hold: 'daily', dueAt: NOW + 365 * DAY });
      await store.outbox.endLongHolds(NOW);
      expect(await due(store)).toEqual([1]);
    });

    it('repeats a frozen message until it was sent', async () => {
      const store = await open();
      await post(store, [1]);
      const id = await freeze(store, { nonce: 'n1', payload: '{"content":"a"}' });
      await post(store, [2]);
      const batch = { id, kind: 'create', nonce: 'n1', payload: '{"content":"a"}', attempts: 1, unsure: true };
      expect(await next(store)).toMatchObject({ status: 'batch', batch, alerts: 1 });
      await store.outbox.markNotSent(id);
      await store.outbox.countAttempt(id, NOW + 1);
      await store.outbox.markNotSent(id);
      const again = { id, attempts: 2, unsure: false, firstSentAt: NOW };
      expect(await next(store)).toMatchObject({ status: 'batch', batch: again });
      expect(await store.outbox.markSent(id, 'm1', NOW + 2)).toBe(true);
      expect(await due(store)).toEqual([2]);
    });

    it('freezes each alert into one message only', async () => {
      const store = await open();
      await post(store, [1]);
      const found = await next(store);
      await freeze(store);
      const alerts = found.status === 'alerts' ? found.alerts : [];
      expect(await store.outbox.freeze(newBatch(alerts), NOW)).toBeNull();
    });

    it('refuses to freeze alerts that changed after they were rendered', async () => {
      const store = await open();
      await post(store, [1]);
      const found = await next(store);
      const alerts = found.status === 'alerts' ? found.alerts.map((alert) => ({ ...alert, count: 2 })) : [];
      expect(await store.outbox.freeze(newBatch(alerts), NOW)).toBeNull();
      expect(await due(store)).toEqual([1]);
    });

    it('returns the alerts of an unfrozen message to those that wait, and takes its mention back', async () => {
      const store = await open();
      const { id: subscription } = await subscribe(store);
      await post(store, [1], { matches: [{ subscription, perspective: 'incoming' }] });
      const id = await freeze(store, { mentioning: [subscription] });
      expect(await store.subscriptions.get(GUILD, subscription)).toMatchObject({ mentionedAt: NOW });
      await store.outbox.unfreeze(id);
      expect(await store.subscriptions.get(GUILD, subscription)).toMatchObject({ mentionedAt: null });
      expect(await due(store)).toEqual([1]);
    });

    it('has no work left in a channel whose last message was sent', async () => {
      const store = await open();
      await post(store, [1]);
      const id = await freeze(store);
      expect(await store.outbox.markSent(id, 'm1', NOW)).toBe(false);
      expect(await store.outbox.channelsWithWork()).toEqual([]);
      expect(await next(store)).toMatchObject({ status: 'nothing', until: null, change: false });
    });

    it('returns alerts in the order of the requested ids, without deleted ones', async () => {
      const store = await open();
      await post(store, [1, 2]);
      const found = await next(store);
      const [first, second] = found.status === 'alerts' ? found.alerts.map(({ id }) => id) : [];
      const alerts = await store.outbox.alerts([second!, 999, first!]);
      expect(alerts.map(({ id }) => id)).toEqual([second, first]);
      expect(alerts[1]).toMatchObject({ guildId: GUILD, channelId: CHANNEL, transfer: transfer(1), count: 1 });
    });

    it('returns alerts in the language that the guild’s admins chose, or else in its own at Discord', async () => {
      const store = await open();
      await post(store, [1]);
      const language = async () => {
        const found = await next(store);
        return found.status === 'alerts' ? found.alerts[0]!.language : undefined;
      };
      expect(await language()).toBeNull();
      await store.guilds.recordLocale(GUILD, 'fr');
      expect(await language()).toBe('fr');
      await store.guilds.changeSettings(GUILD, { language: 'ja' });
      expect(await language()).toBe('ja');
    });

    it('adds an alert to its transaction’s sent message by an edit', async () => {
      const store = await open();
      await post(store, [1]);
      await send(store);
      await post(store, [2], { transfer: { txHash: txHash(1) } });
      const found = await next(store);
      if (found.status !== 'alerts') throw new Error(`There are no alerts to send, but: ${found.status}.`);
      const [to] = found.joins;
      const edit = await store.outbox.join(CHANNEL, to!, found.alerts, '{"content":"both"}', NOW);
      expect(await next(store)).toMatchObject({ status: 'batch', batch: { id: edit, kind: 'edit' } });
      await store.outbox.markEdited(edit!, NOW);
      expect(await store.outbox.channelsWithWork()).toEqual([]);
      expect(await store.history.transfers(GUILD, txHash(1), null, NOW, 9)).toMatchObject({
        first: [{ alerts: [{ state: 'sent' }] }, { alerts: [{ state: 'sent' }] }],
      });
    });

    it('lets alerts wait again whose message could not be edited', async () => {
      const store = await open();
      await post(store, [1]);
      await send(store);
      await post(store, [2], { transfer: { txHash: txHash(1) } });
      const found = await next(store);
      if (found.status !== 'alerts') throw new Error(`There are no alerts to send, but: ${found.status}.`);
      const edit = await store.outbox.join(CHANNEL, found.joins[0]!, found.alerts, '{}', NOW);
      await store.outbox.markEditFailed(edit!, null, NOW);
      expect(await next(store)).toMatchObject({ status: 'alerts', alerts: [{}], joins: [] });
      expect(await store.deadLetters.list(9)).toEqual([]);
    });

    it('renders a sent message again on request, once', async () => {
      const store = await open();
      await post(store, [1]);
      await send(store, { reference: 'abc' });
      const message = { channelId: CHANNEL, reference: 'abc' };
      expect(await store.outbox.requestRerender([message, message], NOW)).toEqual([CHANNEL]);
      const found = await next(store);
      expect(found).toMatchObject({ status: 'batch', batch: { kind: 'edit' }, original: { alerts: [{}] } });
      if (found.status === 'batch') await store.outbox.markEdited(found.batch.id, NOW);
      expect(await store.outbox.channelsWithWork()).toEqual([]);
      expect(await store.outbox.requestRerender([{ channelId: CHANNEL, reference: 'unknown' }], NOW)).toEqual([]);
    });

    it('sends a frozen message, then a change, then due alerts, then a label, and edits only while it may', async () => {
      const store = await open();
      for (const [n, reference] of [[1, 'labeled'] as const, [2, 'changed'] as const]) {
        await post(store, [n]);
        await send(store, { reference });
      }
      await post(store, [3]);
      await freeze(store, { reference: 'frozen' });
      await store.outbox.requestRerender([{ channelId: CHANNEL, reference: 'labeled' }], NOW);
      const query = { transferKey: keyOf(2), deliveryKey: keyOf(2), scope: 0, at: NOW, transfer: transfer(2) };
      const { transfers } = await store.routing.context([query], NOW);
      await store.routing.commit(routed({ transfers: [{ ...transfers[0]!, count: 2 }], changed: [keyOf(2)] }));
      await post(store, [4]);
      const claim = async (mayChange: boolean) => {
        const claimed = (await store.outbox.claim(CHANNEL, { limit: 9, alone: false, mayChange }, NOW)).next;
        return claimed.status === 'batch' ? claimed.batch : claimed;
      };

      const frozen = await claim(true);
      expect(frozen).toMatchObject({ reference: 'frozen' });
      if ('id' in frozen) await store.outbox.markSent(frozen.id, 'm', NOW);
      expect(await claim(false)).toMatchObject({ status: 'alerts' });
      const change = await claim(true);
      expect(change).toMatchObject({ reference: 'changed' });
      if ('id' in change) await store.outbox.markEdited(change.id, NOW);
      expect(await claim(true)).toMatchObject({ status: 'alerts' });
      await send(store);
      expect(await claim(false)).toMatchObject({ status: 'nothing', until: null, change: true });
      expect(await claim(true)).toMatchObject({ reference: 'labeled' });
    });

    it('names the channels whose sent messages a changed transfer concerns', async () => {
      const store = await open();
      await post(store, [1]);
      await send(store);
      expect(await store.routing.commit(routed({ transfers: [], changed: [] }))).toEqual([]);
      const { transfers } = await store.routing.context(
        [{ transferKey: keyOf(1), deliveryKey: keyOf(1), scope: 0, at: NOW, transfer: transfer(1) }],
        NOW,
      );
      const [seen] = transfers;
      const stored = { ...seen!, count: 2 };
      expect(await store.routing.commit(routed({ transfers: [stored], changed: [keyOf(1)] }))).toEqual([CHANNEL]);
      expect(await next(store)).toMatchObject({
        status: 'batch',
        batch: { kind: 'edit' },
        original: { alerts: [{ count: 2 }] },
      });
    });
  });

  describe('dead letters', () => {
    it('keeps the alerts of a message that Discord refused, with their transfers', async () => {
      const store = await open();
      await post(store, [1]);
      await store.outbox.deadLetter(await freeze(store, { payload: '{"content":"a"}' }), 'refused', NOW);
      const [letter, ...others] = await store.deadLetters.list(9);
      expect(letter).toMatchObject({
        kind: 'alert',
        channelId: CHANNEL,
        reason: 'refused',
        at: NOW,
        payload: '{"content":"a"}',
      });
      expect(letter!.transfer).toEqual(transfer(1));
      expect(others).toEqual([]);
      expect(await store.deadLetters.get(letter!.id)).toEqual(letter);
      expect(await store.outbox.channelsWithWork()).toEqual([]);
    });

    it('turns an alert that cannot be rendered into a dead letter, once and only while it waits', async () => {
      const store = await open();
      await post(store, [1]);
      await post(store, [2]);
      const [first, second] = await store.outbox.due(CHANNEL, null, NOW, 0, 9);
      await store.outbox.deadLetterUnrendered(second!.id, 'cannot be rendered', NOW);
      await store.outbox.deadLetterUnrendered(second!.id, 'cannot be rendered', NOW);
      await freeze(store);
      await store.outbox.deadLetterUnrendered(first!.id, 'cannot be rendered', NOW);
      expect(await store.deadLetters.list(9)).toMatchObject([
        {
          kind: 'alert',
          alertId: second!.id,
          channelId: CHANNEL,
          reason: 'cannot be rendered',
          payload: null,
          at: NOW,
        },
      ]);
      expect(await store.outbox.channelsWithWork()).toMatchObject([{ channelId: CHANNEL }]);
    });

    it('turns only what waited since before a time into dead letters', async () => {
      const store = await open();
      await post(store, [1], { now: NOW - 9 });
      await post(store, [2], { now: NOW });
      await store.outbox.expire(CHANNEL, NOW, 'too old', NOW);
      expect((await store.deadLetters.list(9)).map(({ transfer: one }) => one!.txHash)).toEqual([txHash(1)]);
      expect(await due(store)).toEqual([2]);
    });

    it('replays a dead letter once', async () => {
      const store = await open();
      await post(store, [1]);
      await store.outbox.deadLetter(await freeze(store), 'refused', NOW);
      const [letter] = await store.deadLetters.list(9);
      expect(await store.deadLetters.replay(letter!.id, NOW)).toBe(true);
      expect(await store.deadLetters.replay(letter!.id, NOW)).toBe(false);
      expect(await due(store)).toEqual([1]);
    });

    it('makes a blocked channel due now when a dead letter of it is replayed, and nothing due later', async () => {
      const store = await open();
      await post(store, [1]);
      await store.outbox.deadLetter(await freeze(store), 'refused', NOW);
      const blocked = { channelId: CHANNEL, state: 'parked', attempts: 1, since: NOW, reason: '50001' } as const;
      await store.channels.setState({ ...blocked, dueAt: NOW + 9 });
      const [letter] = await store.deadLetters.list(9);
      await store.deadLetters.replay(letter!.id, NOW);
      expect(await store.outbox.channelsWithWork()).toMatchObject([{ state: 'parked', dueAt: NOW }]);

      await store.outbox.deadLetter(await freeze(store, { reference: 'r2' }), 'refused', NOW);
      await store.channels.setState({ ...blocked, dueAt: NOW - 9 });
      const [again] = await store.deadLetters.list(9);
      await store.deadLetters.replay(again!.id, NOW);
      expect(await store.outbox.channelsWithWork()).toMatchObject([{ state: 'parked', dueAt: NOW - 9 }]);
    });

    it('replays a change that Discord refused as an edit of the message, not as a new one', async () => {
      const store = await open();
      await post(store, [1]);
      await send(store, { reference: 'abc' });
      const edit = async () => {
        const found = await next(store);
        if (found.status !== 'batch') throw new Error(`There is no edit to send, but: ${found.status}.`);
        return found.batch;
      };
      const { transfers } = await store.routing.context(
        [{ transferKey: keyOf(1), deliveryKey: keyOf(1), scope: 0, at: NOW, transfer: transfer(1) }],
        NOW,
      );
      const changed = storedTransfer(1, { id: transfers[0]!.id, count: 2 });
      await store.routing.commit(routed({ transfers: [changed], changed: [keyOf(1)] }));
      await store.outbox.deadLetter((await edit()).id, 'refused', NOW);
      const [letter] = await store.deadLetters.list(9);
      expect(letter).toMatchObject({ kind: 'change', reason: 'refused' });
      expect(await store.deadLetters.replay(letter!.id, NOW)).toBe(true);
      expect(await edit()).toMatchObject({ kind: 'edit', nonce: null, reference: 'abc' });
    });

    it('discards a dead letter for good, which the transfer’s history shows', async () => {
      const store = await open();
      await post(store, [1]);
      await store.outbox.deadLetter(await freeze(store), 'refused', NOW);
      const [letter] = await store.deadLetters.list(9);
      expect(await store.deadLetters.discard(letter!.id, NOW + 5)).toBe(true);
      expect(await store.deadLetters.discard(letter!.id, NOW + 5)).toBe(false);
      expect(await store.deadLetters.list(9)).toEqual([]);
      const { first } = await store.history.transfers(GUILD, txHash(1), null, NOW, 9);
      expect(first[0]!.alerts).toMatchObject([{ state: 'dead' }]);
    });

    it('assigns no id of a dead letter again, because operators type them', async () => {
      const store = await open();
      const deadLetter = async (n: number) => {
        await post(store, [n]);
        await store.outbox.deadLetter(await freeze(store, { reference: `r${n}` }), 'refused', NOW);
        return (await store.deadLetters.list(9))[0]!.id;
      };
      const id = await deadLetter(1);
      await store.deadLetters.discard(id, NOW);
      await deadLetter(2);
      expect(await store.deadLetters.get(id)).toBeNull();
      expect(await store.deadLetters.discard(id, NOW)).toBe(false);
    });

    it('discards the dead letters of one channel and returns how many', async () => {
      const store = await open();
      for (const [n, channelId] of [CHANNEL, CHANNEL, OTHER_CHANNEL].entries()) {
        await post(store, [n + 1], { channelId });
        await store.outbox.deadLetter(await freeze(store, { channelId, reference: `r${n}` }), 'refused', NOW);
      }
      expect(await store.deadLetters.discardAll(CHANNEL, NOW)).toBe(2);
      expect((await store.deadLetters.list(9)).map(({ channelId }) => channelId)).toEqual([OTHER_CHANNEL]);
    });
  });
}
