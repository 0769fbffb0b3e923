import { describe, expect } from 'vitest';
import type { DeadLetter } from '../../../src/domain/batch.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  CHANNEL,
  countAgain,
  due,
  freeze,
  frozen,
  historyOf,
  NOW,
  next,
  notice,
  post,
  refuse,
  send,
  transfer,
  txHash,
} from './given.ts';
import type { StoreTest } from './index.ts';

/** Discord refuses a change of the first transfer's message; returns the dead letter. */
async function refuseChange(store: Store): Promise<DeadLetter> {
  await countAgain(store, 1);
  await store.outbox.deadLetter((await frozen(store)).id, 'refused', NOW);
  return (await store.deadLetters.list(9))[0]!;
}

export function deadLettersContract(it: StoreTest): void {
  describe('dead letters', () => {
    it('keeps the alerts of a message that Discord refused, with their transfers', async ({ store }) => {
      await post(store, [1]);
      const letter = await refuse(store, { payload: '{"content":"a"}' });
      const shown = { kind: 'alert', channelId: CHANNEL, reason: 'refused', at: NOW, payload: '{"content":"a"}' };
      expect(letter).toMatchObject({ ...shown, transfer: transfer(1) });
      expect(await store.deadLetters.list(9)).toEqual([letter]);
      expect(await store.outbox.channelsWithWork()).toEqual([]);
    });

    it('turns an alert that cannot be rendered into a dead letter, once and only while it waits', async ({ store }) => {
      await post(store, [1]);
      await post(store, [2]);
      const [first, second] = await store.outbox.due(CHANNEL, { hold: null, isSignificant: false }, NOW, 0, 9);
      await store.outbox.deadLetterUnrendered(second!.id, 'cannot be rendered', NOW);
      await store.outbox.deadLetterUnrendered(second!.id, 'cannot be rendered', NOW);
      await freeze(store);
      await store.outbox.deadLetterUnrendered(first!.id, 'cannot be rendered', NOW);
      const letter = { kind: 'alert', alertId: second!.id, channelId: CHANNEL, payload: null, at: NOW };
      expect(await store.deadLetters.list(9)).toMatchObject([{ ...letter, reason: 'cannot be rendered' }]);
      expect(await store.outbox.channelsWithWork()).toMatchObject([{ channelId: CHANNEL }]);
    });

    it('counts a held alert as waiting only since it is due', async ({ store }) => {
      await post(store, [1], { hold: 'hourly', dueAt: NOW, now: NOW - 9 });
      await store.outbox.expire(CHANNEL, NOW, 'too old', NOW);
      expect(await store.deadLetters.list(9)).toEqual([]);
      await store.outbox.expire(CHANNEL, NOW + 1, 'too old', NOW + 1);
      expect(await store.deadLetters.list(9)).toHaveLength(1);
    });

    it('turns messages and changes into dead letters that waited since before a time, no others', async ({ store }) => {
      await post(store, [1], { now: NOW - 9 });
      await send(store, { reference: 'sent' }, NOW - 9);
      await post(store, [2], { now: NOW - 9 });
      await freeze(store, { reference: 'old' }, NOW - 9);
      await countAgain(store, 1, NOW - 9);
      await post(store, [3]);
      await store.channels.postNotice(notice({ reference: 'old notice', now: NOW - 9 }));
      await store.channels.postNotice(notice({ nonce: 'n', reference: 'new notice', now: NOW }));
      await store.outbox.expire(CHANNEL, NOW, 'too old', NOW);
      const letters = await store.deadLetters.list(9);
      expect(letters.map(({ kind, transfer: one }) => [kind, one!.txHash]).sort()).toEqual([
        ['alert', txHash(2)],
        ['change', txHash(1)],
      ]);
      const left = await frozen(store);
      expect(left).toMatchObject({ kind: 'notice', reference: 'new notice' });
      await store.outbox.markSent(left.id, 'm', NOW);
      expect(await due(store)).toEqual([3]);
    });

    it('replays a dead letter of a held alert without its hold', async ({ store }) => {
      await post(store, [1], { hold: 'hourly', dueAt: NOW });
      const { id } = await refuse(store, { kind: 'digest', reason: 'hourly' });
      await store.deadLetters.replay(id, NOW);
      expect(await next(store, NOW - 1)).toMatchObject({ status: 'alerts', reason: null, alerts: [{ hold: null }] });
    });

    it('discards a dead letter for good, which the transfer’s history shows', async ({ store }) => {
      await post(store, [1]);
      const { id } = await refuse(store);
      expect(await store.deadLetters.discard([id], NOW + 5)).toBe(1);
      expect(await store.deadLetters.discard([id], NOW + 5)).toBe(0);
      expect(await store.deadLetters.list(9)).toEqual([]);
      expect((await historyOf(store, 1))[0]!.alerts).toMatchObject([{ state: 'dead', discardedAt: NOW + 5 }]);
    });

    it('discards a refused change without discarding the alert, which was posted', async ({ store }) => {
      await post(store, [1]);
      await send(store);
      const { id } = await refuseChange(store);
      expect(await store.deadLetters.discard([id], NOW + 5)).toBe(1);
      expect((await historyOf(store, 1))[0]!.alerts).toMatchObject([{ state: 'sent', discardedAt: null }]);
    });

    it('keeps one dead letter of a message with refused changes, and none of a refused label', async ({ store }) => {
      await post(store, [1]);
      await send(store, { reference: 'abc' });
      await refuseChange(store);
      const letter = await refuseChange(store);
      expect(await store.deadLetters.list(9)).toEqual([letter]);
      await store.deadLetters.discard([letter.id], NOW);
      await store.outbox.requestRerender([{ channelId: CHANNEL, reference: 'abc' }], NOW);
      await store.outbox.deadLetter((await frozen(store)).id, 'refused', NOW);
      expect(await store.deadLetters.list(9)).toEqual([]);
    });

    it('assigns no id of a dead letter again, because operators type them', async ({ store }) => {
      await post(store, [1]);
      const { id } = await refuse(store);
      await store.deadLetters.discard([id], NOW);
      await post(store, [2]);
      expect((await refuse(store, { reference: 'second' })).id).not.toBe(id);
      expect(await store.deadLetters.discard([id], NOW)).toBe(0);
    });
  });
}
