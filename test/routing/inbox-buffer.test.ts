import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InboxRow } from '../../src/domain/inbox.ts';
import { createInboxBuffer } from '../../src/routing/inbox-buffer.ts';

const LARGE = 'x'.repeat(1024 * 1024);

/** A buffer over an inbox whose reads can be delayed or fail; `others` stores what another process replays. */
function openInbox(isShared = false) {
  const rows: InboxRow[] = [];
  let lastId = 0;
  const read = { count: 0, answer: (found: InboxRow[]) => Promise.resolve(found) };
  const put = (body: string, scope = 0): InboxRow => {
    const row = { id: ++lastId, scope, receivedAt: 0, ackedAt: null, isOpen: false, body };
    rows.push(row);
    return row;
  };
  const parsed: number[] = [];
  const parse = (row: InboxRow) => {
    parsed.push(row.id);
    return { row };
  };
  const inbox = {
    next: (limit: number, bytes: number, scope?: number) => {
      read.count++;
      const found: InboxRow[] = [];
      let length = 0;
      for (const row of rows.filter((row) => scope === undefined || row.scope === scope).slice(0, limit)) {
        if (length < bytes) found.push(row);
        length += Buffer.byteLength(row.body);
      }
      return read.answer(found);
    },
  };
  const buffer = createInboxBuffer(inbox, parse, isShared);
  return {
    buffer,
    parsed,
    read,
    others: (body = '') => void put(body),
    /** Another process changed a row. */
    change: (id: number, changed: Partial<InboxRow>) => Object.assign(rows.find((row) => row.id === id)!, changed),
    wake: () => buffer.add([]),
    ackedAt: async () => (await buffer.next(9)).map(({ row }) => row.ackedAt),
    store: (body = '', scope = 0) => buffer.add([put(body, scope)]),
    routed(ids: number[]) {
      buffer.remove(ids);
      rows.splice(0, rows.length, ...rows.filter(({ id }) => !ids.includes(id)));
    },
    /** Something else takes deliveries out of the inbox. */
    erase: (scope: number) => rows.splice(0, rows.length, ...rows.filter((row) => row.scope !== scope)),
    async ids(limit = 100) {
      return (await buffer.next(limit)).map(({ row }) => row.id);
    },
    /** Takes and routes everything; returns the ids in that order. */
    async drained() {
      const taken: number[] = [];
      for (let ids = await this.ids(); ids.length > 0; ids = await this.ids()) {
        this.routed(ids);
        taken.push(...ids);
      }
      return taken;
    },
    waiting: () => rows.length,
  };
}

