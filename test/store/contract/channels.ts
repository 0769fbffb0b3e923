import { describe, expect } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import {
  ADA,
  ALICE,
  CHANNEL,
  change,
  frozen,
  GUILD,
  NOW,
  name,
  next,
  notice,
  OTHER_CHANNEL,
  OTHER_GUILD,
  PARKED,
  post,
  saveProject,
  subscribe,
  TAKE,
} from './given.ts';
import type { StoreTest } from './index.ts';

const TRACES: Record<string, (store: Store) => Promise<unknown>> = {
  'its settings': ({ guilds }) => guilds.changeSettings(GUILD, { language: 'de' }),
  'its subscriptions': async (store) => {
    await subscribe(store);
    await subscribe(store, { channelId: OTHER_CHANNEL });
  },
  'its labels': (store) => name(store, ALICE, 'Alice'),
  'its project': (store) => saveProject(store),
  'its channels': ({ channels }) => channels.postNotice(notice()),
  'its audit log': (store) => change(store),
  'its questions': ({ confirmations }) =>
    confirmations.ask(
      {
        guildId: GUILD,
        userId: ADA,
        action: 'webhook.remove',
        detail: { webhook: 'w', addresses: [], scope: 0 },
        askedAt: NOW,
      },
      9,
    ),
};

