import { describe, expect, it } from 'vitest';
import { type Channel, createSchedule, GATHER_MS, NEVER } from '../../src/delivery/schedule.ts';

it('lets servers take turns, and in each its channels, of which none waits for a second message of another', () => {
  const { add, next, begin, end } = createSchedule();
  for (const channelId of ['a1', 'a2', 'a3']) add({ channelId, guildId: 'a' }, 0);
  add({ channelId: 'b1', guildId: 'b' }, 0);
  const turns = Array.from({ length: 7 }, () => {
    const { id } = next(GATHER_MS, () => 0) as Channel;
    begin(id);
    end(id, 0);
    return id;
  });
  expect(turns).toEqual(['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a1']);
});

it('passes over the channels of a server that has to wait', () => {
  const { add, next } = createSchedule();
  for (const guildId of ['paused', 'other']) add({ channelId: guildId, guildId }, 0);
  const wait = (guildId: string) => (guildId === 'paused' ? 70 : 0);
  expect(next(GATHER_MS, wait)).toMatchObject({ id: 'other' });
  expect(next(GATHER_MS, () => 70)).toBe(70);
});

it('tries all blocked channels of a server once one of them is open', () => {
  const { add, begin, end, update, retryBlocked, next } = createSchedule();
  for (const channelId of ['1', '2']) {
    add({ channelId, guildId: 'guild' }, 0);
    begin(channelId);
    update(channelId, { blocked: true, retryAt: 10_000 });
    end(channelId, 0);
  }
  expect(next(GATHER_MS, () => 0)).toBe(10_000 - GATHER_MS);
  retryBlocked('guild');
  expect(next(GATHER_MS, () => 0)).toMatchObject({ id: '1' });
});

describe('a channel', () => {
  const NOW = 50_000;
  const first = { channelId: '1', guildId: 'guild' };
  function serving() {
    const schedule = createSchedule();
    schedule.add(first, NOW - GATHER_MS);
    const next = (now = NOW) => schedule.next(now, () => 0);
    const channel = next();
    schedule.begin('1');
    return { ...schedule, next, channel };
  }

  it('waits half a second from its first new alert, not from the latest one', () => {
    const { next, end, add } = serving();
    end('1', NEVER);
    add(first, NOW);
    add(first, NOW + 400);
    expect(next(NOW + 400)).toBe(100);
    expect(next(NOW + 500)).toMatchObject({ id: '1' });
  });

  it('gets no second turn while it sends, whatever arrives', () => {
    const { add, next, end } = serving();
    add(first, NOW - GATHER_MS);
    expect(next()).toBe(NEVER);
    end('1', NEVER);
    expect(next()).toMatchObject({ id: '1' });
  });

  it('is forgotten when its turn ends and the store has nothing more for it', () => {
    const { next, end, add, channel } = serving();
    end('1', NEVER);
    expect(next()).toBe(NEVER);
    add(first, NOW - GATHER_MS);
    expect(next()).not.toBe(channel);
  });

  it('waits as long as Discord asked although it is postponed for less, or something new arrives', () => {
    const { postpone, add, end, next, channel } = serving();
    postpone('1', NOW + 10, 'rate');
    postpone('1', NOW + 5, 'retry');
    add(first, NOW - GATHER_MS);
    end('1', 0);
    expect([next(), next(NOW + 10)]).toEqual([10, channel]);
  });

  it('is tried again when its guild changes if it is blocked, but not if it is rate-limited', () => {
    const { update, postpone, end, probe, next, channel } = serving();
    postpone('1', NOW + 10, 'rate');
    end('1', 0);
    probe('guild', undefined, NOW);
    expect(next()).toBe(10);
    update('1', { blocked: true, retryAt: NOW + 20 });
    probe('another guild', undefined, NOW);
    expect(next()).toBe(20);
    probe('guild', undefined, NOW);
    expect(next()).toBe(channel);
  });

  it('is tried earlier while it is blocked only when the store says so, not whenever it is found again', () => {
    const { update, end, addFound, next, channel } = serving();
    update('1', { blocked: true, retryAt: NOW + 20 });
    // The store was read before the channel was blocked.
    addFound(first, NOW, NOW);
    end('1', 0);
    addFound(first, NOW, NOW + 25);
    expect(next()).toBe(20);
    addFound(first, NOW, NOW + 5);
    expect(next()).toBe(5);
    addFound(first, NOW, NOW);
    expect(next()).toBe(channel);
  });

  it('is named as waiting, with the reason and until when, unless it is blocked or due', () => {
    const { postpone, update, end, add, pauses } = serving();
    const waits = (now = NOW) => pauses('guild', now).map(({ reason, until }) => [reason, until]);
    end('1', NOW + 30);
    expect(waits()).toEqual([]);
    update('1', { waitsFor: 'burst' });
    expect(waits()).toEqual([['burst', NOW + 30]]);
    postpone('1', NOW + 10, 'rate');
    expect(pauses('guild', NOW)).toEqual([{ channelId: '1', reason: 'rate', until: NOW + 10 }]);
    expect([waits(NOW + 10), pauses('another guild', NOW)]).toEqual([[], []]);
    update('1', { waitsFor: 'retry' });
    expect(waits()).toEqual([['retry', NOW + 10]]);
    update('1', { blocked: true, retryAt: NOW + 20 });
    expect(waits()).toEqual([]);
    update('1', { blocked: false, retryAt: 0 });
    add(first, NOW);
    expect(waits()).toEqual([]);
  });

  it('found blocked at the start waits as the store says', () => {
    const { addFound, next } = createSchedule();
    addFound(first, NOW, NOW + 40);
    expect(next(NOW, () => 0)).toBe(40);
  });

  it('blocked with others is tried as the one whose permissions changed, or else as the next one due', () => {
    const { add, update, probe, next } = createSchedule();
    for (const [channelId, retryAt] of [
      ['1', 70],
      ['2', 60],
      ['3', 80],
    ] as const) {
      add({ channelId, guildId: 'guild' }, NOW - GATHER_MS);
      update(channelId, { blocked: true, retryAt: NOW + retryAt });
    }
    probe('guild', undefined, NOW + 50);
    expect(next(NOW, () => 0)).toBe(50);
    probe('guild', '3', NOW);
    expect(next(NOW, () => 0)).toMatchObject({ id: '3' });
  });
});
