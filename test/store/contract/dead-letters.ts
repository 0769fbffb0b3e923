import { describe, expect, it } from 'vitest';
import {
  CHANNEL,
  countAgain,
  due,
  freeze,
  frozen,
  GUILD,
  NOW,
  next,
  notice,
  OTHER_CHANNEL,
  post,
  send,
  transfer,
  txHash,
} from './given.ts';
import type { OpenEmpty } from './index.ts';

export function deadLettersContract(open: OpenEmpty): void {
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
      expect(await store.outbox.channelsWithWork()).toEqual([]);
    });

    it('turns an alert that cannot be rendered into a dead letter, once and only while it waits', async () => {
      const store = await open();
      await post(store, [1]);
      await post(store, [2]);
      const [first, second] = await store.outbox.due(CHANNEL, { hold: null, isSignificant: false }, NOW, 0, 9);
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

    it('counts a held alert as waiting only since it is due', async () => {
      const store = await open();
      await post(store, [1], { hold: 'hourly', dueAt: NOW, now: NOW - 9 });
      await store.outbox.expire(CHANNEL, NOW, 'too old', NOW);
      expect(await store.deadLetters.list(9)).toEqual([]);
      await store.outbox.expire(CHANNEL, NOW + 1, 'too old', NOW + 1);
      expect(await store.deadLetters.list(9)).toHaveLength(1);
    });

    it('keeps no payload of a digest, which would be stored once per alert', async () => {
      const store = await open();
      await post(store, [1, 2]);
      await store.outbox.deadLetter(await freeze(store, { kind: 'digest' }), 'refused', NOW);
      expect(await store.deadLetters.list(9)).toMatchObject([{ payload: null }, { payload: null }]);
    });

    it('turns messages and changes that waited since before a time into dead letters, and no later ones', async () => {
      const store = await open();
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

    it('drops the dead letter of a change once the message is edited after all', async () => {
      const store = await open();
      await post(store, [1]);
      await send(store);
      await countAgain(store, 1);
      await store.outbox.deadLetter((await frozen(store)).id, 'refused', NOW);
      expect(await store.deadLetters.list(9)).toHaveLength(1);
      await countAgain(store, 1);
      await store.outbox.markEdited((await frozen(store)).id, NOW);
      expect(await store.deadLetters.list(9)).toEqual([]);
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

    it('replays a dead letter of a held alert without its hold', async () => {
      const store = await open();
      await post(store, [1], { hold: 'hourly', dueAt: NOW });
      await store.outbox.deadLetter(await freeze(store, { kind: 'digest', reason: 'hourly' }), 'refused', NOW);
      const [letter] = await store.deadLetters.list(9);
      await store.deadLetters.replay(letter!.id, NOW);
      expect(await next(store, NOW - 1)).toMatchObject({ status: 'alerts', reason: null, alerts: [{ hold: null }] });
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
      await countAgain(store, 1);
      await store.outbox.deadLetter((await frozen(store)).id, 'refused', NOW);
      const [letter] = await store.deadLetters.list(9);
      expect(letter).toMatchObject({ kind: 'change', reason: 'refused' });
      expect(await store.deadLetters.replay(letter!.id, NOW)).toBe(true);
      expect(await frozen(store)).toMatchObject({ kind: 'edit', nonce: null, reference: 'abc' });
    });

    it('discards a dead letter for good, which the transfer’s history shows', async () => {
      const store = await open();
      await post(store, [1]);
      await store.outbox.deadLetter(await freeze(store), 'refused', NOW);
      const [letter] = await store.deadLetters.list(9);
      expect(await store.deadLetters.discard([letter!.id], NOW + 5)).toBe(1);
      expect(await store.deadLetters.discard([letter!.id], NOW + 5)).toBe(0);
      expect(await store.deadLetters.list(9)).toEqual([]);
      const { first } = await store.history.transfers({ guildId: GUILD, txHash: txHash(1) }, NOW, 9);
      expect(first[0]!.alerts).toMatchObject([{ state: 'dead', discardedAt: NOW + 5 }]);
    });

    it('discards a refused change without discarding the alert, which was posted', async () => {
      const store = await open();
      await post(store, [1]);
      await send(store);
      await countAgain(store, 1);
      await store.outbox.deadLetter((await frozen(store)).id, 'refused', NOW);
      const [letter] = await store.deadLetters.list(9);
      expect(await store.deadLetters.discard([letter!.id], NOW + 5)).toBe(1);
      const { first } = await store.history.transfers({ guildId: GUILD, txHash: txHash(1) }, NOW, 9);
      expect(first[0]!.alerts).toMatchObject([{ state: 'sent', discardedAt: null }]);
    });

    it('keeps one dead letter for a message whose changes are refused, and none for a refused label', async () => {
      const store = await open();
      await post(store, [1]);
      await send(store, { reference: 'abc' });
      for (let n = 0; n < 2; n++) {
        await countAgain(store, 1);
        await store.outbox.deadLetter((await frozen(store)).id, 'refused', NOW);
      }
      expect(await store.deadLetters.list(9)).toHaveLength(1);
      const [letter] = await store.deadLetters.list(9);
      await store.deadLetters.discard([letter!.id], NOW);
      await store.outbox.requestRerender([{ channelId: CHANNEL, reference: 'abc' }], NOW);
      await store.outbox.deadLetter((await frozen(store)).id, 'refused', NOW);
      expect(await store.deadLetters.list(9)).toEqual([]);
    });

    it('assigns no id of a dead letter again, because operators type them', async () => {
      const store = await open();
      const deadLetter = async (n: number) => {
        await post(store, [n]);
        await store.outbox.deadLetter(await freeze(store, { reference: `r${n}` }), 'refused', NOW);
        return (await store.deadLetters.list(9))[0]!.id;
      };
      const id = await deadLetter(1);
      await store.deadLetters.discard([id], NOW);
      expect(await deadLetter(2)).not.toBe(id);
      expect(await store.deadLetters.discard([id], NOW)).toBe(0);
    });

    it('discards dead letters, no others, and returns how many', async () => {
      const store = await open();
      for (const [n, channelId] of [CHANNEL, CHANNEL, OTHER_CHANNEL].entries()) {
        await post(store, [n + 1], { channelId });
        await store.outbox.deadLetter(await freeze(store, { channelId, reference: `r${n}` }), 'refused', NOW);
      }
      const letters = (await store.deadLetters.list(9)).filter(({ channelId }) => channelId === CHANNEL);
      const ids = letters.map((letter) => letter.id);
      expect(await store.deadLetters.discard([...ids, 99], NOW)).toBe(2);
      expect((await store.deadLetters.list(9)).map(({ channelId }) => channelId)).toEqual([OTHER_CHANNEL]);
    });
  });
}