export function channelsContract(it: StoreTest): void {
  describe('channels', () => {
    const head = async ({ outbox }: Store, channelId = CHANNEL) => (await outbox.claim(channelId, TAKE, NOW))!.head;

    it('remembers the state of a channel and lists a guild’s blocked ones', async ({ store }) => {
      await post(store, [1]);
      expect(await head(store)).toMatchObject({ channelId: CHANNEL, guildId: GUILD, state: 'ready' });
      await store.channels.setState({ ...PARKED, dueAt: NOW + 5 });
      expect(await head(store)).toMatchObject({ state: 'parked', dueAt: NOW + 5, attempts: 1, since: NOW });
      expect(await store.channels.blocked(GUILD)).toEqual([{ channelId: CHANNEL, state: 'parked', reason: '50001' }]);
      expect(await store.channels.blocked(OTHER_GUILD)).toEqual([]);
    });

    it('freezes the notice about a blocked channel elsewhere, and withdraws it when that opens', async ({ store }) => {
      await post(store, [1]);
      const elsewhere = notice({ channelId: OTHER_CHANNEL, aboutChannelId: CHANNEL });
      await store.channels.setState(PARKED, elsewhere);
      expect(await next(store, NOW, OTHER_CHANNEL)).toMatchObject({ status: 'batch', batch: { kind: 'notice' } });
      await store.channels.setState({ ...PARKED, state: 'ready', reason: null });
      expect(await next(store, NOW, OTHER_CHANNEL)).toMatchObject({ status: 'nothing' });
    });

    it('keeps a notice that Discord may have when the channel that it is about opens', async ({ store }) => {
      const elsewhere = notice({ channelId: OTHER_CHANNEL, aboutChannelId: CHANNEL });
      await store.channels.setState(PARKED, elsewhere);
      const { id } = await frozen(store, NOW, OTHER_CHANNEL);
      await store.outbox.countAttempt(id, NOW);
      await store.channels.setState({ ...PARKED, state: 'ready', reason: null });
      expect(await frozen(store, NOW, OTHER_CHANNEL)).toMatchObject({ id, kind: 'notice' });
    });

    it('restores a guild’s channels when it takes the bot back, but not deleted ones', async ({ store }) => {
      await post(store, [1]);
      await post(store, [2], { channelId: OTHER_CHANNEL });
      await store.channels.setState({ ...PARKED, channelId: OTHER_CHANNEL, state: 'unreachable', reason: '10003' });
      await store.channels.guildRemoved(GUILD, NOW, NOW + 9);
      expect((await store.channels.blocked(GUILD)).map(({ channelId }) => channelId)).toEqual([CHANNEL, OTHER_CHANNEL]);
      await store.channels.guildReturned(GUILD);
      const left = [{ channelId: OTHER_CHANNEL, state: 'unreachable', reason: '10003' }];
      expect(await store.channels.blocked(GUILD)).toEqual(left);
    });

    it('leaves a channel blocked that was found to be gone after its guild had removed the bot', async ({ store }) => {
      await post(store, [1]);
      await store.channels.guildRemoved(GUILD, NOW, NOW + 9);
      const [{ reason } = { reason: null }] = await store.channels.blocked(GUILD);
      await store.channels.setState({ ...PARKED, state: 'unreachable', reason });
      await store.channels.guildReturned(GUILD);
      expect(await store.channels.blocked(GUILD)).toEqual([{ channelId: CHANNEL, state: 'unreachable', reason }]);
    });

    it('closes a channel with a removal of the bot, and opens it as if nothing had failed', async ({ store }) => {
      await post(store, [1]);
      await post(store, [2], { guildId: OTHER_GUILD, channelId: OTHER_CHANNEL });
      const untouched = await head(store, OTHER_CHANNEL);
      await store.channels.setState(PARKED);
      await store.channels.guildRemoved(GUILD, NOW + 1, NOW + 9);
      const closed = { state: 'unreachable', dueAt: NOW + 9, attempts: 0, since: NOW + 1, removed: true };
      expect(await head(store)).toEqual({ channelId: CHANNEL, guildId: GUILD, ...closed });
      await store.channels.guildReturned(GUILD);
      const ready = { state: 'ready', dueAt: 0, attempts: 0, since: null, removed: false };
      expect(await head(store)).toEqual({ channelId: CHANNEL, guildId: GUILD, ...ready });
      expect(await head(store, OTHER_CHANNEL)).toEqual(untouched);
    });

    it('compares the guilds of a session with the known ones', async ({ store }) => {
      for (const guildId of [GUILD, OTHER_GUILD]) await store.guilds.changeSettings(guildId, { language: 'de' });
      const sync = (present: string[], now: number) => store.channels.syncGuilds(new Set(present), [0, 1], now);
      expect(await sync([GUILD, OTHER_GUILD, '3000'], NOW)).toEqual({ gone: [], back: [] });
      expect(await sync([GUILD], NOW)).toEqual({ gone: [OTHER_GUILD], back: [] });
      expect(await store.erasure.removed(NOW + 1)).toEqual([OTHER_GUILD]);
      expect(await sync([GUILD, OTHER_GUILD], NOW)).toEqual({ gone: [], back: [OTHER_GUILD] });
      expect(await store.erasure.removed(NOW + 9)).toEqual([]);
    });

    it('compares a session’s guilds with the known ones of its own shard', async ({ store }) => {
      // The guilds that Discord reports to the first and to the second of two shards.
      const [even, odd, present] = [String(2n << 22n), String(3n << 22n), String(4n << 22n)];
      for (const guildId of [even, odd, present]) await store.guilds.changeSettings(guildId, { language: 'de' });
      const sync = (guilds: string[], shard: [number, number]) =>
        store.channels.syncGuilds(new Set(guilds), shard, NOW);
      expect(await sync([present], [0, 2])).toEqual({ gone: [even], back: [] });
      expect(await sync([], [1, 2])).toEqual({ gone: [odd], back: [] });
      expect(await sync([odd, present], [0, 1])).toEqual({ gone: [even], back: [odd] });
    });

    it('counts an erasure from the earliest reported removal', async ({ store: { channels, erasure, guilds } }) => {
      await guilds.changeSettings(GUILD, { language: 'de' });
      const isRemoved = async (before: number) => (await erasure.removed(before)).includes(GUILD);
      await channels.syncGuilds(new Set(), [0, 1], NOW);
      expect(await channels.syncGuilds(new Set(), [0, 1], NOW + 5)).toMatchObject({ gone: [GUILD] });
      expect([await isRemoved(NOW), await isRemoved(NOW + 1)]).toEqual([false, true]);
      // The clock was ahead at the first report.
      await channels.guildRemoved(GUILD, NOW - 9, NOW);
      expect([await isRemoved(NOW - 9), await isRemoved(NOW - 8)]).toEqual([false, true]);
    });

    it.for(Object.keys(TRACES))('knows a guild by %s alone', async (trace, { store }) => {
      expect(await store.channels.syncGuilds(new Set(), [0, 1], NOW)).toEqual({ gone: [], back: [] });
      await TRACES[trace]!(store);
      expect(await store.channels.syncGuilds(new Set(), [0, 1], NOW)).toEqual({ gone: [GUILD], back: [] });
    });
  });
}
