import { describe, expect } from 'vitest';
import { DAY } from '../../../src/domain/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { CHANNEL, countAgain, dueAlerts, freeze, frozen, historyOf, NOW, next, post, send, txHash } from './given.ts';
import type { StoreTest } from './index.ts';

/** Sends an alert, then adds another one of its transaction to its message after `meanwhile`; returns the edit's id. */
async function join(store: Store, meanwhile?: () => Promise<unknown>): Promise<number | null> {
  await post(store, [1]);
  await send(store);
  await post(store, [2], { transfer: { txHash: txHash(1) } });
  const { joins, alerts } = await dueAlerts(store);
  await meanwhile?.();
  return store.outbox.join(CHANNEL, joins[0]!, alerts, '{}', NOW);
}

export function editsContract(it: StoreTest): void {
  describe('edits of sent messages', () => {
    it('adds an alert to its transaction’s sent message by an edit', async ({ store }) => {
      const edit = await join(store);
      expect(await next(store)).toMatchObject({ status: 'batch', batch: { id: edit, kind: 'edit' } });
      await store.outbox.markEdited(edit!, NOW);
      expect(await store.outbox.channelsWithWork()).toEqual([]);
      const shown = { alerts: [{ state: 'sent' }] };
      expect(await historyOf(store, 1)).toMatchObject([shown, shown]);
    });

    it('counts a joining edit’s first attempt, whose outcome is unknown until Discord shows it', async ({ store }) => {
      const edit = await join(store);
      expect(await frozen(store)).toMatchObject({ id: edit, attempts: 1, unconfirmed: true });
      await store.outbox.markNotSent(edit!);
      expect(await frozen(store)).toMatchObject({ id: edit, attempts: 2, unconfirmed: false });
    });

    it('returns the alerts that a joining edit adds, and none of a rendered edit', async ({ store }) => {
      await post(store, [1]);
      await send(store);
      await post(store, [2], { transfer: { txHash: txHash(1) }, now: NOW + 5 });
      await post(store, [3], { transfer: { txHash: txHash(1) }, now: NOW + 9 });
      const { joins, alerts } = await dueAlerts(store);
      const id = await store.outbox.join(CHANNEL, joins[0]!, alerts, '{}', NOW);
      const added = { alerts: 2, shown: { inboxIds: [2, 3], txHashes: [txHash(1)], receivedAt: NOW + 5 } };
      for (const _ of ['first', 'repeat']) expect(await next(store)).toMatchObject({ batch: { id }, ...added });
      await store.outbox.markEdited(id!, NOW);
      await countAgain(store, 1);
      const nothing = { alerts: 0, shown: { inboxIds: [], txHashes: [], receivedAt: null } };
      expect(await next(store)).toMatchObject({ batch: { kind: 'edit', payload: null }, ...nothing });
    });

    it('lets alerts wait again whose message could not be edited', async ({ store }) => {
      const edit = await join(store);
      await store.outbox.markEditFailed(edit!, null, NOW);
      expect(await next(store)).toMatchObject({ status: 'alerts', alerts: [{}], joins: [] });
      expect(await store.deadLetters.list(9)).toEqual([]);
    });

    it('renders a sent message again on request, once', async ({ store }) => {
      await post(store, [1]);
      await send(store, { reference: 'abc' });
      const message = { channelId: CHANNEL, reference: 'abc' };
      expect(await store.outbox.requestRerender([message, message], NOW)).toMatchObject([{ channelId: CHANNEL }]);
      const found = await next(store);
      expect(found).toMatchObject({ status: 'batch', batch: { kind: 'edit' }, original: { alerts: [{}] } });
      if (found.status === 'batch') await store.outbox.markEdited(found.batch.id, NOW);
      expect(await store.outbox.channelsWithWork()).toEqual([]);
      expect(await store.outbox.requestRerender([{ channelId: CHANNEL, reference: 'unknown' }], NOW)).toEqual([]);
    });

    it('requests no labels of a message that will show a change, but a change despite labels', async ({ store }) => {
      await post(store, [1]);
      await send(store, { reference: 'abc' });
      const message = { channelId: CHANNEL, reference: 'abc' };
      await countAgain(store, 1);
      await store.outbox.requestRerender([message], NOW);
      await store.outbox.markEdited((await frozen(store)).id, NOW);
      expect(await store.outbox.channelsWithWork()).toEqual([]);
      await store.outbox.requestRerender([message], NOW);
      await countAgain(store, 1);
      for (const _ of ['change', 'labels']) await store.outbox.markEdited((await frozen(store)).id, NOW);
      expect(await store.outbox.channelsWithWork()).toEqual([]);
    });

    it('lets an alert join a message that was sent late, days after the event', async ({ store }) => {
      await post(store, [1], { now: NOW - 5 * DAY });
      const id = await send(store);
      await post(store, [2], { transfer: { txHash: txHash(1) } });
      expect((await dueAlerts(store)).joins).toMatchObject([{ id, alerts: [{ transfer: { txHash: txHash(1) } }] }]);
    });

    it('lets no alert join a message whose ID at Discord is not known', async ({ store }) => {
      await post(store, [1]);
      await store.outbox.markSent(await freeze(store), null, NOW);
      await post(store, [2], { transfer: { txHash: txHash(1) } });
      expect((await dueAlerts(store)).joins).toEqual([]);
    });

    it.for([
      ['to a message whose alerts changed since they were read', 1],
      ['that changed since it was read', 2],
    ] as const)('refuses to add an alert %s', async ([_what, changed], { store }) => {
      const edit = await join(store, () => countAgain(store, changed, NOW, { txHash: txHash(1) }));
      expect(edit).toBeNull();
    });

    it('counts an edit’s attempt when it is claimed, and accepts another request from then on', async ({ store }) => {
      await post(store, [1]);
      await send(store, { reference: 'abc' });
      await countAgain(store, 1);
      const first = await frozen(store, NOW + 1);
      expect(first).toMatchObject({ kind: 'edit', attempts: 0, unconfirmed: false, firstSentAt: null });
      const again = { id: first.id, attempts: 1, unconfirmed: true, firstSentAt: NOW + 1 };
      expect(await frozen(store, NOW + 2)).toMatchObject(again);
      await countAgain(store, 1);
      await store.outbox.markEdited(first.id, NOW + 3);
      expect(await frozen(store)).toMatchObject({ kind: 'edit', reference: 'abc', attempts: 0 });
    });
  });
}
