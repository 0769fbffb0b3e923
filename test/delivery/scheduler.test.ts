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
      scheduler.began(id);
      clock.after(2, () => send(id, loaded, slot));
    }
  }
  function send(id: string, loaded: boolean, slot: RequestSlot): void {
    const queue = waiting.get(id)!;
    if (queue.length === 0) {
      scheduler.slept(id, { until: null, edit: false }, clock.now());
      slot.release();
      scheduler.ended(id, clock.now());
      wake();
      return;
    }
    const postedAt = clock.now() - began;
    scheduler.claimed(id, { alerts: queue.length, isEdit: false });
    const posted = queue.splice(0, 10);
    for (const at of posted) alerts.push({ channel: id, wait: postedAt - at, postedAt });
    requests++;
    slot.requestStarted();
    if (!loaded) scheduler.loaded(id, headOf(id));
    clock.after(2, () => {
      slot.release();
      scheduler.answered(id, posted.length);
      scheduler.sent(id, queue.length > 0);
      scheduler.ended(id, clock.now());
      wake();
    });
  }

  for (const [at, ...channels] of events) {
    clock.advance(began + at - clock.now());
    const ids = channels.map(String);
    for (const id of ids) waiting.set(id, [...(waiting.get(id) ?? []), at]);
    scheduler.arrived(
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
  scheduler.arrived([{ channelId: '1' }], 1, 50_000);
  const channel = scheduler.next(50_000).channel!;
  scheduler.postponed('1', 60_000);
  scheduler.editsPostponed('1', 70_000);
  scheduler.setBack(40_000);
  expect(channel).toMatchObject({ queuedAt: 10_000, dueAt: 20_000, editsDueAt: 30_000 });
  expect(scheduler.next(10_000)).toEqual({ channel: null, waitMs: 10_000 });
});

describe('edit slots', () => {
  function create() {
    const scheduler = createScheduler();
    /** A channel finds nothing to send until then, except an edit that waits. */
    function ask(id: string, now: number, until: number | null = null) {
      scheduler.arrived([{ channelId: id }], 0, now);
      const channel = scheduler.next(now).channel!;
      expect(channel.id).toBe(id);
      scheduler.began(id);
      scheduler.slept(id, { until, edit: true }, now);
      scheduler.ended(id, now);
      return channel;
    }
    return { ...scheduler, ask };
  }

  it('gives edit slots to one channel after the other, every 50 ms', () => {
    const { ask, mayEdit, next, began, claimed, sent, ended } = create();
    const [first, second] = [ask('1', 50_000), ask('2', 50_000)];
    expect([first, second].map((channel) => mayEdit(channel, 50_000))).toEqual([true, false]);
    expect([50_049, 50_050].map((now) => mayEdit(second, now))).toEqual([false, true]);
    expect(next(50_000).channel).toBe(first);
    began('1');
    claimed('1', { alerts: 0, isEdit: true });
    expect(mayEdit(first, 50_000)).toBe(false);
    sent('1', false);
    ended('1', 50_000);
    expect(next(50_000)).toEqual({ channel: null, waitMs: 50 });
  });

  it('keeps the distance between edit slots when the clock is set back', () => {
    const { ask, mayEdit, setBack } = create();
    for (const id of ['1', '2']) ask(id, 50_000);
    setBack(40_000);
    const third = ask('3', 10_000);
    expect([10_099, 10_100].map((now) => mayEdit(third, now))).toEqual([false, true]);
  });

  it('gives no edit slot to a channel whose edits Discord limits before the limit ends', () => {
    const { ask, mayEdit, arrived, editsPostponed } = create();
    arrived([{ channelId: '1' }], 0, 10_000);
    editsPostponed('1', 15_000);
    const channel = ask('1', 10_000);
    expect(mayEdit(channel, 14_999)).toBe(false);
    expect(channel.sleepUntil).toBe(15_000);
  });

  it('keeps a channel’s edit slot when it asks again, and wakes for alerts that are due sooner', () => {
    const { ask, mayEdit, next } = create();
    for (const id of ['1', '2']) ask(id, 10_000);
    const third = ask('3', 10_000);
    const again = ask('3', 10_070, 10_090);
    expect(again).toBe(third);
    expect([third.editsDueAt, third.sleepUntil, mayEdit(third, 10_100)]).toEqual([10_100, 10_090, true]);
    expect(next(10_070).channel?.id).not.toBe('3');
  });
});

