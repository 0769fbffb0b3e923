import { expect, it } from 'vitest';
import { NO_SEARCH } from '../../src/delivery/bisect.ts';
import { type AttemptedBatch, decide, type Situation } from '../../src/delivery/decide.ts';
import type { ChannelHead } from '../../src/domain/channel.ts';
import { DAY, HOUR, MINUTE } from '../../src/domain/clock.ts';
import type { SendOutcome } from '../../src/domain/send-outcome.ts';

const NOW = 1_700_000_000_000;

const batchOf = (changed: Partial<AttemptedBatch> = {}): AttemptedBatch => ({
  id: 7,
  kind: 'create',
  attempts: 1,
  frozenAt: NOW,
  alerts: 4,
  shown: { inboxIds: [], txHashes: [], receivedAt: null },
  isUpdate: false,
  certain: true,
  ...changed,
});
const situationOf = (changed: Partial<Situation> = {}): Situation => ({
  search: NO_SEARCH,
  head: null,
  isRemoved: false,
  now: NOW,
  uptimeSince: (ms) => NOW - ms,
  random: () => 1,
  ...changed,
});
const headOf = (changed: Partial<ChannelHead>): ChannelHead => ({
  channelId: '1',
  guildId: '2',
  state: 'ready',
  dueAt: 0,
  attempts: 0,
  since: null,
  ...changed,
});
const FORBIDDEN: SendOutcome = { status: 'forbidden', code: 50013 };
const limitedFor = (retryAfterMs: number): SendOutcome => ({
  status: 'rate-limited',
  global: false,
  local: false,
  retryAfterMs,
});

it('marks a sent message as sent, and opens its parked channel', () => {
  const sent: SendOutcome = { status: 'sent', messageId: '99' };
  expect(decide(sent, batchOf(), situationOf({ head: headOf({ state: 'parked' }) }))).toEqual({
    sending: { kind: 'fine', retryAfterMs: 0 },
    batch: { do: 'mark-sent', messageId: '99' },
    channel: { do: 'open', wasBlocked: true },
  });
});

it('returns the alerts of an edit to the queue when its message is gone', () => {
  const gone: SendOutcome = { status: 'sent', messageId: null };
  expect(decide(gone, batchOf({ kind: 'edit' }), situationOf()).batch).toEqual({ do: 'mark-edit-failed' });
});

it('keeps a message unsure after a refused repeat if an earlier attempt may have posted it', () => {
  const steps = [true, false].map((certain) => decide(FORBIDDEN, batchOf({ certain }), situationOf()).batch.do);
  expect(steps).toEqual(['mark-not-sent', 'nothing']);
});

it('posts joining alerts in their own message when edits are limited for more than a minute', () => {
  const join = batchOf({ kind: 'edit' });
  expect(decide(limitedFor(MINUTE + 1), join, situationOf())).toMatchObject({
    batch: { do: 'mark-edit-failed' },
    channel: { do: 'nothing' },
  });
  expect(decide(limitedFor(MINUTE), join, situationOf())).toMatchObject({
    batch: { do: 'mark-not-sent' },
    channel: { do: 'postpone', until: NOW + MINUTE },
  });
});

it('postpones a channel’s edits and not its alerts when an update is rate-limited', () => {
  const update = batchOf({ kind: 'edit', isUpdate: true });
  expect(decide(limitedFor(5 * MINUTE), update, situationOf()).channel).toEqual({
    do: 'postpone-edits',
    until: NOW + 5 * MINUTE,
    reason: 'rate',
  });
});

it('reports nothing about all sending when the library itself held the request back', () => {
  const local: SendOutcome = { status: 'rate-limited', global: false, local: true, retryAfterMs: 100 };
  expect(decide(local, batchOf(), situationOf()).sending).toBeNull();
});

