import { describe, expect } from 'vitest';
import { DAY } from '../../../src/domain/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  ALICE,
  CHANNEL,
  change,
  contextOf,
  decision,
  due,
  dueAlerts,
  finishErasure,
  freeze,
  GUILD,
  historyOf,
  keyOf,
  NOW,
  name,
  newAlert,
  next,
  notice,
  OTHER_CHANNEL,
  OTHER_GUILD,
  PROGRESS,
  post,
  pruneAll,
  queryOf,
  received,
  routed,
  saveProject,
  send,
  storedTransfer,
  subscribe,
  txHash,
  USDC,
} from './given.ts';
import type { StoreTest } from './index.ts';

/** Stores something of every kind about a guild, with transfers of the nth ten. */
async function fill(store: Store, guildId: string, channelId: string, n: number): Promise<void> {
  await subscribe(store, { guildId, channelId });
  await name(store, ALICE, 'Alice', guildId);
  await store.guilds.changeSettings(guildId, { language: 'de' });
  await store.subscriptions.muteToken(guildId, USDC, NOW);
  await change(store, guildId);
  const scope = await saveProject(store, guildId);
  await store.projects.nameWebhook(guildId, 0, 'w', 'Main');
  await store.projects.chooseWebhook(guildId, 0, 'w');
  await post(store, [10 * n], { guildId, channelId, scope });
  await send(store, { channelId, reference: guildId });
  await post(store, [10 * n + 1], { guildId, channelId });
}

const seen = async (store: Store, scope: number): Promise<string[]> =>
  (await contextOf(store, 10, { scope })).transfers.map(({ key }) => key);