describe('a channel in service', () => {
  const NOW = 50_000;
  function serving() {
    const scheduler = createScheduler();
    scheduler.arrived([{ channelId: '1', guildId: 'guild' }], 1, NOW);
    const channel = scheduler.next(NOW).channel!;
    scheduler.began('1');
    return { ...scheduler, channel };
  }

  it('gives a channel no second slot while it is served, whatever arrives', () => {
    const { arrived, next, sent, ended } = serving();
    arrived([{ channelId: '1' }], 1, NOW);
    expect(next(NOW).channel).toBeNull();
    sent('1', false);
    arrived([{ channelId: '1' }], 1, NOW);
    expect(next(NOW).channel).toBeNull();
    ended('1', NOW);
    expect(next(NOW).channel?.id).toBe('1');
  });

  it('forgets a channel when its slot ends and the store has nothing more for it', () => {
    const { next, sent, ended } = serving();
    sent('1', false);
    ended('1', NOW);
    expect(next(NOW)).toEqual({ channel: null, waitMs: Number.POSITIVE_INFINITY });
  });

  it('gives the next slot to an alert that arrives while its channel finds nothing due', () => {
    const { arrived, slept, ended, next } = serving();
    arrived([{ channelId: '1' }], 1, NOW);
    slept('1', { until: null, edit: false }, NOW);
    ended('1', NOW);
    expect(next(NOW).channel?.id).toBe('1');
  });

  it('tries a parked channel again when its guild changes, but not a rate-limited one', () => {
    const { loaded, parked, postponed, ended, guildChanged, next, channel } = serving();
    loaded('1', { guildId: 'guild', dueAt: 0, state: 'ready' });
    postponed('1', NOW + 10);
    ended('1', NOW);
    guildChanged('guild', NOW);
    expect(next(NOW)).toEqual({ channel: null, waitMs: 10 });
    parked('1', NOW + 20);
    guildChanged('another guild', NOW);
    expect(next(NOW)).toEqual({ channel: null, waitMs: 20 });
    guildChanged('guild', NOW);
    expect(next(NOW).channel).toBe(channel);
  });

  it('tries a parked channel earlier only when the store says so, not whenever it is found again', () => {
    const { loaded, parked, postponed, ended, found, next, channel } = serving();
    const foundDueAt = (dueAt: number) =>
      found({ channelId: '1', guildId: 'guild', dueAt, sleepUntil: 0, parked: true }, NOW);
    loaded('1', { guildId: 'guild', dueAt: 0, state: 'ready' });
    parked('1', NOW + 20);
    // The store may have been read before the channel was parked.
    foundDueAt(0);
    ended('1', NOW);
    postponed('1', NOW + 30);
    foundDueAt(NOW + 20);
    expect(next(NOW)).toEqual({ channel: null, waitMs: 30 });
    foundDueAt(NOW + 5);
    expect(next(NOW)).toEqual({ channel: null, waitMs: 5 });
    foundDueAt(NOW);
    expect(next(NOW).channel).toBe(channel);
  });
});

