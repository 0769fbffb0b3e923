import { describe, expect } from 'vitest';
import {
  CHANNEL,
  decision,
  frozen,
  GUILD,
  matchOf,
  NOW,
  newAlert,
  notice,
  routed,
  send,
  storedTransfer,
  subscribe,
  TREASURY,
} from './given.ts';
import type { StoreTest } from './index.ts';

/** Balances that transfers left, and what was decided about them. */
export function balancesContract(it: StoreTest): void {
  describe('balances', () => {
    it('finds what concerns them since a decision, and keeps them with their transfers', async ({ store }) => {
      const { balances } = store;
      const shown = await subscribe(store, { showBalance: true });
      const warned = await subscribe(store, { channelId: '1009', warnBelow: '5' });
      const other = await subscribe(store, { channelId: '1010' });
      const decided = (n: number, { id: subscription }: { id: number }, outcome: 'matched' | 'muted' = 'matched') =>
        decision(n, { subscription, outcome });
      await store.routing.commit(routed({ transfers: [storedTransfer(1)], decisions: [decided(1, shown)] }));
      const { last, concerned } = await balances.concerned(null);
      expect(concerned).toEqual([]);
      const decisions = [decided(2, shown), decided(2, warned, 'muted'), decided(2, other), decided(3, shown, 'muted')];
      const transfers = [storedTransfer(2), storedTransfer(3)];
      const alerts = [newAlert(2, { matches: [matchOf(shown.id)] })];
      await store.routing.commit(routed({ transfers, decisions, alerts }));
      const found = await balances.concerned(last);
      expect(found.last).toBeGreaterThan(last);
      expect(found.concerned).toMatchObject([
        { subscription: shown.id, network: 0, address: TREASURY, shows: true, warns: false },
        { subscription: warned.id, shows: false, warns: true },
      ]);
      expect((await balances.concerned(found.last)).concerned).toEqual([]);
      const { transferId } = found.concerned[0]!;
      const left = { transferId, block: 7, address: TREASURY, balance: '9' };
      expect(await balances.keep([left], false, NOW)).toEqual([]);
      await send(store);
      expect(await balances.keep([{ ...left, address: shown.address, balance: '10' }], true, NOW)).toEqual([CHANNEL]);
      const [alert] = await store.outbox.alerts([1]);
      expect(alert).toMatchObject({
        transfer: { balances: { block: 7, of: { [TREASURY]: '10' } } },
        matches: [{ showsBalance: true }],
      });
    });

    it('posts each statement once, where the guild’s alerts go', async ({ store }) => {
      const { balances } = store;
      await subscribe(store, { createdAt: NOW, label: 'T' });
      await subscribe(store, { createdAt: NOW - 5, channelId: '1009' });
      expect(await balances.wallets(GUILD, 0)).toEqual({
        scope: 0,
        wallets: [{ address: TREASURY, since: NOW - 5, label: 'T' }],
      });
      expect(await balances.statements()).toEqual([]);
      await store.guilds.changeSettings(GUILD, { statement: 'weekly', timezone: 'Europe/Berlin' });
      const plan = { guildId: GUILD, period: 'weekly', timezone: 'Europe/Berlin', until: null, closing: {} };
      expect(await balances.statements()).toEqual([plan]);
      await balances.beginStatements(GUILD, 1);
      await balances.beginStatements(GUILD, 2);
      const closing = { k: { block: 7, of: { native: '5' } } };
      const { payload, nonce, reference, now } = notice();
      const made = { payload, nonce, reference, now, attachment: 'a,b' };
      const post = (since: number) =>
        balances.postStatement({ guildId: GUILD, since, until: since + 1, closing }, made);
      expect([await post(1), await post(1)]).toEqual([CHANNEL, null]);
      expect(await frozen(store)).toMatchObject({ kind: 'notice', attachment: 'a,b' });
      expect(await balances.statements()).toEqual([{ ...plan, until: 2, closing }]);
      await store.guilds.changeSettings(GUILD, { statement: 'monthly' });
      expect(await balances.statements()).toEqual([{ ...plan, period: 'monthly' }]);
    });

    it('records whether a balance is low, with one notice for each change', async ({ store }) => {
      const { balances } = store;
      const { id: subscription } = await subscribe(store, { warnBelow: '5', network: 3 });
      await subscribe(store, { channelId: '1009', warnBelow: '5', network: 4 });
      const low = async (isLow: boolean, warnBelow = '5') =>
        balances.record({ subscription, network: 3, warnBelow, isLow }, notice({ reference: `R${isLow}${warnBelow}` }));
      const known = async () => (await balances.watched(3)).map(({ isLow }) => isLow);
      expect(await balances.watched(3)).toMatchObject([
        { subscription, address: TREASURY, warnBelow: '5', isLow: null },
      ]);
      expect([await low(false), await low(true), await low(true), await known()]).toEqual([false, true, false, [true]]);
      expect(await frozen(store)).toMatchObject({ kind: 'notice', reference: 'Rtrue5' });
      await store.subscriptions.change(GUILD, subscription, { warnBelow: '6' });
      expect([await low(true), await known()]).toEqual([false, [null]]);
      expect([await low(true, '6'), await low(false, '6'), await known()]).toEqual([true, true, [false]]);
      await store.subscriptions.change(GUILD, subscription, { paused: true });
      expect([await low(true, '6'), await known()]).toEqual([false, []]);
    });
  });
}
