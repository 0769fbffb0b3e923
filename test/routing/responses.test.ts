import { expect, it } from 'vitest';
import type { InboxRow } from '../../src/domain/inbox.ts';
import { watchResponses } from '../../src/routing/responses.ts';

/** The responses to rows of other processes; `own` are the deliveries of this one. */
function open(own: Record<number, number | null | undefined> = {}) {
  const rows: InboxRow[] = [];
  const time = { passed: 0 };
  const inbox = { next: async () => rows } as never;
  const has = (id: number) => id in own;
  const responses = watchResponses(
    { inbox },
    { has, ackedAt: (id) => own[id], tracked: async () => undefined, forget: () => undefined },
    () => time.passed,
  );
  const read = async (...found: Partial<Omit<InboxRow, 'identity'>>[]) => {
    const first = { id: 1, scope: 0, receivedAt: 0, ackedAt: null, isOpen: false, body: '' };
    rows.splice(0, rows.length, ...found.map((row) => ({ ...first, ...row })));
    await responses.next(9, 9);
  };
  const readNone = async (scope: number) => {
    rows.splice(0);
    await responses.next(9, 9, scope);
  };
  return { responses, read, readNone, time };
}

it('waits for the response to a delivery of another process until that process has recorded how it ended', async () => {
  const { responses, read } = open();
  await read({ id: 1, isOpen: true });
  expect(responses.ackedAt(1)).toBeUndefined();
  await read({ id: 1, isOpen: false, ackedAt: 5 });
  expect(responses.ackedAt(1)).toBeNull();
});

it('counts a response that nobody records for five seconds as never completed', async () => {
  const { responses, read, time } = open();
  await read({ id: 1, isOpen: true });
  time.passed = 4_999;
  await read({ id: 1, isOpen: true });
  expect(responses.ackedAt(1)).toBeUndefined();
  time.passed = 5_000;
  expect(responses.ackedAt(1)).toBeNull();
});

it('knows how the responses to its own deliveries ended before the database does', async () => {
  const { responses, read } = open({ 1: 5, 2: undefined });
  await read({ id: 1, isOpen: true }, { id: 2, isOpen: true });
  expect(responses.ackedAt(1)).toBe(5);
  expect(responses.ackedAt(2)).toBeUndefined();
});

it('waits for a row to be read again if it was read before the response to its own delivery was recorded', async () => {
  const own: Record<number, number | null | undefined> = { 1: undefined };
  const { responses, read } = open(own);
  await read({ id: 1, isOpen: true });
  // It is recorded while the context of the delivery is read, and the process has no more to remember.
  delete own[1];
  expect(responses.ackedAt(1)).toBeUndefined();
  await read({ id: 1, isOpen: false, ackedAt: 5 });
  expect(responses.ackedAt(1)).toBeNull();
});

it('forgets the deliveries that an empty inbox no longer has', async () => {
  const own: Record<number, number | null | undefined> = { 1: undefined };
  const { responses, read } = open(own);
  await read({ id: 1, isOpen: true }, { id: 2, isOpen: true });
  delete own[1];
  expect([responses.ackedAt(1), responses.ackedAt(2)]).toEqual([undefined, undefined]);
  await read();
  expect([responses.ackedAt(1), responses.ackedAt(2)]).toEqual([null, null]);
});

it('forgets no delivery when only the inbox of another scope is empty', async () => {
  const { responses, read, readNone } = open();
  await read({ id: 1, isOpen: true });
  await readNone(7);
  expect(responses.ackedAt(1)).toBeUndefined();
});
