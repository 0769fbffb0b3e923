import { expect, it } from 'vitest';
import { burstUntil, digestReason, shownDeliveries } from '../../src/domain/batch.ts';
import { MINUTE } from '../../src/domain/clock.ts';
import { channelForNotices, type UsedChannel } from '../../src/domain/guild.ts';
import { transfer, txHash } from '../store/contract/given.ts';

it('names the first fifty deliveries of a message, and since when those that were not held have waited', () => {
  const plain = (n: number) => ({ inboxId: n, receivedAt: 100 - n, hold: null, transfer: transfer(n) });
  const alert = (n: number, changed = {}) => ({ ...plain(n), ...changed });
  const held = alert(4, { hold: 'hourly' });
  const some = [alert(1), alert(2, { transfer: transfer(1) }), alert(3, { inboxId: null }), held];
  expect(shownDeliveries(some)).toEqual({ inboxIds: [1, 2, 4], txHashes: [1, 3, 4].map(txHash), receivedAt: 97 });
  expect(shownDeliveries([held]).receivedAt).toBeNull();
  const many = Array.from({ length: 60 }, (_, n) => alert(n + 1));
  expect(shownDeliveries(many)).toMatchObject({ inboxIds: { length: 50 }, txHashes: { length: 50 }, receivedAt: 40 });
});

it('collects alerts for ten seconds after more than 60 of them, until a minute passes without one', () => {
  const after = (alerts: number, now: number) => burstUntil({ alerts, digests: 0, lastAt: 1_000 }, now);
  expect(after(60, 1_000)).toBeNull();
  expect(after(61, 1_000)).toBe(11_000);
  expect(after(61, 60_999)).toBe(11_000);
  expect(after(61, 61_000)).toBeNull();
  expect(after(61, 999)).toBeNull();
});

it('doubles the time between the digests of a burst up to fifty seconds', () => {
  const after = (digests: number) => burstUntil({ alerts: 61, digests, lastAt: 0 }, 0);
  expect([0, 1, 2, 3, 4, 5, 1_000].map(after)).toEqual([10, 20, 40, 50, 50, 50, 50].map((seconds) => seconds * 1_000));
});

it('makes a digest of what was collected, of a backlog, and of an old one that fills more than a message', () => {
  const lane = { hold: null, isSignificant: false };
  const due = { lane, waiting: 99, transactions: 11, oldest: 0, reason: null };
  expect(digestReason(due, 30 * MINUTE)).toBeNull();
  expect(digestReason(due, 30 * MINUTE + 1)).toBe('backlog');
  expect(digestReason({ ...due, transactions: 10 }, 31 * MINUTE)).toBeNull();
  expect([50, 51].map((transactions) => digestReason({ ...due, transactions }, 0))).toEqual([null, 'backlog']);
  expect(digestReason({ ...due, reason: 'daily' }, 0)).toBe('daily');
  expect(digestReason({ ...due, waiting: 1, transactions: 1, reason: 'daily' }, 0)).toBeNull();
});

const one = (channelId: string, state: UsedChannel['state'] = 'ready'): UsedChannel => ({ channelId, state });

it('notifies admins of trouble in the default channel, or else in another one that is not blocked', () => {
  const place = (chosen: UsedChannel | null, ...used: UsedChannel[]) => channelForNotices('trouble', { chosen, used });
  expect(place(one('chosen'), one('used'))).toBe('chosen');
  expect(place(one('chosen', null), one('used'))).toBe('chosen');
  expect(place(one('chosen', 'parked'), one('used'))).toBe('used');
  expect(place(one('trouble'), one('trouble'), one('used'))).toBe('used');
  expect(place(null, one('gone', 'unreachable'), one('new', null), one('used'))).toBe('used');
  expect(place(null, one('new', null), one('newer', null))).toBe('new');
  expect(place(null, one('trouble'), one('gone', 'unreachable'))).toBeNull();
});
