import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { createRateLimit, type RequestSlot } from '../../src/delivery/rate-limit.ts';
import { createScheduler } from '../../src/delivery/scheduler.ts';
import { SECOND } from '../../src/domain/clock.ts';

/** When an event arrives (ms), and the channels that it concerns. */
type Arrival = [at: number, ...channels: number[]];

/** The only channel of one server; all others belong to another. */
const QUIET = 1_000;
const guildOf = (id: string) => (id === String(QUIET) ? 'quiet' : 'many');
const headOf = (id: string) => ({ guildId: guildOf(id), dueAt: 0, state: 'ready' as const });

/** Sends as the deliverer does, 4 ms from a slot to its end. Returns how long each alert waited, and how many requests it took. */
function simulate(events: Arrival[]) {
  const clock = createManualClock();
  const began = clock.now();
  const rateLimit = createRateLimit(clock);
  const scheduler = createScheduler();
  const waiting = new Map<string, number[]>();
  const alerts: { channel: string; wait: number; postedAt: number }[] = [];
  let requests = 0;
  let cancel = () => {};

  function wake(): void {
    cancel();
    const now = clock.now();
    for (;;) {
      const next = scheduler.next(now);
      const slot = next.channel ? rateLimit.take(next.policy) : next.waitMs;
      if (typeof slot === 'number') {
        if (slot < Number.POSITIVE_INFINITY) cancel = clock.after(slot, wake);
        return;
      }
      const { id, loaded } = next.channel!;
      scheduler.beginSlot(id);
      clock.after(2, () => send(id, loaded, slot));
    }
  }
  function send(id: string, loaded: boolean, slot: RequestSlot): void {
    const queue = waiting.get(id)!;
    if (queue.length === 0) {
      scheduler.sleep(id, { until: null, edit: false }, clock.now());
      slot.release();
      scheduler.endSlot(id, clock.now());
      wake();
      return;
    }
    const postedAt = clock.now() - began;
    scheduler.recordClaim(id, { alerts: queue.length, isEdit: false });
    const posted = queue.splice(0, 10);
    for (const at of posted) alerts.push({ channel: id, wait: postedAt - at, postedAt });
    requests++;
    slot.countRequest();
    if (!loaded) scheduler.setLoaded(id, headOf(id), clock.now());
    clock.after(2, () => {
      slot.release();
      scheduler.recordResponse(id, posted.length);
      scheduler.recordSent(id, queue.length > 0);
      scheduler.endSlot(id, clock.now());
      wake();
    });
  }

  for (const [at, ...channels] of events) {
    clock.advance(began + at - clock.now());
    const ids = channels.map(String);
    for (const id of ids) waiting.set(id, [...(waiting.get(id) ?? []), at]);
    scheduler.addAlerts(
      ids.map((id) => ({ channelId: id, guildId: guildOf(id) })),
      1,
      clock.now(),
    );
    wake();
  }
  clock.advance(60 * SECOND);
  return { alerts, requests, waits: alerts.map(({ wait }) => wait).sort((a, b) => a - b) };
}

/** This many events per second, over this many channels in turn. */
const steady = (perSecond: number, channels: number, seconds: number): Arrival[] =>
  Array.from({ length: perSecond * seconds }, (_, n) => [Math.floor((n * SECOND) / perSecond), n % channels]);

/** Adds an alert for the quiet channel at each of these seconds. */
const among = (others: Arrival[], ...seconds: number[]): Arrival[] =>
  [...others, ...seconds.map((second): Arrival => [second * SECOND, QUIET])].sort(([a], [b]) => a - b);

/** How long this many alerts of the quiet channel waited. */
function quietWaits(alerts: { channel: string; wait: number }[], count: number): number[] {
  const waits = alerts.filter(({ channel }) => channel === String(QUIET)).map(({ wait }) => wait);
  expect(waits).toHaveLength(count);
  return waits;
}