export function erasureContract(it: StoreTest): void {
  describe('erasure', () => {
    it('begins an erasure with what causes new alerts, and keeps what is stored from then on', async ({ store }) => {
      await fill(store, GUILD, CHANNEL, 1);
      await store.erasure.begin(GUILD);
      const stored = await store.metrics.stored(GUILD);
      expect(stored).toMatchObject({ subscriptions: 0, project: false, settings: false, waiting: 1 });
      await post(store, [99]);
      await subscribe(store);
      await finishErasure(store, GUILD);
      expect(await store.metrics.stored(GUILD)).toMatchObject({ subscriptions: 1, waiting: 1, history: 1, audit: 0 });
    });

    it('keeps what came after an erasure began, also when retention deleted the rows before it', async ({ store }) => {
      const seenAt = NOW - 2 * DAY;
      const old = { transfers: [storedTransfer(1, { seenAt })], decisions: [decision(1, { at: seenAt })] };
      await store.routing.commit(routed(old));
      await change(store, GUILD, seenAt);
      await store.erasure.begin(GUILD);
      await pruneAll(store, NOW);
      expect(await store.audit.prune(NOW)).toBe(1);
      expect(await store.metrics.stored(GUILD)).toMatchObject({ history: 0, audit: 0 });
      await store.routing.commit(routed({ transfers: [storedTransfer(2)], decisions: [decision(2)] }));
      await change(store);
      await finishErasure(store, GUILD);
      expect(await store.metrics.stored(GUILD)).toMatchObject({ history: 1, audit: 1 });
    });

    it('erases in steps, between which others write', async ({ store }) => {
      await post(store, [...Array(700).keys()]);
      await post(store, [800], { guildId: OTHER_GUILD, channelId: OTHER_CHANNEL });
      await store.erasure.begin(GUILD);
      expect(await store.erasure.step(GUILD)).toBe(true);
      const { waiting } = await store.metrics.stored(GUILD);
      expect(waiting).toBeGreaterThan(0);
      expect(waiting).toBeLessThan(700);
      await post(store, [801]);
      expect(await store.erasure.begun()).toEqual([GUILD]);
      await finishErasure(store, GUILD);
      expect(await store.metrics.stored(GUILD)).toMatchObject({ waiting: 1, history: 1 });
      expect(await store.metrics.stored(OTHER_GUILD)).toMatchObject({ waiting: 1, history: 1 });
    });

    it('covers what was stored since, and the first start’s project, when it is started again', async ({ store }) => {
      await fill(store, GUILD, CHANNEL, 1);
      const [project] = await store.projects.tokens();
      expect(await seen(store, project!.scope)).toEqual([keyOf(10)]);
      await store.erasure.begin(GUILD);
      await subscribe(store);
      await post(store, [99]);
      await change(store);
      await store.erasure.begin(GUILD);
      await finishErasure(store, GUILD);
      expect(await store.metrics.stored(GUILD)).toMatchObject({ subscriptions: 0, waiting: 0, history: 0, audit: 0 });
      expect(await seen(store, project!.scope)).toEqual([]);
    });

    it('keeps a transfer of the project that an alert stored since shows', async ({ store }) => {
      await fill(store, GUILD, CHANNEL, 1);
      const [project] = await store.projects.tokens();
      await store.erasure.begin(GUILD);
      const given = storedTransfer(10, { scope: project!.scope });
      const [known] = (await contextOf(store, 10, { scope: project!.scope })).transfers;
      await store.routing.commit(
        routed({ transfers: [{ ...given, id: known!.id }], alerts: [newAlert(10, { channelId: OTHER_CHANNEL })] }),
      );
      await finishErasure(store, GUILD);
      expect(await due(store, NOW, OTHER_CHANNEL)).toEqual([10]);
      expect(await seen(store, project!.scope)).toEqual([keyOf(10)]);
    });

    it('keeps a message that an alert stored since has joined', async ({ store }) => {
      await post(store, [1]);
      await send(store);
      await store.erasure.begin(GUILD);
      await post(store, [2], { transfer: { txHash: txHash(1) } });
      const { joins, alerts } = await dueAlerts(store);
      const edit = await store.outbox.join(CHANNEL, joins[0]!, alerts, '{}', NOW);
      await store.outbox.markEdited(edit!, NOW);
      await finishErasure(store, GUILD);
      const message = { kind: 'create', alerts: 1 };
      expect(await historyOf(store, 1)).toMatchObject([{ alerts: [{ state: 'sent', message }] }]);
    });

    it('erases nothing of a guild whose erasure has not begun', async ({ store }) => {
      await fill(store, GUILD, CHANNEL, 1);
      expect(await store.erasure.step(GUILD)).toBe(false);
      expect(await store.metrics.stored(GUILD)).toMatchObject({ subscriptions: 1, waiting: 1 });
    });

    it('erases a guild that removed the bot before a time, unless it took the bot back', async ({ store }) => {
      await fill(store, GUILD, CHANNEL, 1);
      await fill(store, OTHER_GUILD, '9', 2);
      for (const guildId of [GUILD, OTHER_GUILD]) await store.channels.guildRemoved(guildId, NOW, NOW + 1);
      expect(await store.erasure.removed(NOW)).toEqual([]);
      expect(await store.erasure.removed(NOW + 1)).toEqual([GUILD, OTHER_GUILD]);
      await store.channels.guildReturned(GUILD);
      expect(await store.erasure.begin(GUILD, NOW + 1)).toBe(false);
      expect(await store.erasure.begin(OTHER_GUILD, NOW)).toBe(false);
      expect(await store.erasure.begin(OTHER_GUILD, NOW + 1)).toBe(true);
      expect(await store.erasure.begun()).toEqual([OTHER_GUILD]);
      expect(await store.erasure.removed(NOW + 1)).toEqual([]);
      expect(await store.metrics.stored(GUILD)).toMatchObject({ subscriptions: 1 });
    });
  });

  describe('retention', () => {
    const left = async ({ history }: Store, n: number) =>
      (await history.transfers({ guildId: GUILD, txHash: txHash(n) }, NOW, 9)).total;
    const OLD = NOW - 2 * DAY;

    it('deletes old transfers whose alerts were sent, and keeps what waits or is recent', async ({ store }) => {
      await post(store, [1], { now: OLD });
      await send(store, {}, OLD);
      await post(store, [2], { channelId: OTHER_CHANNEL, now: OLD });
      await post(store, [3]);
      await send(store);
      await pruneAll(store, NOW - 1);
      expect([await left(store, 1), await left(store, 2), await left(store, 3)]).toEqual([0, 1, 1]);
    });

    it('deletes transfers of uncataloged tokens early, and of unchecked ones on a low disk', async ({ store }) => {
      const entry = { network: 0, token: USDC, cataloged: false, symbol: null, name: null, checkedAt: OLD };
      await store.routing.commit(routed({ learned: { catalog: [entry] } }));
      const unchecked = { isWorthless: true, now: OLD, transfer: { token: ALICE } };
      await store.chainChecks.advance(0, { ...PROGRESS, block: 1_999_999_999 }, new Map());
      for (const [n, changed] of [
        [1, { isWorthless: true, now: OLD }],
        [2, unchecked],
        [3, { isWorthless: true }],
        [4, { now: OLD }],
        // Its block is not compared with the chain yet.
        [6, { isWorthless: true, now: OLD, transfer: { blockNumber: 2_000_000_000 } }],
      ] as const) {
        await post(store, [n], changed);
        await send(store, {}, OLD + n);
      }
      await post(store, [5], { isWorthless: true, now: OLD, channelId: OTHER_CHANNEL });
      const all = () => Promise.all([1, 2, 3, 4, 5, 6].map((n) => left(store, n)));
      expect(await store.retention.pruneWorthless(NOW - DAY, 0, false)).toEqual({ deleted: 1, next: null });
      expect(await all()).toEqual([0, 1, 1, 1, 1, 1]);
      expect(await store.retention.pruneWorthless(NOW - DAY, 0, true)).toEqual({ deleted: 2, next: null });
      expect(await all()).toEqual([0, 0, 1, 1, 1, 0]);
      expect(await store.retention.reusableBytes()).toBeGreaterThanOrEqual(0);
      // Alerts that waited for too long can be replayed for just as long.
      await store.outbox.expire(OTHER_CHANNEL, NOW, 'too old', NOW);
      expect((await store.retention.pruneWorthless(NOW - DAY, 0, true)).deleted).toBe(0);
      expect((await store.retention.pruneWorthless(NOW + 1, 0, true)).deleted).toBe(2);
      expect(await all()).toEqual([0, 0, 0, 1, 0, 0]);
    });

    it('deletes more transfers than one step can, of every scope', async ({ store }) => {
      const numbers = Array.from({ length: 2_100 }, (_, n) => n);
      const transfers = numbers.map((n) =>
        storedTransfer(n, { scope: n % 3, seenAt: OLD, transfer: { txHash: txHash(1) } }),
      );
      await store.routing.commit(routed({ transfers, decisions: numbers.map((n) => decision(n)) }));
      expect(await left(store, 1)).toBe(2_100);
      await pruneAll(store, NOW);
      expect(await left(store, 1)).toBe(0);
    });

    it('goes on behind more old transfers than one step looks at, all of which still wait', async ({ store }) => {
      const waiting = Array.from({ length: 1_100 }, (_, n) => n + 2);
      await post(store, waiting, { now: OLD, transfer: { txHash: txHash(2) } });
      const done = { transfers: [storedTransfer(1, { seenAt: OLD })], decisions: [decision(1, { at: OLD })] };
      await store.routing.commit(routed(done));
      await pruneAll(store, NOW);
      expect([await left(store, 1), await left(store, 2)]).toEqual([0, 1_100]);
    });

    it('keeps what a dead letter is about until the letter is discarded', async ({ store }) => {
      await post(store, [1], { now: OLD });
      await store.outbox.expire(CHANNEL, OLD + 1, 'too old', OLD + 1);
      await pruneAll(store, NOW);
      const [letter] = await store.deadLetters.list(9);
      expect(letter).toMatchObject({ reason: 'too old' });
      expect(await left(store, 1)).toBe(1);
      await store.deadLetters.discard([letter!.id], NOW);
      await pruneAll(store, NOW);
      expect(await left(store, 1)).toBe(0);
    });

    it('keeps an old message that was not sent yet', async ({ store }) => {
      await store.channels.postNotice(notice({ now: OLD }));
      await pruneAll(store, NOW);
      expect(await next(store)).toMatchObject({ status: 'batch', batch: { kind: 'notice', frozenAt: OLD } });
    });

    it('keeps an old message as long as an alert of it', async ({ store }) => {
      await post(store, [1], { now: OLD });
      await store.outbox.deadLetter(await freeze(store, {}, OLD), 'refused', OLD);
      await pruneAll(store, NOW);
      const message = { kind: 'create', frozenAt: OLD };
      expect(await historyOf(store, 1)).toMatchObject([{ alerts: [{ state: 'dead', message }] }]);
    });

    it('deletes transfers of servers’ own projects that concern no subscription, and no others', async ({ store }) => {
      const at = { scope: 5, seenAt: NOW - 9 };
      const transfers = [storedTransfer(1, at), storedTransfer(2, at), storedTransfer(3, { scope: 5, seenAt: NOW })];
      const operators = storedTransfer(4, { scope: 0, seenAt: NOW - 9 });
      await store.routing.commit(routed({ transfers: [...transfers, operators], decisions: [decision(2)] }));
      for (let since: number | null = 0; since !== null; ) since = await store.retention.pruneUnmatched(5, since, NOW);
      const queries = [1, 2, 3, 4].map((n) => queryOf(n, { scope: n === 4 ? 0 : 5 }));
      const context = await store.routing.context(queries, NOW);
      expect(context.transfers.map(({ key }) => key)).toEqual([keyOf(2), keyOf(3), keyOf(4)]);
    });

    it('remembers how far deletion has come, and begins with the oldest transfer', async ({ store }) => {
      const { retention } = store;
      expect(await retention.prunedBefore()).toBeNull();
      await store.routing.commit(routed({ transfers: [storedTransfer(1), storedTransfer(2, { seenAt: NOW - 9 })] }));
      expect(await retention.prunedBefore()).toBe(NOW - 9);
      await retention.setPrunedBefore(NOW - 5);
      expect(await retention.prunedBefore()).toBe(NOW - 5);
    });
  });

  describe('uptime', () => {
    it('returns the latest time recorded or stored, and every pause', async ({ store: { uptime, inbox } }) => {
      expect(await uptime.read()).toEqual({ latest: null, pauses: [] });
      const pauses = [
        { from: NOW - 9, until: NOW - 8 },
        { from: NOW - 3, until: NOW - 2 },
      ];
      await uptime.record(NOW, pauses);
      expect(await uptime.read()).toEqual({ latest: NOW, pauses });
      await inbox.append([received('{}', { receivedAt: NOW + 5 })]);
      expect(await uptime.read()).toEqual({ latest: NOW + 5, pauses });
      await uptime.record(NOW + 6, []);
      expect(await uptime.read()).toEqual({ latest: NOW + 6, pauses: [] });
    });
  });
}