describe('a server whose channels are refused', () => {
  const NOW = 10_000_000;
  const PARKED = 15 * 60 * SECOND;
  const ids = Array.from({ length: 100 }, (_, n) => String(n));

  /** A hundred channels of one server. Discord refuses those that are `closed`. */
  function create(isClosed: (id: string) => boolean = () => true) {
    const scheduler = createScheduler();
    let now = NOW;
    let refusals = 0;
    const sent: string[] = [];
    /** Takes every available slot; the responses come once all of these are in flight. */
    function turn(): string[] {
      const inFlight: string[] = [];
      for (let next = scheduler.next(now); next.channel; next = scheduler.next(now)) {
        scheduler.began(next.channel.id);
        inFlight.push(next.channel.id);
      }
      for (const id of inFlight) {
        if (isClosed(id)) {
          refusals++;
          scheduler.refusalCounted(id, now);
          scheduler.parked(id, now + PARKED);
        } else {
          sent.push(id);
          scheduler.sent(id, false);
        }
        scheduler.ended(id, now);
      }
      return inFlight;
    }
    function settle(): void {
      while (turn().length > 0);
    }
    scheduler.arrived(
      ids.map((channelId) => ({ channelId, guildId: 'guild' })),
      1,
      now,
    );
    return {
      ...scheduler,
      turn,
      settle,
      sent,
      refusals: () => refusals,
      pass(ms: number): void {
        for (let left = ms; left > 0; left -= SECOND) {
          now += SECOND;
          settle();
        }
      },
      open: () => (isClosed = () => false),
      now: () => now,
    };
  }

  it('makes a server’s channels wait together after about ten refusals, and probes one each minute, later every 15', () => {
    const { settle, refusals, pass, hold, now } = create();
    settle();
    expect(refusals()).toBeLessThanOrEqual(20);
    expect(hold('guild', now())).toEqual({ since: NOW, probeAt: NOW + 60 * SECOND, refusals: refusals() });
    const probes: number[] = [];
    for (const minutes of [...Array.from({ length: 11 }, () => 1), 2, 4, 8, 15, 15]) {
      const before = refusals();
      pass(minutes * 60 * SECOND - SECOND);
      const early = refusals() - before;
      pass(SECOND);
      probes.push(early, refusals() - before - early);
    }
    expect(probes).toEqual(Array.from({ length: 16 }, () => [0, 1]).flat());
  });

  it('sends everything in a server’s channels once a probe succeeds, including refused ones', () => {
    const { settle, open, pass, sent, hold, now } = create();
    settle();
    open();
    pass(60 * SECOND);
    expect(sent.toSorted()).toEqual(ids.toSorted());
    expect(hold('guild', now())).toBeNull();
  });

  it('probes a server once for fifty changes of its permissions in a minute', () => {
    const { settle, refusals, guildChanged, now } = create();
    settle();
    const before = refusals();
    for (let flip = 0; flip < 50; flip++) {
      guildChanged('guild', now());
      settle();
    }
    expect(refusals() - before).toBe(1);
  });

  it('keeps a server below 60 refusals in ten minutes, however often its permissions change', () => {
    let isDenied = true;
    const { settle, refusals, guildChanged, now, pass, arrived } = create(() => isDenied);
    settle();
    for (let second = 0; second < 600; second++) {
      isDenied = second % 3 > 0;
      guildChanged('guild', now(), ids[second % ids.length]);
      arrived(
        ids.map((channelId) => ({ channelId, guildId: 'guild' })),
        1,
        now(),
      );
      pass(SECOND);
    }
    expect(refusals()).toBeLessThan(60);
  });

  it('keeps sending to a server’s working channels while the refused ones wait on their own', () => {
    const { settle, pass, sent, refusals } = create((id) => Number(id) < 25);
    settle();
    pass(10 * 60 * SECOND);
    expect(sent).toHaveLength(75);
    // Each of the 25 once, and a few probes.
    expect(refusals()).toBeLessThanOrEqual(35);
  });

  it('delays no other server while one server’s requests are refused', () => {
    const { turn, arrived, next, now } = create();
    turn();
    arrived([{ channelId: 'quiet', guildId: 'quiet guild' }], 1, now());
    expect(next(now()).channel?.id).toBe('quiet');
  });

  it('keeps at most half of the requests in flight for one server', () => {
    expect(create(() => false).turn()).toHaveLength(20);
  });
});
