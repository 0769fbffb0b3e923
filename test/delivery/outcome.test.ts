import { expect, it } from 'vitest';
import { type Attempt, decide, NO_SEARCH, narrowed, type Search, type Situation } from '../../src/delivery/outcome.ts';
import { DAY, HOUR, MINUTE } from '../../src/domain/clock.ts';
import type { ChannelHead } from '../../src/domain/guild.ts';
import type { SendOutcome } from '../../src/domain/sender.ts';

const NOW = 1_700_000_000_000;

const attemptOf = (changed: Partial<Attempt> = {}): Attempt => ({
  id: 7,
  kind: 'create',
  attempts: 1,
  frozenAt: NOW,
  alerts: 4,
  shown: { inboxIds: [], txHashes: [], receivedAt: null },
  isUpdate: false,
  unconfirmed: false,
  ...changed,
});
const situationOf = (changed: Partial<Situation> = {}): Situation => ({
  search: NO_SEARCH,
  head: headOf({}),
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
  removed: false,
  ...changed,
});
const stepOf = (outcome: SendOutcome, attempt: Partial<Attempt> = {}, situation: Partial<Situation> = {}) =>
  decide(outcome, attemptOf(attempt), situationOf(situation));
const FORBIDDEN: SendOutcome = { status: 'forbidden', code: 50013 };
const REFUSED: SendOutcome = { status: 'refused', reason: '50035' };
const limitedFor = (retryAfterMs: number): SendOutcome => ({
  status: 'rate-limited',
  global: false,
  local: false,
  retryAfterMs,
});

it('marks a sent message as sent, and opens its parked channel', () => {
  expect(stepOf({ status: 'sent', messageId: '99' }, {}, { head: headOf({ state: 'parked' }) })).toEqual({
    batch: { do: 'mark-sent', messageId: '99' },
    channel: { do: 'open', wasBlocked: true },
  });
});

it('returns the alerts of an edit to the queue when its message is gone', () => {
  expect(stepOf({ status: 'sent', messageId: null }, { kind: 'edit' }).batch).toEqual({ do: 'mark-edit-failed' });
});

it('keeps a message unconfirmed after a refused repeat if an earlier attempt may have posted it', () => {
  const steps = [false, true].map((unconfirmed) => stepOf(FORBIDDEN, { unconfirmed }).batch.do);
  expect(steps).toEqual(['mark-not-sent', 'nothing']);
});

it('posts joining alerts in their own message when edits are limited for more than a minute', () => {
  expect(stepOf(limitedFor(MINUTE + 1), { kind: 'edit' })).toMatchObject({
    batch: { do: 'mark-edit-failed' },
    channel: { do: 'nothing' },
  });
  expect(stepOf(limitedFor(MINUTE), { kind: 'edit' })).toMatchObject({
    batch: { do: 'mark-not-sent' },
    channel: { do: 'postpone', waitMs: MINUTE },
  });
});

it('postpones a channel’s edits and not its alerts when an update is rate-limited', () => {
  expect(stepOf(limitedFor(5 * MINUTE), { kind: 'edit', isUpdate: true }).channel).toEqual({
    do: 'postpone-edits',
    waitMs: 5 * MINUTE,
  });
});

it('dead-letters a message that stays unconfirmed for 72 hours', () => {
  const unconfirmed: SendOutcome = { status: 'unconfirmed', reason: 'HTTP 503' };
  const steps = [72 * HOUR, 72 * HOUR + 1].map((age) => stepOf(unconfirmed, { frozenAt: NOW - age }).batch);
  expect(steps).toEqual([{ do: 'nothing' }, { do: 'dead-letter', reason: '72 hours: HTTP 503' }]);
});

it('waits for as long as a message is old, between 15 minutes and 6 hours, before it is repeated without its history', () => {
  const waits = [0, HOUR, DAY].map((age) => {
    const attempt = { isHistoryHidden: true, frozenAt: NOW - age, unconfirmed: true };
    const { channel } = stepOf({ status: 'unconfirmed', reason: 'timeout' }, attempt);
    return channel.do === 'postpone' && channel.waitMs;
  });
  expect(waits).toEqual([15 * MINUTE, HOUR, 6 * HOUR]);
});

