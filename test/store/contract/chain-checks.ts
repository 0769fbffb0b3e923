import { describe, expect } from 'vitest';
import type { AddressText } from '../../../src/domain/address.ts';
import type { StoredTransfer } from '../../../src/domain/completeness.ts';
import {
  ALICE,
  address,
  CHANNEL,
  contextOf,
  decision,
  frozen,
  GUILD,
  historyOf,
  keyOf,
  matchOf,
  NOW,
  newAlert,
  notice,
  PROGRESS,
  post,
  routed,
  saveProject,
  send,
  storedTransfer,
  subscribe,
  TREASURY,
  transfer,
  txHash,
  USDC,
} from './given.ts';
import type { StoreTest } from './index.ts';

export function chainChecksContract(it: StoreTest): void {
  describe('chain checks', () => {
    it('keep how far a network was compared, and the balances there', async ({ store: { chainChecks } }) => {
      expect(await chainChecks.progress(0)).toBeNull();
      const balances = new Map([
        [ALICE, 10n ** 30n],
        [TREASURY, 0n],
      ]);
      await chainChecks.advance(0, PROGRESS, balances);
      await chainChecks.advance(10, PROGRESS, new Map());
      expect(await chainChecks.progress(0)).toEqual({ progress: PROGRESS, balances });
      await chainChecks.advance(0, { ...PROGRESS, block: 8 }, new Map([[ALICE, 5n]]));
      expect(await chainChecks.progress(0)).toMatchObject({
        progress: { block: 8 },
        balances: new Map([[ALICE, 5n]]),
      });
    });

    it('know every watched address with its scope, since its first subscription', async ({ store }) => {
      await subscribe(store, { createdAt: NOW });
      await subscribe(store, { createdAt: NOW - 5, channelId: '1009' });
      const scope = await saveProject(store, '2000');
      await subscribe(store, { guildId: '2000', channelId: '2001', createdAt: NOW });
      const watched = (await store.chainChecks.watched(0)).toSorted((one, other) => one.scope - other.scope);
      expect(watched).toEqual([
        { scope: 0, address: TREASURY, since: NOW - 5 },
        { scope, address: TREASURY, since: NOW },
      ]);
    });

    it('know which transfers every guild of a scope got before its project changed', async ({ store }) => {
      const guildId = '2000';
      const { id } = await subscribe(store);
      const other = await subscribe(store, { guildId, channelId: '2001' });
      const decisions = [decision(1, { subscription: id }), decision(2, { subscription: id })];
      decisions.push(decision(2, { subscription: other.id, guildId, channelId: '2001' }));
      await store.routing.commit(routed({ transfers: [1, 2].map((n) => storedTransfer(n)), decisions }));
      const own = await saveProject(store, guildId);
      const decided = (scope: number) => store.chainChecks.decided(0, scope, [1, 2]);
      expect([await decided(own), await decided(0)]).toEqual([[2], [1, 2]]);
      await store.projects.remove(guildId);
      expect(await decided(0)).toEqual([2]);
    });

    it('find what is stored about blocks, transactions or since a transfer, and correct it', async ({ store }) => {
      const { chainChecks } = store;
      await post(store, [1, 2, 3]);
      const hashes = (found: StoredTransfer[]) => found.map(({ transfer: { txHash } }) => Number(txHash));
      const stored = async (address: AddressText, txHashes: string[] = []) =>
        hashes(await chainChecks.stored(0, { after: 1, upTo: 2 }, [address], txHashes));
      expect([await stored(TREASURY), await stored(address(9))]).toEqual([[2], []]);
      expect((await stored(TREASURY, [txHash(1)])).sort()).toEqual([1, 2]);
      const { found, upTo } = await chainChecks.late(0, 0, 2);
      expect([hashes(found), (await chainChecks.late(0, upTo, 2)).found]).toEqual([[1, 2], []]);
      await send(store);
      expect(await chainChecks.correct([{ id: found[0]!.id, count: 0 }], NOW)).toMatchObject([{ channelId: CHANNEL }]);
      expect(await historyOf(store, 1)).toMatchObject([{ count: 0, transfer: { settled: 0 } }]);
    });

    it('list what was posted because it was found on the chain, and what came around it', async ({ store }) => {
      const { id } = await subscribe(store);
      const decided = (n: number) => decision(n, { subscription: id });
      await store.routing.commit(
        routed({
          transfers: [
            storedTransfer(1, { seenAt: NOW - 9 }),
            { ...storedTransfer(2), seenAt: NOW, minedAt: NOW - 60 },
            { ...storedTransfer(3), seenAt: NOW, minedAt: NOW - 60 },
            storedTransfer(4, { seenAt: NOW + 9 }),
          ],
          decisions: [decided(1), decided(2), decision(3, { subscription: id, outcome: 'muted' })],
        }),
      );
      const { chainChecks } = store;
      const missed = await chainChecks.missed(GUILD, NOW - 1);
      expect(missed).toMatchObject([
        { transfer: { txHash: txHash(2) }, at: NOW, minedAt: NOW - 60, channelId: CHANNEL },
      ]);
      expect(await chainChecks.missed(GUILD, NOW)).toEqual([]);
      expect(await chainChecks.missedIn(NOW - 1)).toEqual([GUILD]);
      expect(await chainChecks.noticed()).toBeNull();
      await chainChecks.setNoticed(NOW);
      expect(await chainChecks.noticed()).toBe(NOW);
      expect(await chainChecks.deliveredAround(0, NOW)).toEqual({ before: NOW - 9, after: NOW + 9 });
    });

    it('recognize a transfer that was found on the chain when it is delivered in another form', async ({ store }) => {
      const piece = transfer(1, { kind: 'erc1155', tokenId: '5', value: '3' });
      await store.routing.commit(routed({ transfers: [{ ...storedTransfer(1, { transfer: piece }), minedAt: NOW }] }));
      const context = await contextOf(store, 9, { transfer: { ...piece, kind: 'erc721', value: null } });
      expect([...context.aliases]).toEqual([[keyOf(9), keyOf(1)]]);
      expect(context.transfers).toMatchObject([{ key: keyOf(1) }]);
      expect(context.watched).toEqual([]);
    });
  });

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
      expect(await balances.keep([{ ...left, address: shown.address, balance: '10' }], true, NOW)).toMatchObject([
        { channelId: CHANNEL },
      ]);
      const [alert] = await store.outbox.alerts([1]);
      expect(alert).toMatchObject({
        transfer: { balances: { block: 7, of: { [TREASURY]: '10' } } },
        matches: [{ showsBalance: true }],
      });
    });

    it('are not read for a token that no catalog lists, unless the address sent it', async ({ store }) => {
      const { id: subscription } = await subscribe(store, { showBalance: true });
      const { last } = await store.balances.concerned(null);
      const unlisted = storedTransfer(1, { isWorthless: true });
      const sent = storedTransfer(2, { isWorthless: true, transfer: { from: TREASURY, to: ALICE } });
      const decisions = [decision(1, { subscription }), decision(2, { subscription })];
      const catalog = [{ network: 0, token: USDC, cataloged: false, symbol: null, name: null, checkedAt: NOW }];
      await store.routing.commit(routed({ transfers: [unlisted, sent], decisions, learned: { catalog } }));
      const { concerned } = await store.balances.concerned(last);
      expect(concerned).toMatchObject([{ transfer: { txHash: txHash(2) } }]);
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