it('dead-letters a message that stays unsure for 72 hours', () => {
  const unsure: SendOutcome = { status: 'unsure', reason: 'HTTP 503' };
  const steps = [72 * HOUR, 72 * HOUR + 1].map(
    (age) => decide(unsure, batchOf({ frozenAt: NOW - age }), situationOf()).batch,
  );
  expect(steps).toEqual([{ do: 'nothing' }, { do: 'dead-letter', reason: '72 hours: HTTP 503' }]);
});

it('waits for as long as a message is old, between 15 minutes and 6 hours, before it is repeated blindly', () => {
  const waits = [0, HOUR, DAY].map((age) => {
    const batch = batchOf({ blind: true, frozenAt: NOW - age, certain: false });
    const { channel } = decide({ status: 'unsure', reason: 'timeout' }, batch, situationOf());
    return channel.do === 'postpone' && channel.until - NOW;
  });
  expect(waits).toEqual([15 * MINUTE, HOUR, 6 * HOUR]);
});

it('does not postpone a channel for a fault that concerns all sending', () => {
  const outcomes: SendOutcome[] = [{ status: 'breaker', reason: 'HTTP 403' }, { status: 'unauthorized' }];
  for (const outcome of outcomes) {
    expect(decide(outcome, batchOf(), situationOf()).channel).toEqual({ do: 'nothing' });
  }
});

it('retries a parked channel after 15 minutes, an hour, and then every 6 hours', () => {
  const waits = [0, 1, 2, 3, 50].map((attempts) => {
    const head = headOf({ state: 'parked', attempts, since: NOW });
    const { channel } = decide(FORBIDDEN, batchOf(), situationOf({ head }));
    return channel.do === 'block' && channel.head.dueAt - NOW;
  });
  expect(waits).toEqual([15 * MINUTE, HOUR, 6 * HOUR, 6 * HOUR, 6 * HOUR]);
});

it('expires a parked channel’s alerts after a week, and notifies admins only when it is first parked', () => {
  const blocks = [null, NOW - 7 * DAY, NOW - 7 * DAY - 1].map((since) => {
    const head = headOf(since === null ? {} : { state: 'parked', attempts: 3, since });
    const { channel } = decide(FORBIDDEN, batchOf(), situationOf({ head }));
    return channel.do === 'block' && [channel.isNew, channel.expired];
  });
  expect(blocks).toEqual([
    [true, null],
    [false, null],
    [false, NOW - 7 * DAY],
  ]);
});

it('marks a channel as unreachable instead of parked when permissions are missing and the bot was removed', () => {
  const situations = [situationOf({ isRemoved: true }), situationOf({ head: headOf({ state: 'unreachable' }) })];
  const reasons = situations.map((situation) => {
    const { channel } = decide(FORBIDDEN, batchOf(), situation);
    return channel.do === 'block' && channel.head.reason;
  });
  expect(reasons).toEqual(Array(2).fill('channel or server is gone (50013)'));
});

it('unfreezes a refused message to search it for the alert at fault, which becomes a dead letter', () => {
  const refused: SendOutcome = { status: 'refused', reason: '50035' };
  expect(decide(refused, batchOf({ alerts: 4 }), situationOf())).toMatchObject({
    batch: { do: 'unfreeze' },
    channel: { do: 'search', search: { limit: 2, plain: false } },
  });
  const last = situationOf({ search: { limit: 1, plain: true } });
  expect(decide(refused, batchOf({ alerts: 1 }), last)).toMatchObject({
    batch: { do: 'dead-letter', reason: '50035' },
    channel: { do: 'search', search: null },
  });
});

it('dead-letters a refused edit or notice at once', () => {
  for (const kind of ['edit', 'notice'] as const) {
    const { batch, channel } = decide({ status: 'refused', reason: '50035' }, batchOf({ kind }), situationOf());
    expect([batch, channel]).toEqual([{ do: 'dead-letter', reason: '50035' }, { do: 'nothing' }]);
  }
});