it('does not postpone a channel for a fault that concerns all sending', () => {
  const outcomes: SendOutcome[] = [{ status: 'breaker', reason: 'HTTP 403' }, { status: 'unauthorized' }];
  for (const outcome of outcomes) expect(stepOf(outcome).channel).toEqual({ do: 'nothing' });
});

it('retries a parked channel after 15 minutes, an hour, and then every 6 hours', () => {
  const waits = [0, 1, 2, 3, 50].map((attempts) => {
    const head = headOf({ state: 'parked', attempts, since: NOW });
    const { channel } = stepOf(FORBIDDEN, {}, { head });
    return channel.do === 'block' && [channel.waitMs, channel.head.dueAt - NOW];
  });
  expect(waits).toEqual([15 * MINUTE, HOUR, 6 * HOUR, 6 * HOUR, 6 * HOUR].map((ms) => [ms, ms]));
});

it('expires a parked channel’s alerts after a week, and notifies admins only when it is first parked', () => {
  const blocks = [null, NOW - 7 * DAY, NOW - 7 * DAY - 1].map((since) => {
    const head = headOf(since === null ? {} : { state: 'parked', attempts: 3, since });
    const { channel } = stepOf(FORBIDDEN, {}, { head });
    return channel.do === 'block' && [channel.isNew, channel.expired];
  });
  expect(blocks).toEqual([
    [true, null],
    [false, null],
    [false, NOW - 7 * DAY],
  ]);
});

it('keeps the alerts of a channel that is gone for 30 days', () => {
  const expired = [0, 1].map((more) => {
    const head = headOf({ state: 'unreachable', since: NOW - 30 * DAY - more });
    const { channel } = stepOf({ status: 'gone', code: 10_003 }, {}, { head });
    return channel.do === 'block' && channel.expired;
  });
  expect(expired).toEqual([null, NOW - 30 * DAY]);
});

it('marks a channel as unreachable instead of parked when permissions are missing and the bot was removed', () => {
  const reasons = [{ removed: true }, { state: 'unreachable' } as const].map((head) => {
    const { channel } = stepOf(FORBIDDEN, {}, { head: headOf(head) });
    return channel.do === 'block' && channel.head.reason;
  });
  expect(reasons).toEqual(Array(2).fill('channel or server is gone (50013)'));
});

it('unfreezes a refused message to search it for the alert at fault, which becomes a dead letter', () => {
  expect(stepOf(REFUSED, { alerts: 4 })).toMatchObject({
    batch: { do: 'unfreeze' },
    channel: { do: 'search', search: { limit: 2, plain: false } },
  });
  expect(stepOf(REFUSED, { alerts: 1 }, { search: { limit: 1, plain: true } })).toMatchObject({
    batch: { do: 'dead-letter', reason: '50035' },
    channel: { do: 'search', search: null },
  });
});

it('dead-letters a refused edit or notice at once', () => {
  for (const kind of ['edit', 'notice'] as const) {
    expect(stepOf(REFUSED, { kind })).toMatchObject({
      batch: { do: 'dead-letter', reason: '50035' },
      channel: { do: 'nothing' },
    });
  }
});

it('narrows a refused message to a half at a time, then to one alert as plain text, then to nothing', () => {
  const steps: (Search | null)[] = [];
  let search: Search | null = NO_SEARCH;
  while (search) {
    search = narrowed(search, search.limit);
    steps.push(search);
  }
  expect(steps).toEqual([
    { limit: 5, plain: false },
    { limit: 3, plain: false },
    { limit: 2, plain: false },
    { limit: 1, plain: false },
    { limit: 1, plain: true },
    null,
  ]);
  // A digest of thousands is searched from five on, too.
  expect(narrowed(NO_SEARCH, 20_000)).toEqual({ limit: 5, plain: false });
});
