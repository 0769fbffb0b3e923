import { describe, expect, it } from 'vitest';
import { type Channel, createSchedule, GATHER_MS } from '../../src/delivery/schedule.ts';

it('lets servers take turns, and in each its channels, of which none waits for a second message of another', () => {
  const { add, next, begin, recordSent, end } = createSchedule();
  for (const channelId of ['a1', 'a2', 'a3']) add({ channelId, guildId: 'a' }, 0);
  add({ channelId: 'b1', guildId: 'b' }, 0);
  const turns = Array.from({ length: 7 }, () => {
    const { id } = next(GATHER_MS, () => 0) as Channel;
    begin(id);
    recordSent(id, true);
    end(id);
    return id;
  });
  expect(turns).toEqual(['a1', 'b1', 'a2', 'b1', 'a3', 'b1', 'a1']);
});

it('passes over the channels of a server that has to wait', () => {
  const { add, next } = createSchedule();
  for (const guildId of ['paused', 'other']) add({ channelId: guildId, guildId }, 0);
  const wait = (guildId: string | null) => (guildId === 'paused' ? 70 : 0);
  expect(next(GATHER_MS, wait)).toMatchObject({ id: 'other' });
  expect(next(GATHER_MS, () => 70)).toBe(70);
});

it('tries all blocked channels of a server once one of them is open', () => {
  const { add, begin, end, block, retryBlocked, next } = createSchedule();
  for (const channelId of ['1', '2']) {
    add({ channelId, guildId: 'guild' }, 0);
    begin(channelId);
    block(channelId, 10_000, 10_000);
    end(channelId);
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
    const { next, end, recordSent, add } = serving();
    recordSent('1', false);
    end('1');
    add(first, NOW);
    add(first, NOW + 400);
    expect(next(NOW + 400)).toBe(100);
    expect(next(NOW + 500)).toMatchObject({ id: '1' });
  });

  it('gets no second turn while it sends, whatever arrives', () => {
    const { add, next, recordSent, end } = serving();
    add(first, NOW - GATHER_MS);
    expect(next()).toBe(Number.POSITIVE_INFINITY);
    recordSent('1', false);
    expect(next()).toBe(Number.POSITIVE_INFINITY);
    end('1');
    expect(next()).toMatchObject({ id: '1' });
  });

  it('is forgotten when its turn ends and the store has nothing more for it', () => {
    const { next, recordSent, end } = serving();
    recordSent('1', false);
    end('1');
    expect(next()).toBe(Number.POSITIVE_INFINITY);
  });

  it('gets another turn for an alert that arrives while it finds nothing due', () => {
    const { add, sleep, end, next } = serving();
    add(first, NOW - GATHER_MS);
    sleep('1', { until: null, edit: false, burst: false });
    end('1');
    expect(next()).toMatchObject({ id: '1' });
  });

  it('wakes for an edit that waits, and for alerts that are due sooner', () => {
    const { postponeEdits, sleep, end, next } = serving();
    postponeEdits('1', NOW + 15);
    sleep('1', { until: NOW + 20, edit: true, burst: false });
    end('1');
    expect(next()).toBe(15);
  });

  it('is tried again when its guild changes if it is blocked, but not if it is rate-limited', () => {
    const { block, postpone, end, probe, next, channel } = serving();
    postpone('1', NOW + 10, 'rate');
    end('1');
    expect([probe('guild', undefined, NOW), next()]).toEqual([null, 10]);
    block('1', NOW + 20, NOW + 20);
    expect([probe('another guild', undefined, NOW), next()]).toEqual([null, 20]);
    expect([probe('guild', undefined, NOW), next()]).toEqual([true, channel]);
  });

  it('is tried earlier while it is blocked only when the store says so, not whenever it is found again', () => {
    const { block, postpone, end, addFound, next, channel } = serving();
    const findDueAt = (dueAt: number) =>
      addFound('1', 'guild', { storedDueAt: dueAt, dueAt, sleepUntil: NOW, blocked: true });
    block('1', NOW + 20, NOW + 20);
    // The store may have been read before the channel was blocked.
    findDueAt(0);
    end('1');
    postpone('1', NOW + 30, 'retry');
    findDueAt(NOW + 20);
    expect(next()).toBe(30);
    findDueAt(NOW + 5);
    expect(next()).toBe(5);
    findDueAt(NOW);
    expect(next()).toBe(channel);
  });
});