describe('the scheduler', () => {
  it('serves every channel at once while the rate limit allows it', () => {
    expect(simulate(steady(35, 20, 10)).waits.at(-1)).toBe(2);
    const one: Arrival = [0, ...Array.from({ length: 10 }, (_, n) => n)];
    expect(simulate([one]).waits.at(-1)).toBe(2);
  });

  it('prefers full messages, so that a burst takes hardly more requests than it has full messages', () => {
    const { alerts, requests, waits } = simulate(steady(3_000, 100, 1).slice(0, 1_000));
    expect(waits).toHaveLength(1_000);
    expect(requests).toBeLessThanOrEqual(120);
    expect(Math.max(...alerts.map(({ postedAt }) => postedAt))).toBeLessThan(2_400);
  });

  it('stops preferring full messages when no more events arrive', () => {
    const { alerts } = simulate(steady(4_000, 200, 1).slice(0, 200));
    expect(alerts.filter(({ postedAt }) => postedAt < 200)).toHaveLength(40);
  });

  it('serves the latest arrival first when there are too many, so that most wait only briefly and the rest join later alerts', () => {
    const { waits } = simulate(steady(50, 20, 20));
    expect(waits).toHaveLength(1_000);
    expect(waits[500]).toBeLessThan(25);
    expect(waits.at(-1)).toBeLessThan(2 * SECOND);
  });

  it('serves a quiet channel within seconds whatever the others do', () => {
    const { alerts } = simulate(among(steady(300, 20, 20), 5));
    expect(quietWaits(alerts, 1)[0]).toBeLessThan(6 * SECOND);
  });

  it('lets a server with a thousand channels wait while another server’s alerts are due', () => {
    const all = Array.from({ length: 1_000 }, (_, n) => n);
    // Each of the server’s channels has an alert, and later one every 12 s: together they could use every request.
    const rounds = [0, 30, 42, 54].map((second): Arrival => [second * SECOND, ...all]);
    const few = simulate(among(rounds, 2, 6, 15, 31, 43, 44, 65));
    // The quiet server waits only for the next free slot.
    expect(Math.max(...quietWaits(few.alerts, 7))).toBeLessThan(1.1 * SECOND);
    expect(Math.max(...few.waits)).toBeLessThan(60 * SECOND);
    // In a flood a request should carry many alerts, but nothing waits for more than five seconds for that.
    const flood = Array.from(
      { length: 2_000 },
      (_, n): Arrival => [n * 10, ...all.slice((n % 40) * 10, (n % 40) * 10 + 10)],
    );
    expect(Math.max(...quietWaits(simulate(among(flood, 12, 14)).alerts, 2))).toBeLessThan(5.2 * SECOND);
  });
});

it('delays neither alerts nor edits when the clock is set back', () => {
  const scheduler = createScheduler();
  scheduler.addAlerts([{ channelId: '1' }], 1, 50_000);
  const channel = scheduler.next(50_000).channel!;
  scheduler.postpone('1', 60_000);
  scheduler.postponeEdits('1', 70_000);
  scheduler.setBack(40_000);
  expect(channel).toMatchObject({ queuedAt: 10_000, dueAt: 20_000, editsDueAt: 30_000 });
  expect(scheduler.next(10_000)).toEqual({ channel: null, waitMs: 10_000 });
});

describe('a channel in service', () => {
  const NOW = 50_000;
  function serving() {
    const scheduler = createScheduler();
    scheduler.addAlerts([{ channelId: '1', guildId: 'guild' }], 1, NOW);
    const channel = scheduler.next(NOW).channel!;
    scheduler.beginSlot('1');
    return { ...scheduler, channel };
  }

  it('gives a channel no second slot while it is served, whatever arrives', () => {
    const { addAlerts, next, recordSent, endSlot } = serving();
    addAlerts([{ channelId: '1' }], 1, NOW);
    expect(next(NOW).channel).toBeNull();
    recordSent('1', false);
    addAlerts([{ channelId: '1' }], 1, NOW);
    expect(next(NOW).channel).toBeNull();
    endSlot('1', NOW);
    expect(next(NOW).channel?.id).toBe('1');
  });

  it('forgets a channel when its slot ends and the store has nothing more for it', () => {
    const { next, recordSent, endSlot } = serving();
    recordSent('1', false);
    endSlot('1', NOW);
    expect(next(NOW)).toEqual({ channel: null, waitMs: Number.POSITIVE_INFINITY });
  });

  it('gives the next slot to an alert that arrives while its channel finds nothing due', () => {
    const { addAlerts, sleep, endSlot, next } = serving();
    addAlerts([{ channelId: '1' }], 1, NOW);
    sleep('1', { until: null, edit: false }, NOW);
    endSlot('1', NOW);
    expect(next(NOW).channel?.id).toBe('1');
  });

  it('tries a blocked channel again when its guild changes, but not a rate-limited one', () => {
    const { setLoaded, block, postpone, endSlot, probeGuild, next, channel } = serving();
    setLoaded('1', { guildId: 'guild', dueAt: 0, state: 'ready' }, NOW);
    postpone('1', NOW + 10);
    endSlot('1', NOW);
    probeGuild('guild', NOW);
    expect(next(NOW)).toEqual({ channel: null, waitMs: 10 });
    block('1', NOW + 20);
    probeGuild('another guild', NOW);
    expect(next(NOW)).toEqual({ channel: null, waitMs: 20 });
    probeGuild('guild', NOW);
    expect(next(NOW).channel).toBe(channel);
  });

  it('tries a blocked channel earlier only when the store says so, not whenever it is found again', () => {
    const { setLoaded, block, postpone, endSlot, addFound, next, channel } = serving();
    const foundDueAt = (dueAt: number) =>
      addFound({ channelId: '1', guildId: 'guild', dueAt, sleepUntil: 0, blocked: true }, NOW);
    setLoaded('1', { guildId: 'guild', dueAt: 0, state: 'ready' }, NOW);
    block('1', NOW + 20);
    // The store may have been read before the channel was blocked.
    foundDueAt(0);
    endSlot('1', NOW);
    postpone('1', NOW + 30);
    foundDueAt(NOW + 20);
    expect(next(NOW)).toEqual({ channel: null, waitMs: 30 });
    foundDueAt(NOW + 5);
    expect(next(NOW)).toEqual({ channel: null, waitMs: 5 });
    foundDueAt(NOW);
    expect(next(NOW).channel).toBe(channel);
  });
});
