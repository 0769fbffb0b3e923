import { describe, expect } from 'vitest';
import { DAY, HOUR } from '../../../src/domain/clock.ts';
import { REASONS } from '../../../src/domain/match.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  ALICE,
  address,
  CHANNEL,
  countAgain,
  decision,
  delivery,
  freeze,
  GUILD,
  historyOf,
  keyOf,
  NOW,
  newAlert,
  notice,
  OTHER_CHANNEL,
  OTHER_GUILD,
  PARKED,
  post,
  pruneAll,
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

export function historyContract(it: StoreTest): void {
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

    it('shows a transfer that nobody watches only to the guild whose project brought it', async ({ store }) => {
      await store.routing.commit(routed({ transfers: [storedTransfer(1, { scope: 7 })] }));
      const query = { guildId: GUILD, txHash: txHash(1) };
      expect(await store.history.transfers(query, NOW, 5)).toEqual({ total: 0, first: [] });
      const shown = { total: 1, first: [{ own: true }] };
      expect(await store.history.transfers({ ...query, ownScopes: [7] }, NOW, 5)).toMatchObject(shown);
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

    it('counts the alerts that a digest was posted with, even those that are deleted', async ({ store }) => {
      await post(store, [1, 2], { now: NOW - 2 * DAY });
      await post(store, [3]);
      await send(store, { kind: 'digest' });
      await pruneAll(store, NOW - DAY);
      expect(await historyOf(store, 1)).toEqual([]);
      const message = { kind: 'digest', alerts: 3 };
      expect(await historyOf(store, 3)).toMatchObject([{ alerts: [{ state: 'sent', message }] }]);
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
  });

  describe('activity of addresses', () => {
    const query = { guildId: GUILD, address: TREASURY, channelIds: [CHANNEL], since: 0, until: NOW + 9 };
    const hashes = async ({ history }: Store, changed: Partial<typeof query> = {}, limit = 9) =>
      (await history.decidedTransfers({ ...query, ...changed }, limit)).map((one) => Number(one.transfer.txHash));

    it('returns decided transfers of a period, an address, a guild and channels, latest first', async ({ store }) => {
      for (const n of [1, 2, 3]) await post(store, [n], { now: NOW + n });
      expect(await hashes(store)).toEqual([3, 2, 1]);
      expect(await hashes(store, { since: NOW + 2, until: NOW + 2 })).toEqual([2]);
      expect(await hashes(store, { address: ALICE })).toEqual([]);
      expect(await hashes(store, { channelIds: [OTHER_CHANNEL] })).toEqual([]);
      expect(await hashes(store, { guildId: OTHER_GUILD })).toEqual([]);
      expect(await store.history.activityChannels(query)).toEqual([CHANNEL]);
      expect(await store.history.counterparties(GUILD, 9)).toEqual([ALICE, TREASURY]);
    });

    it('never splits the transfers of one moment between two pages', async ({ store }) => {
      await post(store, [1, 2], { now: NOW });
      await post(store, [3], { now: NOW + 1 });
      expect(await hashes(store, {}, 1)).toEqual([3]);
      expect((await hashes(store, {}, 2)).sort()).toEqual([1, 2, 3]);
    });

    it('returns every decision about a transfer with the warnings of the guild’s alerts', async ({ store }) => {
      const outcomes = REASONS.slice(0, 2);
      await store.routing.commit(
        routed({
          transfers: [storedTransfer(1, { count: 2 })],
          alerts: [
            newAlert(1, { warnings: [{ kind: 'uncataloged' }] }),
            newAlert(1, { guildId: OTHER_GUILD, channelId: '9', warnings: [{ kind: 'late', ms: 1 }] }),
          ],
          decisions: outcomes.map((outcome, n) => decision(1, { outcome, subscription: n })),
        }),
      );
      const [found] = await store.history.decidedTransfers(query, 9);
      expect(found).toMatchObject({ at: NOW, count: 2, transfer: transfer(1), warnings: [{ kind: 'uncataloged' }] });
      expect(found!.outcomes.toSorted()).toEqual([...outcomes].sort());
    });

    it('finds the first of several messages that show a transfer', async ({ store }) => {
      const channelIds = [OTHER_CHANNEL, CHANNEL];
      const alerts = channelIds.map((channelId) => newAlert(1, { channelId }));
      await store.routing.commit(routed({ transfers: [storedTransfer(1)], alerts, decisions: [decision(1)] }));
      for (const channelId of channelIds) await send(store, { channelId, reference: channelId });
      const [found] = await store.history.decidedTransfers(query, 9);
      const posted = await store.history.postedIn(GUILD, [found!.transferId], channelIds);
      expect(posted.map(({ channelId }) => channelId)).toEqual([OTHER_CHANNEL]);
    });

    it('looks through the latest transfers of the guild’s project for an address', async ({ store }) => {
      await post(store, [1], { now: NOW + 1, transfer: { from: address(1) } });
      await post(store, [2, 3], { now: NOW + 2 });
      await post(store, [4], { now: NOW + 3, transfer: { to: address(1) } });
      await post(store, [5], { now: NOW + 3, scope: 7 });
      const recent = async (address: typeof ALICE, limit: number, until = NOW + 9) => {
        const page = await store.history.recentTransfers(
          { guildId: GUILD, address, network: null, since: 0, until, channelIds: null },
          limit,
        );
        return { ...page, involved: page.involved.map((one) => Number(one.transfer.txHash)) };
      };
      expect(await recent(address(1), 9)).toEqual({ seen: 4, oldest: NOW + 1, involved: [4, 1] });
      expect(await recent(address(1), 2)).toEqual({ seen: 3, oldest: NOW + 2, involved: [4] });
      expect(await recent(address(1), 2, NOW + 1)).toEqual({ seen: 1, oldest: NOW + 1, involved: [1] });
      expect(await recent(USDC, 9)).toMatchObject({ involved: [4, 3, 2, 1] });
      expect(await recent(address(1), 9, NOW)).toEqual({ seen: 0, oldest: null, involved: [] });
    });
  });

  describe('silences', () => {
    const busy = { events: 20, lastEventAt: NOW - 48 * HOUR, gapMs: HOUR };
    async function watch(store: Store, n: number, more = {}): Promise<number> {
      const { id: subscription } = await subscribe(store, { address: address(n), watchSilence: true, ...more });
      await store.routing.commit(routed({ stats: [{ subscription, ...busy }] }));
      return subscription;
    }
    const idsOf = (silences: { subscription: number }[]) => silences.map(({ subscription }) => subscription);

    it('returns the silences to report: wanted, not muted, and not reported before', async ({ store }) => {
      const first = await watch(store, 1);
      const elsewhere = await watch(store, 2, { guildId: OTHER_GUILD, channelId: '9' });
      await watch(store, 3, { watchSilence: false });
      const [muted, over] = [await watch(store, 4), await watch(store, 5)];
      await store.subscriptions.mute(GUILD, [muted], NOW + 1);
      await store.subscriptions.mute(GUILD, [over], NOW);
      expect(idsOf(await store.silence.unreported(NOW)).sort()).toEqual([first, elsewhere, over]);
      expect(idsOf(await store.silence.current(GUILD, NOW))).toContain(muted);
      expect(await store.silence.report(notice(), [first, over])).toBe(true);
      expect(await store.silence.report(notice(), [first, over])).toBe(false);
      expect(idsOf(await store.silence.unreported(NOW))).toEqual([elsewhere]);
      expect((await store.outbox.channelsWithWork()).map(({ channelId }) => channelId)).toEqual([CHANNEL]);
    });

    it('knows when the guild’s own project, or else the operator’s, last brought a transfer', async ({ store }) => {
      const scope = await saveProject(store, OTHER_GUILD);
      await watch(store, 1);
      await watch(store, 2, { guildId: OTHER_GUILD, channelId: '9' });
      const feeds = async () => (await store.silence.unreported(NOW)).map(({ feedAt }) => feedAt);
      expect(await feeds()).toEqual([null, null]);
      const transfers = [storedTransfer(1, { seenAt: 20 }), storedTransfer(2, { seenAt: 90 })];
      transfers.push(storedTransfer(3, { seenAt: 70, scope }));
      await store.routing.commit(routed({ transfers }));
      expect(await feeds()).toEqual([90, 70]);
    });
  });

  describe('tokens', () => {
    const known = async ({ tokens }: Store, guildId = GUILD) => tokens.known(guildId);

    it('lists what moved at a guild’s addresses, most often first, then the catalog’s latest', async ({ store }) => {
      const coin = { kind: 'native', token: null, tokenSymbol: null, tokenType: 'FUSE' } as const;
      const entry = (n: number, cataloged: boolean | null, symbol: string | null, checkedAt: number) => {
        return { network: 0, token: address(n), cataloged, symbol, name: null, checkedAt };
      };
      const catalog = [entry(1, false, 'ONCE', 1), entry(5, true, 'EARLY', 1), entry(6, true, 'LATE', 2)];
      catalog.push(entry(7, true, null, 1), entry(8, false, 'STRAY', 1), entry(9, null, 'UNKNOWN', 1));
      await store.routing.commit(routed({ learned: { catalog } }));
      await post(store, [1], { transfer: { token: address(1), tokenSymbol: 'A' } });
      await post(store, [2, 3], { transfer: coin });
      await post(store, [4], { guildId: OTHER_GUILD, channelId: '9' });
      expect(await known(store)).toEqual([
        { token: 'native', network: 0, symbol: 'FUSE', cataloged: false, seen: true },
        { token: address(1), network: 0, symbol: 'A', cataloged: false, seen: true },
        { token: address(6), network: 0, symbol: 'LATE', cataloged: true, seen: false },
        { token: address(5), network: 0, symbol: 'EARLY', cataloged: true, seen: false },
      ]);
      expect(await store.tokens.known(GUILD, 10)).toEqual([]);
      expect((await known(store, OTHER_GUILD))[0]).toMatchObject({ token: USDC, seen: true });
    });
  });

  describe('metrics', () => {
    it('counts the alerts of messages that are not confirmed', async ({ store }) => {
      await post(store, [1], { now: NOW - 9 });
      await freeze(store, {}, NOW - 5);
      await post(store, [2]);
      expect((await store.metrics.backlog(NOW)).alerts).toMatchObject({ due: 1, closed: 0, oldest: NOW - 5 });
      await store.channels.setState(PARKED);
      expect((await store.metrics.backlog(NOW)).alerts).toMatchObject({ due: 0, closed: 2, oldest: null });
    });

    it('counts an edit among the messages to send, but not its age', async ({ store }) => {
      await post(store, [1], { now: NOW - 9 });
      await send(store, {}, NOW - 9);
      await countAgain(store, 1, NOW - 5);
      expect(await store.metrics.backlog(NOW)).toMatchObject({ frozen: 1, alerts: { due: 0, oldest: null } });
    });

    it('counts alerts that are due, held, or kept for a blocked channel', async ({ store }) => {
      await post(store, [1], { hold: 'hourly', dueAt: NOW + 1, now: NOW - 9 });
      await post(store, [2], { channelId: OTHER_CHANNEL, now: NOW - 8 });
      await store.channels.setState({ ...PARKED, channelId: OTHER_CHANNEL });
      const alerts = async () => (await store.metrics.backlog(NOW)).alerts;
      expect(await alerts()).toEqual({ due: 0, held: 1, closed: 1, oldest: null });
      await post(store, [3], { now: NOW - 5 });
      expect(await alerts()).toEqual({ due: 1, held: 1, closed: 1, oldest: NOW - 5 });
      await send(store);
      expect(await alerts()).toEqual({ due: 0, held: 1, closed: 1, oldest: null });
      const blocked = [{ channelId: OTHER_CHANNEL, state: 'parked', since: NOW }];
      expect(await store.metrics.guild(GUILD)).toMatchObject({ waiting: 2, held: 1, deadLetters: 0, blocked });
      expect(await store.metrics.guild(OTHER_GUILD)).toMatchObject({ waiting: 0, blocked: [] });
      // A held alert waits from when it is due.
      expect((await store.metrics.backlog(NOW + 2)).alerts).toMatchObject({ due: 1, oldest: NOW + 1 });
    });
  });
}