describe('the inbox buffer', () => {
  it('keeps the order of bodies that have more bytes than characters', async () => {
    const inbox = openInbox();
    for (let n = 0; n < 3; n++) inbox.others('\u20ac'.repeat(1024 * 1024));
    expect(await inbox.ids()).toEqual([1]);
    inbox.store('later');
    expect(await inbox.drained()).toEqual([1, 2, 3, 4]);
  });

  it('takes turns between scopes, so that a flood at one does not delay another', async () => {
    const inbox = openInbox();
    await inbox.ids();
    for (let n = 0; n < 50; n++) inbox.store('flood', 7);
    inbox.store('quiet', 3);
    inbox.store('quiet', 3);
    expect(await inbox.ids(5)).toEqual([1, 51, 2, 52, 3]);
  });

  it('keeps a quiet scope’s deliveries in memory while a flood at another is read from the inbox', async () => {
    const inbox = openInbox();
    await inbox.ids();
    for (let n = 0; n < 5; n++) inbox.store(LARGE, 7);
    inbox.store('quiet', 3);
    const reads = inbox.read.count;
    expect((await inbox.drained()).slice(0, 2)).toEqual([1, 6]);
    // One read for the fifth large delivery, and one that finds nothing.
    expect(inbox.read.count - reads).toBe(2);
  });

  it('begins with the deliveries that an earlier process left', async () => {
    const inbox = openInbox();
    inbox.others();
    inbox.others();
    inbox.store();
    expect(await inbox.ids(2)).toEqual([1, 2]);
    inbox.routed([1, 2]);
    expect(await inbox.ids(2)).toEqual([3]);
  });

  it('does not read deliveries again that were stored just now', async () => {
    const inbox = openInbox();
    await inbox.ids();
    inbox.store();
    inbox.store();
    expect(await inbox.ids()).toEqual([1, 2]);
    inbox.routed([1]);
    expect(await inbox.ids()).toEqual([2]);
    expect(inbox.read.count).toBe(1);
  });

  it('keeps deliveries of several processes in order, and sees what they record about them', async () => {
    const inbox = openInbox(true);
    inbox.store();
    expect(await inbox.ids()).toEqual([1]);
    inbox.others();
    inbox.store();
    expect(await inbox.ids()).toEqual([1, 2, 3]);
    expect(await inbox.ackedAt()).toEqual([null, null, null]);
    inbox.change(2, { ackedAt: 5 });
    inbox.wake();
    expect(await inbox.ackedAt()).toEqual([null, 5, null]);
    expect(inbox.parsed).toEqual([1, 2, 3]);
    const reads = inbox.read.count;
    await inbox.ids();
    expect(inbox.read.count).toBe(reads);
  });

  it('reads a shared inbox again when something is stored while it is read', async () => {
    const inbox = openInbox(true);
    const { answer } = inbox.read;
    inbox.read.answer = (found) => {
      inbox.read.answer = answer;
      inbox.store();
      return answer(found);
    };
    inbox.others();
    expect(await inbox.ids()).toEqual([1]);
    expect(await inbox.ids()).toEqual([1, 2]);
  });

  it('parses each delivery once, and the next ones ahead of time', async () => {
    const inbox = openInbox();
    await inbox.ids();
    for (let n = 0; n < 4; n++) inbox.store();
    expect(await inbox.ids(1)).toEqual([1]);
    expect(inbox.parsed).toEqual([1]);
    inbox.buffer.parseAhead(1, 2);
    expect(inbox.parsed).toEqual([1, 2, 3]);
    inbox.routed([1]);
    expect(await inbox.ids()).toEqual([2, 3, 4]);
    expect(inbox.parsed).toEqual([1, 2, 3, 4]);
  });

  it('returns a delivery once that is stored while the inbox is read', async () => {
    const inbox = openInbox();
    const gate = Promise.withResolvers<void>();
    inbox.read.answer = async (found) => {
      await gate.promise;
      return found;
    };
    inbox.others();
    const ids = inbox.ids();
    inbox.store();
    gate.resolve();
    expect(await ids).toEqual([1, 2]);
  });

  it('skips no delivery after the inbox could not be read', async () => {
    const inbox = openInbox();
    inbox.others();
    inbox.read.answer = () => Promise.reject(new Error('database is locked'));
    await expect(inbox.ids()).rejects.toThrow('locked');
    inbox.store();
    inbox.read.answer = (found) => Promise.resolve(found);
    expect(await inbox.ids()).toEqual([1, 2]);
  });

  it('has room for as much as before after it was emptied', async () => {
    const inbox = openInbox();
    for (let n = 0; n < 4; n++) {
      for (let m = 0; m < 4; m++) inbox.store(LARGE);
      expect(await inbox.ids()).toEqual([expect.any(Number)]);
      inbox.erase(0);
      inbox.buffer.readAgain();
    }
    expect(await inbox.ids()).toEqual([]);
    const { count } = inbox.read;
    inbox.store('x', 9);
    expect([await inbox.ids(), inbox.read.count]).toEqual([[17], count]);
  });

  it.each([false, true])('forgets what has left the inbox when it reads it again (shared: %s)', async (isShared) => {
    const inbox = openInbox(isShared);
    for (const scope of [7, 3, 7, 3]) inbox.store('', scope);
    expect(await inbox.ids()).toHaveLength(4);
    inbox.erase(7);
    inbox.buffer.readAgain();
    // An older delivery of its scope is in the inbox only.
    inbox.store('', 3);
    expect(await inbox.drained()).toEqual([2, 4, 5]);
  });

  it('keeps a few megabytes in memory and leaves the rest on disk', async () => {
    const inbox = openInbox();
    await inbox.ids();
    for (let n = 0; n < 6; n++) inbox.store(LARGE);
    inbox.store();
    const reads = inbox.read.count;
    for (const id of [1, 2, 3, 4]) {
      expect(await inbox.ids()).toEqual([id]);
      inbox.routed([id]);
    }
    expect(inbox.read.count).toBe(reads);
    expect(await inbox.drained()).toEqual([5, 6, 7]);
  });

  it('reads a few megabytes at once and skips no delivery after them', async () => {
    const inbox = openInbox();
    for (let n = 0; n < 6; n++) inbox.others(LARGE);
    expect(await inbox.ids()).toEqual([1]);
    inbox.store();
    inbox.routed([1]);
    expect(await inbox.drained()).toEqual([2, 3, 4, 5, 6, 7]);
  });

  it('returns every delivery once and in order, whatever happens and in whatever order', async () => {
    const step = fc.oneof(
      fc.constantFrom('store', 'large', 'others', 'large of others', 'fail', 'read again' as const),
      fc.record({ take: fc.integer({ min: 1, max: 4 }), route: fc.integer({ min: 0, max: 4 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const inbox = openInbox();
        const given: number[] = [];
        const own = new Set<number>();
        let stored = 0;
        const take = async (limit: number, route: number) => {
          const ids = (await inbox.ids(limit)).slice(0, route);
          given.push(...ids);
          inbox.routed(ids);
        };
        for (const step of steps) {
          if (typeof step === 'object') await take(step.take, step.route);
          else if (step === 'read again') inbox.buffer.readAgain();
          else if (step === 'fail') {
            inbox.read.answer = () => Promise.reject(new Error('database is locked'));
            await inbox.ids(1).catch(() => []);
            inbox.read.answer = (found) => Promise.resolve(found);
          } else {
            stored++;
            if (step.endsWith('others')) inbox.others(step === 'others' ? '' : LARGE);
            else {
              own.add(stored);
              inbox.store(step === 'large' ? LARGE : '');
            }
          }
        }
        for (let left = inbox.waiting() + 1; left > 0; left--) await take(100, 100);
        expect(given.toSorted((a, b) => a - b)).toEqual(Array.from({ length: stored }, (_, n) => n + 1));
        // What another process replays may come after deliveries that were stored later.
        const ours = given.filter((id) => own.has(id));
        expect(ours).toEqual(ours.toSorted((a, b) => a - b));
      }),
    );
  });
});
