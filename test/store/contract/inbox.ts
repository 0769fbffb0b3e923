import { hash } from 'node:crypto';
import { describe, expect } from 'vitest';
import { DAY } from '../../../src/domain/clock.ts';
import type { Store } from '../../../src/store/store.ts';
import { GUILD, NOW, quarantine, received, routed, saveProject } from './given.ts';
import type { StoreTest } from './index.ts';

const append = ({ inbox }: Store, bodies: string[], scope = 0) =>
  inbox.append(bodies.map((body, n) => received(body, { scope, receivedAt: NOW + n })));

const waiting = async ({ inbox }: Store) => (await inbox.next(100)).map(({ body }) => body);

export function inboxContract(it: StoreTest): void {
  describe('inbox', () => {
    it('shows every later call what was stored, as soon as the call that stored it has resolved', async ({ store }) => {
      for (let n = 1; n <= 20; n++) {
        await store.inbox.append([received('{}')]);
        expect((await store.metrics.backlog(NOW)).inbox.waiting).toBe(n);
      }
    });

    it('returns deliveries in the order in which they were appended', async ({ store }) => {
      const [first, second] = await append(store, ['one', 'two']);
      expect(await store.inbox.next(9)).toMatchObject([
        { id: first, scope: 0, receivedAt: NOW, body: 'one' },
        { id: second, scope: 0, receivedAt: NOW + 1, body: 'two' },
      ]);
    });

    it.for([
      ['which run of a process received a delivery, and when by its clock', { run: 'another-run-of-1', runMs: 1_234 }],
      ['how a signed delivery is named', { identity: { id: 'msg_1', chainId: '100', place: 'log:5' } }],
    ] as const)('keeps %s, also through the quarantine', async ([_what, kept], { store }) => {
      const [id] = await store.inbox.append([received('x', kept)]);
      expect(await store.inbox.next(9)).toMatchObject([kept]);
      await store.routing.commit(routed({ quarantined: [{ id: id!, reason: 'unreadable' }] }));
      const [row] = await store.quarantine.list();
      expect(await store.quarantine.replay([row!.id])).toBe(1);
      expect(await store.inbox.next(9)).toMatchObject([{ body: 'x', receivedAt: NOW, ...kept }]);
    });

    it('returns at most `limit` deliveries and stops at the one that reaches the bytes', async ({ store }) => {
      const body = '\u20ac'.repeat(100);
      await append(store, Array<string>(6).fill(body));
      expect(await store.inbox.next(3, 1_200)).toHaveLength(3);
      expect(await store.inbox.next(100, 1_200)).toHaveLength(4);
      expect(await store.inbox.next(100, 1)).toHaveLength(1);
      await append(store, [body], 5);
      expect(await store.inbox.next(100, 1_200)).toHaveLength(4);
    });

    it('knows how much waits for each server’s own project, and its bytes of the latest day', async ({ store }) => {
      const day = Math.floor(NOW / DAY);
      await append(store, ['operator'], 0);
      const [first] = await append(store, ['one', 'three'], 5);
      await store.routing.commit(routed({ done: [first!] }));
      expect(await store.inbox.usage()).toEqual([{ scope: 5, waiting: 1, waitingBytes: 5, day, dayBytes: 8 }]);
      await store.inbox.append([received('new', { scope: 5, receivedAt: NOW + DAY })]);
      expect(await store.inbox.usage()).toMatchObject([{ scope: 5, waiting: 2, day: day + 1, dayBytes: 3 }]);
    });

    it('counts the deliveries of one commit on the days on which they came', async ({ store: { inbox } }) => {
      const midnight = Math.ceil(NOW / DAY) * DAY;
      const delivery = (receivedAt: number, body: string) => received(body, { scope: 5, receivedAt });
      await inbox.append([delivery(midnight, 'today'), delivery(midnight - 1, 'yesterday'), delivery(midnight, 'too')]);
      expect(await inbox.usage()).toMatchObject([{ scope: 5, waiting: 3, day: midnight / DAY, dayBytes: 8 }]);
    });

    it('loses a delivery only when it was routed, and counts those that wait and since when', async ({ store }) => {
      const [first] = await append(store, ['one', 'two']);
      expect(await store.metrics.backlog(NOW)).toMatchObject({ inbox: { waiting: 2, oldest: NOW } });
      await store.routing.commit(routed({ done: [first!] }));
      expect(await waiting(store)).toEqual(['two']);
    });
  });

  describe('quarantine', () => {
    it('keeps the bytes and the reason of a delivery that was not understood', async ({ store }) => {
      await quarantine(store, ['{"a":']);
      expect(await waiting(store)).toEqual([]);
      const [row] = await store.quarantine.list();
      const reason = 'The body is not JSON.';
      expect(row).toMatchObject({ scope: 0, guildId: null, receivedAt: NOW, reason, bytes: 5 });
      const found = await store.quarantine.get(row!.id);
      expect(Buffer.from(found!.body!).toString()).toBe('{"a":');
      expect(await store.metrics.backlog(NOW)).toMatchObject({ quarantine: { rows: 1, bytes: 5 } });
    });

    it('measures the quarantine by scope and names the guild whose project brought a delivery', async ({ store }) => {
      const scope = await saveProject(store);
      await quarantine(store, ['abc', 'defgh']);
      await quarantine(store, ['ij'], scope);
      expect(await store.quarantine.sizes()).toEqual([
        { scope: 0, rows: 2, bytes: 8, givenUp: 0 },
        { scope, rows: 1, bytes: 2, givenUp: 0 },
      ]);
      expect((await store.quarantine.list()).map(({ guildId }) => guildId)).toEqual([null, null, GUILD]);
    });

    it('lets a scope’s oldest deliveries give up too many bytes, and keeps their hashes', async ({ store }) => {
      await quarantine(store, ['one', 'three', 'four']);
      await quarantine(store, ['other'], 5);
      expect(await store.quarantine.giveUp(0, { rows: 3, bytes: 12 })).toBe(0);
      expect(await store.quarantine.giveUp(0, { rows: 3, bytes: 9 })).toBe(1);
      expect(await store.quarantine.giveUp(0, { rows: 1, bytes: 12 })).toBe(1);
      const [first, second, third] = await store.quarantine.list();
      expect(first).toMatchObject({ bytes: 3, hash: hash('sha256', 'one'), reason: 'The body is not JSON.' });
      expect([second!.hash, third!.hash]).toEqual([hash('sha256', 'three'), null]);
      expect(await store.quarantine.get(first!.id)).toMatchObject({ body: null, receivedAt: NOW });
      expect(await store.quarantine.sizes()).toEqual([
        { scope: 0, rows: 1, bytes: 4, givenUp: 2 },
        { scope: 5, rows: 1, bytes: 5, givenUp: 0 },
      ]);
      expect(await store.quarantine.replay([first!.id, third!.id])).toBe(1);
      expect(await waiting(store)).toEqual(['four']);
      expect(await store.quarantine.discard([first!.id])).toBe(1);
    });

    it('counts the deliveries of a scope by reasons that begin alike, the latest first', async ({ store }) => {
      await quarantine(store, ['one', 'two'], 0, 'It is from chain 5');
      await quarantine(store, ['three'], 0, 'It is from chain 1');
      await quarantine(store, ['four'], 0);
      await quarantine(store, ['five'], 7, 'It is from chain 9');
      expect(await store.quarantine.reasons(0, 'It is from')).toEqual([
        { reason: 'It is from chain 1', count: 1 },
        { reason: 'It is from chain 5', count: 2 },
      ]);
      expect(await store.quarantine.reasons(5, '')).toEqual([]);
    });

    it('assigns no id of a quarantined delivery again, because operators type them', async ({ store }) => {
      await quarantine(store, ['one', 'two']);
      const [, last] = await store.quarantine.list();
      await store.quarantine.discard([last!.id]);
      await quarantine(store, ['three']);
      expect(await store.quarantine.get(last!.id)).toBeNull();
      expect(await store.quarantine.discard([last!.id])).toBe(0);
    });

    it('replays and discards quarantined deliveries in their order, and returns how many', async ({ store }) => {
      const many = Array.from({ length: 450 }, (_, n) => String(n));
      await quarantine(store, many);
      const ids = (await store.quarantine.list()).map(({ id }) => id);
      expect(await store.quarantine.discard(ids.slice(0, 2))).toBe(2);
      expect(await store.quarantine.replay(ids)).toBe(448);
      expect((await store.inbox.next(1_000)).map(({ body }) => body)).toEqual(many.slice(2));
    });
  });
}
