import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type InboxRow, takenInTurn } from '../../src/domain/inbox.ts';
import { createInboxBuffer } from '../../src/routing/inbox-buffer.ts';
import { newDelivery } from '../new-delivery.ts';

const MIB = 1024 * 1024;
const LARGE = 'x'.repeat(MIB);

/** A buffer over an inbox whose reads can be delayed or fail; `others` stores what another process replays. */
function openInbox(isShared = false) {
  const rows: InboxRow[] = [];
  let lastId = 0;
  const read = { count: 0, answer: (found: InboxRow[]) => Promise.resolve(found) };
  const put = (body: string, scope: number): InboxRow => {
    const row = { ...newDelivery(body, { scope }), id: ++lastId, body };
    rows.push(row);
    return row;
  };
  const inbox = {
    next(limit: number, bytes?: number) {
      read.count++;
      const scopes = [...Map.groupBy(rows, ({ scope }) => scope).values()];
      const waiting = scopes.map((of) => of.map((row) => ({ row, size: Buffer.byteLength(row.body) })));
      return read.answer(takenInTurn(waiting, limit, bytes!).map(({ row }) => row));
    },
  };
  const buffer = createInboxBuffer(inbox, isShared);
  return {
    buffer,
    read,
    others(body = '', scope = 0) {
      put(body, scope);
      buffer.mayHaveMore();
    },
    store: (body = '', scope = 0) => buffer.add([put(body, scope)]),
    routed(ids: number[]) {
      buffer.remove(ids);
      rows.splice(0, rows.length, ...rows.filter(({ id }) => !ids.includes(id)));
    },
    /** Something else takes deliveries out of the inbox. */
    erase: (scope: number) => rows.splice(0, rows.length, ...rows.filter((row) => row.scope !== scope)),
    async ids(limit = 100) {
      return (await buffer.next(limit, MIB)).map(({ id }) => id);
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
  it('takes turns between scopes, so that a flood at one does not delay another', async () => {
    const inbox = openInbox();
    await inbox.ids();
    for (let n = 0; n < 50; n++) inbox.store('flood', 7);
    inbox.store('quiet', 3);
    inbox.store('quiet', 3);
    expect(await inbox.ids(5)).toEqual([1, 51, 2, 52, 3]);
  });

  it('takes a quiet scope’s delivery soon while a flood at another is read from the inbox', async () => {
    const inbox = openInbox();
    await inbox.ids();
    for (let n = 0; n < 3_000; n++) inbox.store('', 7);
    inbox.store('quiet', 3);
    expect((await inbox.drained()).indexOf(3_001)).toBeLessThan(1_100);
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

  it('reads the deliveries of several processes from the inbox, in order', async () => {
    const inbox = openInbox(true);
    inbox.store();
    expect(await inbox.ids()).toEqual([1]);
    inbox.others();
    inbox.store();
    expect(await inbox.ids()).toEqual([1, 2, 3]);
    const reads = inbox.read.count;
    await inbox.ids();
    expect(inbox.read.count).toBe(reads);
  });

  it('reads the inbox again when another process stores something while it is read', async () => {
    const inbox = openInbox(true);
    const { answer } = inbox.read;
    inbox.read.answer = (found) => {
      inbox.read.answer = answer;
      inbox.others();
      return answer(found);
    };
    inbox.others();
    expect(await inbox.ids()).toEqual([1]);
    expect(await inbox.ids()).toEqual([1, 2]);
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

  it.each([false, true])('forgets what has left the inbox when it reads it again (shared: %s)', async (isShared) => {
    const inbox = openInbox(isShared);
    for (const scope of [7, 3, 7, 3]) inbox.store('', scope);
    expect(await inbox.ids()).toHaveLength(4);
    inbox.erase(7);
    inbox.buffer.readAgain();
    inbox.store('', 3);
    expect(await inbox.drained()).toEqual([2, 4, 5]);
  });

  it.each([
    ['characters', LARGE],
    ['more bytes than characters', '\u20ac'.repeat(MIB)],
  ])('keeps a few megabytes of %s in memory, leaves the rest on disk, and skips nothing', async (_name, body) => {
    const inbox = openInbox();
    await inbox.ids();
    for (let n = 0; n < 6; n++) inbox.store(body);
    inbox.store();
    expect(await inbox.ids()).toEqual([1]);
    inbox.others(body);
    expect(await inbox.drained()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    // It has room for as much as before.
    const reads = inbox.read.count;
    inbox.store();
    expect([await inbox.ids(), inbox.read.count]).toEqual([[9], reads]);
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
