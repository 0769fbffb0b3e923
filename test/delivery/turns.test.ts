import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { createLimits, type RequestSlot } from '../../src/delivery/limits.ts';
import { type Channel, createSchedule, GATHER_MS } from '../../src/delivery/schedule.ts';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';

const RETRY_MS = 15 * MINUTE;

/**
 * Takes turns as the deliverer does, without a store: 4 ms from a turn's start to its end. Discord refuses the channels for
 * which `isBlocked`.
 */
function play(isBlocked: (id: string) => boolean = () => false) {
  const clock = createManualClock();
  const limits = createLimits();
  const { guilds } = limits;
  const schedule = createSchedule();
  const waiting = new Map<string, number[]>();
  /** How long each posted alert waited beyond gathering. */
  const alerts: { channel: string; wait: number }[] = [];
  const requests: string[] = [];
  const refusedAt: number[] = [];
  let [inFlight, mostInFlight] = [0, 0];
  let cancel = () => {};

  function run(): void {
    cancel();
    const now = clock.elapsed();
    for (;;) {
      const next = schedule.next(now, (guildId) => guilds.wait(guildId, now));
      const slot = typeof next === 'number' ? next : limits.take(now);
      if (typeof slot === 'number') {
        if (slot < Number.POSITIVE_INFINITY) cancel = clock.after(slot, run);
        return;
      }
      const { id, guildId } = next as Channel;
      schedule.begin(id);
      guilds.begin(guildId!);
      mostInFlight = Math.max(mostInFlight, ++inFlight);
      clock.after(2, () => send(id, slot));
    }
  }
  function send(id: string, slot: RequestSlot): void {
    const { guildId, probe } = schedule.get(id);
    const sentAt = clock.elapsed();
    slot.countRequest(sentAt);
    requests.push(id);
    const queue = waiting.get(id)!;
    const posted = isBlocked(id) ? [] : queue.splice(0, 10);
    for (const at of posted) alerts.push({ channel: id, wait: sentAt - at - GATHER_MS });
    clock.after(2, () => {
      const now = clock.elapsed();
      slot.release();
      if (posted.length === 0) {
        refusedAt.push(now);
        limits.record({ status: 'forbidden', code: 50013 }, guildId, now);
        schedule.block(id, now + RETRY_MS, now + RETRY_MS);
      } else {
        limits.record({ status: 'sent', messageId: '1' }, guildId, now);
        schedule.recordSent(id, queue.length > 0);
        if (guilds.release(guildId!) || probe) schedule.retryBlocked(guildId!);
      }
      guilds.end(guildId!, now);
      inFlight--;
      schedule.end(id);
      run();
    });
  }

  return {
    arrive(ids: string[], guildId = 'many'): void {
      for (const id of ids) {
        waiting.set(id, [...(waiting.get(id) ?? []), clock.elapsed()]);
        schedule.add({ channelId: id, guildId }, clock.elapsed());
      }
      run();
    },
    pass: clock.advance,
    now: clock.elapsed,
    alerts,
    requests,
    refusedAt,
    mostInFlight: () => mostInFlight,
    pause: () => guilds.pause('many', clock.elapsed()),
    changePermissions(channelId?: string): void {
      const now = clock.elapsed();
      const probeAt = guilds.changeProbeAt('many', now);
      if (schedule.probe('many', channelId, probeAt)) guilds.recordChangeProbe('many', probeAt, now);
      run();
    },
    open(): void {
      isBlocked = () => false;
    },
  };
}

/** When an event arrives (ms), and the channels that it concerns. */
type Arrival = [at: number, ...channels: number[]];

/** The only channel of its server. */
const QUIET = 1_000;

function simulate(events: Arrival[]) {
  const { arrive, pass, now, alerts, requests } = play();
  for (const [at, ...channels] of events) {
    pass(at - now());
    for (const id of channels) arrive([String(id)], id === QUIET ? 'quiet' : 'many');
  }
  pass(60 * SECOND);
  return { alerts, requests: requests.length, waits: alerts.map(({ wait }) => wait).sort((a, b) => a - b) };
}

const steady = (perSecond: number, channels: number, seconds: number): Arrival[] =>
  Array.from({ length: perSecond * seconds }, (_, n) => [Math.floor((n * SECOND) / perSecond), n % channels]);

/** Adds an alert for the quiet channel at each of these seconds; returns how long these waited. */
function quietWaits(others: Arrival[], ...seconds: number[]): number[] {
  const own = seconds.map((second): Arrival => [second * SECOND, QUIET]);
  const { alerts } = simulate([...others, ...own].sort(([a], [b]) => a - b));
  const waits = alerts.filter(({ channel }) => channel === String(QUIET)).map(({ wait }) => wait);
  expect(waits).toHaveLength(seconds.length);
  return waits;
}

