import { describe, expect } from 'vitest';
import { DAY, MINUTE } from '../../../src/domain/clock.ts';
import type { Learned } from '../../../src/domain/routing.ts';
import type { CatalogEntry } from '../../../src/domain/scam.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  ALICE,
  contextOf,
  GUILD,
  NOW,
  name,
  OTHER_GUILD,
  pruneAll,
  routed,
  saveProject,
  subscribe,
  TREASURY,
  transfer,
  USDC,
} from './given.ts';
import type { StoreTest } from './index.ts';

const learn = ({ routing }: Store, learned: Partial<Learned>) => routing.commit(routed({ learned }));

/** Notes blocks, each with its scope and the minute in which it came. */
async function reach(store: Store, ...heads: [scope: number, block: number, minute: number][]): Promise<void> {
  for (const [scope, block, minute] of heads) {
    await learn(store, { heads: [{ scope, block, at: NOW + minute * MINUTE }] });
  }
}

/** The minutes of the samples beyond the block of a transfer that comes in a minute. */
async function passed(store: Store, block: number, minute: number, scope = 0): Promise<number[]> {
  const at = NOW + minute * MINUTE;
  const { watched } = await contextOf(store, 1, { scope, at, transfer: transfer(1, { blockNumber: block }) });
  return watched[0]!.passedAt.map((at) => (at - NOW) / MINUTE);
}

/** The scope of the other guild's project, which watches the treasury too. */
async function ownScope(store: Store): Promise<number> {
  await subscribe(store, { guildId: OTHER_GUILD, channelId: '9' });
  return saveProject(store, OTHER_GUILD);
}

const knowledge = async (store: Store, tokenSymbol = 'USDC', now = NOW) =>
  (await contextOf(store, 1, { at: now, transfer: transfer(1, { tokenSymbol }) }, now)).knowledge;

export function knowledgeContract(test: StoreTest): void {
  const it = test.extend('store', async ({ store }) => {
    await subscribe(store);
    return store;
  });

  describe('how far a scope’s blocks have come', () => {
    it('keeps one sample a minute of each scope', async ({ store }) => {
      const own = await ownScope(store);
      await reach(store, [0, 100, 0], [own, 900, 0.5], [0, 101, 0.9], [0, 102, 1], [own, 901, 1.5], [0, 103, 2]);
      expect(await passed(store, 899, 3, own)).toEqual([0.5, 1.5]);
      expect(await passed(store, 99, 3)).toEqual([0, 1]);
      expect(await passed(store, 100, 3)).toEqual([1, 2]);
      expect(await passed(store, 102, 3)).toEqual([2]);
      expect(await passed(store, 103, 3)).toEqual([]);
    });

    it('keeps only what is above the middle of the latest three, of which one may be absurd', async ({ store }) => {
      await reach(store, [0, 100, 0], [0, 100, 1], [0, 9e15, 2], [0, 99, 3], [0, 101, 4], [0, 101, 5], [0, 102, 6]);
      expect(await Promise.all([98, 100, 102].map((block) => passed(store, block, 7)))).toEqual([[0, 4], [4, 6], [2]]);
    });

    it('deletes samples after three days, at the next sample of the same scope', async ({ store }) => {
      const own = await ownScope(store);
      const days = 3 * 24 * 60;
      await reach(store, [0, 100, 0], [own, 100, 0], [0, 101, 1], [0, 102, days + 1]);
      expect(await passed(store, 99, 2, own)).toEqual([0]);
      // As if it had come before: what is gone is not only too old for it.
      expect(await passed(store, 99, 2)).toEqual([1, days + 1]);
    });

    it('does not compare a transfer with samples that are three days older', async ({ store }) => {
      const days = 3 * 24 * 60;
      await reach(store, [0, 100, 0], [0, 300, 20], [0, 301, 21]);
      expect(await passed(store, 99, days - 1)).toEqual([0, 20]);
      expect(await passed(store, 99, days)).toEqual([20, 21]);
      expect(await passed(store, 99, days + 20)).toEqual([21]);
    });
  });

  describe('knowledge about tokens', () => {
    it('replaces what the explorer returned earlier, and finds genuine tokens of like symbols', async ({ store }) => {
      const gold = { cataloged: true, symbol: 'Gold', name: 'Gold' };
      const entry: CatalogEntry = { network: 0, token: USDC, ...gold, checkedAt: 1 };
      const keep = (changed: Partial<CatalogEntry>) => learn(store, { catalog: [{ ...entry, ...changed }] });
      const genuine = async (symbol: string) => (await knowledge(store, symbol)).genuine;
      await keep({});
      expect((await knowledge(store)).catalog).toEqual([entry]);
      expect(await genuine('gold')).toEqual([{ network: 0, skeleton: 'GOLD', token: USDC }]);
      await keep({ symbol: 'Silver', name: 'Silver Coin', checkedAt: 2 });
      const renamed = { ...entry, symbol: 'Silver', name: 'Silver Coin', checkedAt: 2 };
      expect((await knowledge(store)).catalog).toEqual([renamed]);
      expect([await genuine('gold'), await genuine('silver')]).toEqual([
        [],
        [{ network: 0, skeleton: 'SILVER', token: USDC }],
      ]);
      for (const changed of [{ cataloged: false }, { cataloged: null }, { symbol: null, name: null }]) {
        await keep({ ...renamed, ...changed });
        expect((await knowledge(store)).catalog).toEqual([{ ...renamed, ...changed }]);
        expect(await genuine('silver')).toEqual([]);
      }
    });

    it('forgets tokens that no catalog lists, and never one that it does', async ({ store }) => {
      const entry = { network: 0, token: USDC, symbol: 'USDC', name: 'USD Coin', checkedAt: 1 };
      const remains = async (cataloged: boolean | null) => {
        await learn(store, { catalog: [{ ...entry, cataloged }] });
        await pruneAll(store, NOW);
        return (await knowledge(store)).catalog.length;
      };
      expect([await remains(false), await remains(null), await remains(true)]).toEqual([0, 0, 1]);
    });

    it('updates a counterparty’s time after more than a day', async ({ store }) => {
      const seenAt = async (at: number) => {
        const met = { guildId: GUILD, address: TREASURY, counterparty: ALICE, seenAt: at, isPaid: false };
        await learn(store, { counterparties: [met] });
        return (await knowledge(store, 'USDC', NOW + 2 * DAY)).counterparties.map((one) => one.seenAt - NOW);
      };
      expect([await seenAt(NOW), await seenAt(NOW + DAY), await seenAt(NOW + DAY + 1)]).toEqual([[0], [0], [DAY + 1]]);
    });

    it('finds a guild’s own addresses that begin and end like a party’s', async ({ store }) => {
      const digits = (first: string, last: string) => `0x${first.padEnd(36, '7')}${last}` as const;
      const [first, last] = [ALICE.slice(2, 6), ALICE.slice(-4)];
      const [labeled, watched] = [digits(first, last), digits(`${first}1`, last)];
      const others = [digits(first, 'ffff'), digits('ffff', last)];
      for (const [n, one] of [labeled, ...others].entries()) await name(store, one, `Name ${n}`);
      for (const one of [watched, digits(`${first}1`, 'ffff')]) await subscribe(store, { address: one });
      await subscribe(store, { address: labeled, guildId: OTHER_GUILD, channelId: '9' });
      const { named } = await knowledge(store);
      expect(named.map(({ guildId, address, label }) => [guildId, address, label])).toEqual([
        [GUILD, labeled, 'Name 0'],
        [GUILD, watched, null],
      ]);
    });
  });
}
