import { describe, expect, it } from 'vitest';
import { operatorScope } from '../../../src/domain/project.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  CHANNEL,
  decision,
  finishErasure,
  GUILD,
  keyOf,
  NOW,
  newAlert,
  newSubscription,
  OTHER_CHANNEL,
  OTHER_GUILD,
  received,
  routed,
  storedTransfer,
  subscribe,
  TAKE,
  TREASURY,
  transfer,
  txHash,
  USDC,
} from './given.ts';
import type { OpenEmpty } from './index.ts';

/** Another network than the first. */
const BASE = 8453;

const saveProject = ({ projects }: Store, network: number) =>
  projects.save({ guildId: GUILD, network, projectId: `p${network}`, sealed: new Uint8Array() }, `token-${network}`);

/** Which channels watch a transfer of each of these scopes. */
async function watching({ routing }: Store, scopes: readonly number[]): Promise<string[][]> {
  const queries = scopes.map((scope, index) => {
    const keys = { transferKey: keyOf(index), deliveryKey: keyOf(index) };
    return { ...keys, scope, at: NOW, transfer: transfer(1) };
  });
  const { watched } = await routing.context(queries, NOW);
  const channels = new Map(watched.map((one) => [one.transferKey, one.watchers.map(({ channelId }) => channelId)]));
  return scopes.map((_, index) => channels.get(keyOf(index))?.toSorted() ?? []);
}

export function networksContract(open: OpenEmpty): void {
  describe('networks', () => {
    it('keeps the network that came first, in whatever order others come later', async () => {
      const { projects } = await open();
      expect([await projects.firstNetwork(1), await projects.firstNetwork(BASE)]).toEqual([1, 1]);
    });

    it('finds who watches an address on a network, in the project that each guild has there', async () => {
      const store = await open();
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

      const own = await saveProject(store, BASE);
      expect(await watching(store, [...scopes, own])).toEqual([
        [CHANNEL, '2001'],
        ['2001'],
        [CHANNEL, '1003', '2001'],
        [CHANNEL, OTHER_CHANNEL],
      ]);
      const { scopes: known } = await store.routing.context(
        [own, operatorScope(BASE), 99].map((scope) => {
          return { transferKey: '', deliveryKey: '', scope, at: NOW, transfer: transfer(1) };
        }),
        NOW,
      );
      expect(known.toSorted((one, other) => one.scope - other.scope)).toEqual([
        { scope: operatorScope(BASE), network: BASE, projectId: null },
        { scope: own, network: BASE, projectId: `p${BASE}` },
      ]);
    });

    it('lets a channel watch an address once on each network and once on any', async () => {
      const store = await open();
      await subscribe(store);
      const { id } = await subscribe(store, { network: BASE });
      const again = await store.subscriptions.add(newSubscription({ network: BASE }), 9);
      expect(again).toMatchObject({ status: 'exists', subscription: { id, network: BASE } });
      expect(await store.subscriptions.change(GUILD, id, { network: null })).toMatchObject({ status: 'exists' });
      expect(await store.subscriptions.change(GUILD, id, { network: 10 })).toMatchObject({
        status: 'changed',
        subscription: { network: 10 },
      });
    });

    it('keeps equal tokens of two networks apart', async () => {
      const store = await open();
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
      await store.routing.commit(
        routed({
          transfers: [storedTransfer(1), storedTransfer(2, { scope, network: BASE })],
          alerts: [newAlert(1), newAlert(2)],
          decisions: [decision(1), decision(2)],
          learned: { ...routed().learned, catalog, nativeSymbols },
        }),
      );
      const query = { transferKey: keyOf(3), deliveryKey: keyOf(3), at: NOW, transfer: transfer(3) };
      const { knowledge } = await store.routing.context([{ ...query, scope }], NOW);
      expect(knowledge).toMatchObject({ catalog: [catalog[1]], genuine: [] });
      expect([...knowledge.nativeSymbols]).toEqual([[BASE, 'BELL']]);
      const { next } = await store.outbox.claim(CHANNEL, TAKE, NOW);
      expect(next).toMatchObject({
        alerts: [
          { network: 0, isCataloged: true },
          { network: BASE, isCataloged: false },
        ],
      });
    });

    it('looks through the transfers of one network or of all, each in the guild’s own project', async () => {
      const store = await open();
      const own = await saveProject(store, BASE);
      const transfers = [0, operatorScope(BASE), operatorScope(10), own].map((scope, n) =>
        storedTransfer(n, { scope }),
      );
      await store.routing.commit(routed({ transfers }));
      const found = async (network: number | null) => {
        const query = { guildId: GUILD, address: TREASURY, network, since: 0, until: NOW + 9, channelIds: null };
        const { involved } = await store.history.recentTransfers(query, 9);
        return involved.map((one) => Number(one.transfer.txHash)).sort();
      };
      expect([await found(null), await found(BASE), await found(10)]).toEqual([[0, 2, 3], [3], [2]]);
    });

    it('replaces and removes a project on its network alone, and erases those of all', async () => {
      const store = await open();
      const { projects, inbox, history } = store;
      const [first, base] = [await saveProject(store, 0), await saveProject(store, BASE)];
      expect(await saveProject(store, BASE)).toBe(base);
      expect(await projects.ofGuild(GUILD, BASE)).toMatchObject({ scope: base, network: BASE });
      expect(await projects.all()).toMatchObject([{ scope: first }, { scope: base, network: BASE }]);

      const transfers = [first, base].map((scope, n) => storedTransfer(n, { scope }));
      await store.routing.commit(routed({ transfers }));
      await inbox.append([first, base].map((scope) => received('{}', { scope })));
      await store.erasure.begin(GUILD);
      await finishErasure(store, GUILD);
      expect([await projects.all(), await inbox.next(9), await projects.tokens()]).toEqual([[], [], []]);
      for (const [n, scope] of [first, base].entries()) {
        expect(
          await history.transfers({ guildId: GUILD, txHash: txHash(n), ownScopes: [scope] }, NOW, 9),
        ).toMatchObject({ total: 0 });
      }

      await saveProject(store, 0);
      const again = await saveProject(store, BASE);
      expect(await projects.remove(GUILD)).toBe(true);
      expect(await projects.all()).toMatchObject([{ scope: again }]);
    });
  });
}
