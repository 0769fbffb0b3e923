import { describe, expect } from 'vitest';
import { operatorScope } from '../../../src/domain/inbox.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  CHANNEL,
  contextOf,
  dueAlerts,
  finishErasure,
  GUILD,
  keyOf,
  NOW,
  newAlert,
  newSubscription,
  OTHER_CHANNEL,
  OTHER_GUILD,
  queryOf,
  received,
  routed,
  saveProject,
  storedTransfer,
  subscribe,
  TREASURY,
  txHash,
  USDC,
} from './given.ts';
import type { StoreTest } from './index.ts';

const save = ({ projects }: Store, guildId: string, projectId: string, token: string) =>
  projects.save({ guildId, projectId, sealed: Buffer.from(projectId) }, token);

const tokens = async ({ projects }: Store) =>
  (await projects.tokens()).map(({ token, scope, retiring }) => `${scope} ${token}${retiring ? ' (retiring)' : ''}`);

const BASE = 8453;

/** The channels that watch a transfer, for each of these scopes. */
async function watching({ routing }: Store, scopes: readonly number[]): Promise<string[][]> {
  const queries = scopes.map((scope, index) => queryOf(index, { scope }));
  const { watched } = await routing.context(queries, NOW);
  const channels = new Map(watched.map((one) => [one.transferKey, one.watchers.map(({ channelId }) => channelId)]));
  return scopes.map((_, index) => channels.get(keyOf(index))?.toSorted() ?? []);
}