describe('turns', () => {
  it('come as soon as alerts have gathered while the limit of requests allows it', () => {
    expect(simulate(steady(35, 20, 10)).waits.at(-1)).toBeLessThanOrEqual(2);
    const one: Arrival = [0, ...Array.from({ length: 10 }, (_, n) => n)];
    expect(simulate([one]).waits.at(-1)).toBe(2);
  });

  it('take one request for each full message of a burst, within 1.35 times the shortest time', () => {
    const { waits, requests } = simulate(steady(5_000, 100, 1).slice(0, 1_000));
    expect(waits).toHaveLength(1_000);
    expect(requests).toBe(100);
    expect(waits.at(-1)! + GATHER_MS).toBeLessThan(1.35 * 2 * SECOND);
  });

  it('come to a quiet server at once, however many channels of another one wait', () => {
    expect(quietWaits(steady(300, 20, 20), 5)[0]).toBeLessThan(SECOND);
    const all = Array.from({ length: 1_000 }, (_, n) => n);
    // Each of the server’s channels has an alert, and later one every 12 s: together they could use every request.
    const rounds = [0, 30, 42, 54].map((second): Arrival => [second * SECOND, ...all]);
    expect(Math.max(...quietWaits(rounds, 2, 6, 15, 31, 43, 44, 65))).toBeLessThan(1.1 * SECOND);
  });

  it('go round the channels of a server, so that none waits for a second message of another', () => {
    const all = Array.from({ length: 200 }, (_, n) => n);
    // The first fifty have more than fits in one message.
    const more = Array.from({ length: 10 }, (): Arrival => [0, ...all.slice(0, 50)]);
    const { alerts } = simulate([[0, ...all], ...more]);
    const others = alerts.filter(({ channel }) => Number(channel) >= 50);
    expect(others).toHaveLength(150);
    expect(Math.max(...others.map(({ wait }) => wait))).toBeLessThan(5.1 * SECOND);
  });
});

describe('a server whose channels Discord refuses', () => {
  const ids = Array.from({ length: 100 }, (_, n) => String(n));
  function start(isBlocked: (id: string) => boolean = () => true, channels = ids) {
    const played = play(isBlocked);
    played.arrive(channels);
    played.pass(SECOND);
    return played;
  }

  it('pauses together after about ten refusals, and probes one channel each minute, later every 15', () => {
    const { pass, refusedAt, pause } = start();
    const first = refusedAt.length;
    expect(first).toBeLessThanOrEqual(20);
    const { since, probeAt, refusals } = pause()!;
    expect([probeAt - since, refusals]).toEqual([MINUTE, first]);
    pass(60 * MINUTE);
    const probes = refusedAt.slice(first);
    const gaps = probes.map((at, n) => Math.round((at - (probes[n - 1] ?? since)) / MINUTE));
    expect(gaps).toEqual([...Array<number>(11).fill(1), 2, 4, 8, 15, 15]);
  });

  it('is probed once for fifty changes of its permissions in a minute', () => {
    const { refusedAt, changePermissions, pass } = start(() => true, ids.slice(0, 15));
    const before = refusedAt.length;
    for (let change = 0; change < 50; change++) {
      changePermissions();
      pass(SECOND);
    }
    expect(refusedAt.length - before).toBe(1);
  });

  it('is probed in one blocked channel after a change of its permissions, and the success opens all', () => {
    const { requests, pass, changePermissions, open } = start((id) => Number(id) < 2);
    pass(MINUTE);
    open();
    const before = requests.length;
    changePermissions();
    expect(requests).toHaveLength(before);
    pass(2);
    expect(requests.slice(before)).toEqual(['0']);
    pass(MINUTE);
    changePermissions();
    pass(MINUTE);
    expect(requests.slice(before)).toEqual(['0', '1']);
  });

  it('stays below 60 refusals in ten minutes, however often its permissions change', () => {
    let isDenied = true;
    const { refusedAt, changePermissions, pass, arrive } = start(() => isDenied);
    for (let second = 0; second < 600; second++) {
      isDenied = second % 3 > 0;
      changePermissions(ids[second % ids.length]);
      arrive(ids);
      pass(SECOND);
    }
    expect(refusedAt.length).toBeLessThan(60);
  });

  it('gets alerts in its other channels while the refused ones wait on their own', () => {
    const { pass, alerts, refusedAt } = start((id) => Number(id) < 25);
    pass(10 * MINUTE);
    expect(alerts).toHaveLength(75);
    // Each of the 25 once, and a few probes.
    expect(refusedAt.length).toBeLessThanOrEqual(35);
  });

  it('delays no other server', () => {
    const { pass, arrive, alerts } = start((id) => id !== 'quiet');
    arrive(['quiet'], 'quiet guild');
    pass(GATHER_MS + 2);
    expect(alerts).toEqual([{ channel: 'quiet', wait: 2 }]);
  });

  it('has at most half of the requests in flight', () => {
    expect(start(() => false).mostInFlight()).toBe(20);
  });
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