export function projectsContract(it: StoreTest): void {
  describe('projects', () => {
    it('removes a project with its path tokens, webhook names and use of the inbox, not another guild’s', async ({
      store,
    }) => {
      const scope = await save(store, GUILD, 'one', 't1');
      const other = await save(store, OTHER_GUILD, 'two', 't2');
      for (const guildId of [GUILD, OTHER_GUILD]) await store.projects.nameWebhook(guildId, 0, 'w', 'Main');
      const done = await store.inbox.append([received('{}', { scope })]);
      await store.routing.commit(routed({ done }));
      expect(await store.inbox.usage()).toMatchObject([{ scope, dayBytes: 2 }]);
      expect(await store.projects.remove(GUILD)).toBe(true);
      expect(await store.projects.remove(GUILD)).toBe(false);
      expect(await store.projects.ofGuild(GUILD)).toBeNull();
      expect(await tokens(store)).toEqual([`${other} t2`]);
      expect((await store.projects.webhookNames(GUILD, 0)).size).toBe(0);
      expect([...(await store.projects.webhookNames(OTHER_GUILD, 0))]).toEqual([['w', 'Main']]);
      expect(await store.inbox.usage()).toEqual([]);
    });

    it('never uses a scope again, so late events of a removed project reach nobody', async ({ store }) => {
      const scope = await save(store, GUILD, 'one', 't1');
      await store.projects.remove(GUILD);
      expect(await save(store, OTHER_GUILD, 'two', 't2')).toBeGreaterThan(scope);
    });

    it('keeps a scope’s previous path token until it is revoked, and refuses a third one before', async ({ store }) => {
      const [one, two] = [await save(store, GUILD, 'one', 'a1'), await save(store, OTHER_GUILD, 'two', 'b1')];
      expect(await store.projects.rotateToken(one, 'a2')).toBe(true);
      expect(await store.projects.rotateToken(one, 'a3')).toBe(false);
      expect(await store.projects.rotateToken(two, 'b2')).toBe(true);
      expect(await store.projects.revokeToken(one)).toBe(true);
      expect(await store.projects.revokeToken(one)).toBe(false);
      expect(await tokens(store)).toEqual([`${one} a2`, `${two} b1 (retiring)`, `${two} b2`]);
    });

    it('adds a path token to the operator’s scope once', async ({ store }) => {
      for (const token of ['t1', 't1']) await store.projects.addToken(token, 0);
      expect(await tokens(store)).toEqual(['0 t1']);
    });

    it('reseals the keys of one project, unless they were replaced meanwhile', async ({ store }) => {
      await save(store, GUILD, 'one', 't1');
      await save(store, OTHER_GUILD, 'two', 't2');
      const before = (await store.projects.ofGuild(GUILD))!;
      await store.projects.reseal(before, Buffer.from('resealed'));
      await store.projects.reseal(before, Buffer.from('stale'));
      const sealed = (await store.projects.all()).map((project) => Buffer.from(project.sealed).toString());
      expect(sealed).toEqual(['resealed', 'two']);
    });

    it('names and chooses webhooks on each network, until its project there is removed', async ({ store }) => {
      const { projects } = store;
      for (const network of [0, 10]) {
        await saveProject(store, GUILD, network);
        for (const name of ['Main', 'Renamed']) await projects.nameWebhook(GUILD, network, `w${network}`, name);
        for (const webhook of ['old', `w${network}`]) await projects.chooseWebhook(GUILD, network, webhook);
      }
      await projects.nameWebhook(GUILD, 0, 'v', 'Second');
      await projects.nameWebhook(GUILD, 0, 'v', null);
      const stored = (network: number) =>
        Promise.all([projects.webhookNames(GUILD, network), projects.chosenWebhook(GUILD, network)]);
      expect(await stored(10)).toEqual([new Map([['w10', 'Renamed']]), 'w10']);
      await projects.remove(GUILD, 10);
      expect([await stored(0), await stored(10)]).toEqual([
        [new Map([['w0', 'Renamed']]), 'w0'],
        [new Map(), null],
      ]);
    });
  });

  describe('networks', () => {
    it('keeps the network that came first, in whatever order others come later', async ({ store: { projects } }) => {
      expect([await projects.firstNetwork(1), await projects.firstNetwork(BASE)]).toEqual([1, 1]);
    });

    it('finds who watches an address on a network, in the project that each guild has there', async ({ store }) => {
      await subscribe(store);
      await subscribe(store, { network: BASE, channelId: OTHER_CHANNEL });
      await subscribe(store, { network: 10, channelId: '1003' });
      await subscribe(store, { guildId: OTHER_GUILD, channelId: '2001' });
      const scopes = [0, operatorScope(BASE), operatorScope(10)];
      expect(await watching(store, scopes)).toEqual([
        [CHANNEL, '2001'],
        [CHANNEL, OTHER_CHANNEL, '2001'],
        [CHANNEL, '1003', '2001'],
      ]);

      const own = await saveProject(store, GUILD, BASE);
      expect(await watching(store, [...scopes, own])).toEqual([
        [CHANNEL, '2001'],
        ['2001'],
        [CHANNEL, '1003', '2001'],
        [CHANNEL, OTHER_CHANNEL],
      ]);
      const queries = [own, operatorScope(BASE), 99].map((scope) => queryOf(1, { scope }));
      const { scopes: known } = await store.routing.context(queries, NOW);
      expect(known.toSorted((one, other) => one.scope - other.scope)).toEqual([
        { scope: operatorScope(BASE), network: BASE, projectId: null },
        { scope: own, network: BASE, projectId: `p${BASE}` },
      ]);
    });

    it('lets a channel watch an address once on each network and once on any', async ({ store }) => {
      await subscribe(store);
      const { id } = await subscribe(store, { network: BASE });
      const again = await store.subscriptions.add(newSubscription({ network: BASE }), 9);
      expect(again).toMatchObject({ status: 'exists', subscription: { id, network: BASE } });
      expect(await store.subscriptions.change(GUILD, id, { network: null })).toMatchObject({ status: 'exists' });
      const moved = { status: 'changed', subscription: { network: 10 } };
      expect(await store.subscriptions.change(GUILD, id, { network: 10 })).toMatchObject(moved);
    });

    it('keeps equal tokens of two networks apart', async ({ store }) => {
      await subscribe(store);
      const entry = { token: USDC, name: null, checkedAt: NOW };
      const catalog = [
        { ...entry, network: 0, cataloged: true, symbol: 'USDC' },
        { ...entry, network: BASE, cataloged: false, symbol: 'FAKE' },
      ];
      const nativeSymbols = [
        { network: 0, symbol: 'ETH' },
        { network: BASE, symbol: 'BELL' },
      ];
      const scope = operatorScope(BASE);
      const transfers = [storedTransfer(1), storedTransfer(2, { scope, network: BASE })];
      const alerts = [newAlert(1), newAlert(2)];
      await store.routing.commit(routed({ transfers, alerts, learned: { catalog, nativeSymbols } }));
      const { knowledge } = await contextOf(store, 3, { scope });
      expect(knowledge).toMatchObject({ catalog: [catalog[1]], genuine: [] });
      expect([...knowledge.nativeSymbols]).toEqual([[BASE, 'BELL']]);
      expect((await dueAlerts(store)).alerts).toMatchObject([
        { network: 0, isCataloged: true },
        { network: BASE, isCataloged: false },
      ]);
    });

    it('looks through the transfers of one network or of all, each in the guild’s own project', async ({ store }) => {
      const own = await saveProject(store, GUILD, BASE);
      const scopes = [0, operatorScope(BASE), operatorScope(10), own];
      const transfers = scopes.map((scope, n) => storedTransfer(n, { scope }));
      await store.routing.commit(routed({ transfers }));
      const found = async (network: number | null) => {
        const query = { guildId: GUILD, address: TREASURY, network, since: 0, until: NOW + 9, channelIds: null };
        const { involved } = await store.history.recentTransfers(query, 9);
        return involved.map((one) => Number(one.transfer.txHash)).sort();
      };
      expect([await found(null), await found(BASE), await found(10)]).toEqual([[0, 2, 3], [3], [2]]);
    });

    it('replaces and removes a project on its network alone, and erases those of all', async ({ store }) => {
      const { projects, inbox, history } = store;
      const [first, base] = [await saveProject(store), await saveProject(store, GUILD, BASE)];
      expect(await saveProject(store, GUILD, BASE)).toBe(base);
      expect(await projects.ofGuild(GUILD, BASE)).toMatchObject({ scope: base, network: BASE });
      expect(await projects.all()).toMatchObject([{ scope: first }, { scope: base, network: BASE }]);

      const transfers = [first, base].map((scope, n) => storedTransfer(n, { scope }));
      await store.routing.commit(routed({ transfers }));
      await inbox.append([first, base].map((scope) => received('{}', { scope })));
      await store.erasure.begin(GUILD);
      await finishErasure(store, GUILD);
      expect([await projects.all(), await inbox.next(9), await projects.tokens()]).toEqual([[], [], []]);
      for (const [n, scope] of [first, base].entries()) {
        const query = { guildId: GUILD, txHash: txHash(n), ownScopes: [scope] };
        expect(await history.transfers(query, NOW, 9)).toMatchObject({ total: 0 });
      }

      await saveProject(store);
      const again = await saveProject(store, GUILD, BASE);
      expect(await projects.remove(GUILD)).toBe(true);
      expect(await projects.all()).toMatchObject([{ scope: again }]);
    });
  });
}
