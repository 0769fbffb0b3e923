import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../sandbox/discord/index.ts';
import { createPace } from '../../src/delivery/rate-limit.ts';
import { type Channel, createTurns } from '../../src/delivery/scheduler.ts';

const SECOND = 1_000;

/** When an event comes (ms), and the channels that it concerns. */
type Coming = [at: number, ...channels: number[]];

/** Most channels are of one server. */
const QUIET = 1_000;
const guildOf = (id: string) => (id === String(QUIET) ? 'quiet' : 'many');
const headOf = ({ id }: Channel) => ({ guildId: guildOf(id), dueAt: 0, state: 'ready' as const });

/** Sends as the deliverer does, with 4 ms from a turn to its end; gives each alert's wait, and the messages' sizes. */
function told(events: Coming[]) {
  const clock = new ManualClock();
  const began = clock.now();
  const pace = createPace(clock);
  const turns = createTurns();
  const waiting = new Map<string, number[]>();
  const alerts: { channel: string; wait: number; toldAt: number }[] = [];
  let requests = 0;
  let cancel = () => {};

  function pump(): void {
    cancel();
    const now = clock.now();
    for (;;) {
      const { channel, wait } = turns.next(now);
      const turn = channel ? pace.take(turns.leaving(channel, now)) : wait;
      if (typeof turn === 'number') {
        if (turn < Number.POSITIVE_INFINITY) cancel = clock.after(turn, pump);
        return;
      }
      turns.begin(channel!);
      clock.after(2, () => send(channel!, turn));
    }
  }
  function send(channel: Channel, turn: Exclude<ReturnType<typeof pace.take>, number>): void {
    const queue = waiting.get(channel.id)!;
    const toldAt = clock.now() - began;
    for (const at of queue.splice(0, 10)) alerts.push({ channel: channel.id, wait: toldAt - at, toldAt });
    channel.lines = queue.length;
    requests++;
    turn.send();
    if (!channel.isMet) turns.meet(channel, headOf(channel));
    clock.after(2, () => {
      turn.end();
      channel.busy = false;
      channel.since = clock.now();
      if (queue.length === 0) turns.remove(channel);
      pump();
    });
  }

  for (const [at, ...channels] of events) {
    clock.advance(began + at - clock.now());
    const ids = channels.map(String);
    for (const id of ids) waiting.set(id, [...(waiting.get(id) ?? []), at]);
    turns.know(ids.map((id) => ({ channelId: id, guildId: guildOf(id) })));
    turns.came(ids, 1, clock.now());
    pump();
  }
  clock.advance(60 * SECOND);
  return { alerts, requests, waits: alerts.map(({ wait }) => wait).sort((a, b) => a - b) };
}

/** So many a second, to so many channels by turns. */
const steady = (perSecond: number, channels: number, seconds: number): Coming[] =>
  Array.from({ length: perSecond * seconds }, (_, n) => [Math.floor((n * SECOND) / perSecond), n % channels]);

/** A line of the quiet server's only channel at these seconds, in between. */
const among = (others: Coming[], ...seconds: number[]): Coming[] =>
  [...others, ...seconds.map((second): Coming => [second * SECOND, QUIET])].sort(([a], [b]) => a - b);
/** How long the quiet channel's lines waited, so many of which were told. */
function quietWaits(alerts: { channel: string; wait: number }[], lines: number): number[] {
  const waits = alerts.filter(({ channel }) => channel === String(QUIET)).map(({ wait }) => wait);
  expect(waits).toHaveLength(lines);
  return waits;
}

describe('whose turn it is', () => {
  it('is every channel’s at once while there are requests enough', () => {
    expect(told(steady(35, 20, 10)).waits.at(-1)).toBe(2);
    const one: Coming = [0, ...Array.from({ length: 10 }, (_, n) => n)];
    expect(told([one]).waits.at(-1)).toBe(2);
  });

  it('is rather that of full messages: a burst takes hardly more requests than its lines fill', () => {
    const { alerts, requests, waits } = told(steady(3_000, 100, 1).slice(0, 1_000));
    expect(waits).toHaveLength(1_000);
    expect(requests).toBeLessThanOrEqual(120);
    expect(Math.max(...alerts.map(({ toldAt }) => toldAt))).toBeLessThan(2_400);
  });

  it('is no longer kept for full messages when nothing more comes', () => {
    const { alerts } = told(steady(4_000, 200, 1).slice(0, 200));
    expect(alerts.filter(({ toldAt }) => toldAt < 200)).toHaveLength(40);
  });

  it('is the newest one’s when there are too many: most wait for a moment, the rest for their channel’s next', () => {
    const { waits } = told(steady(50, 20, 20));
    expect(waits).toHaveLength(1_000);
    expect(waits[500]).toBeLessThan(25);
    expect(waits.at(-1)).toBeLessThan(2 * SECOND);
  });

  it('comes for a quiet channel after some seconds, whatever the others do', () => {
    const { alerts } = told(among(steady(300, 20, 20), 5));
    expect(quietWaits(alerts, 1)[0]).toBeLessThan(6 * SECOND);
  });

  it('is not that of a server with very many channels while another server’s lines wait', () => {
    const all = Array.from({ length: 1_000 }, (_, n) => n);
    // Each of the server’s channels has a line, and then one every 12 s: all requests are theirs while that lasts.
    const rounds = [0, 30, 42, 54].map((second): Coming => [second * SECOND, ...all]);
    const few = told(among(rounds, 2, 6, 15, 31, 43, 44, 65));
    // For a request that has room.
    expect(Math.max(...quietWaits(few.alerts, 7))).toBeLessThan(1.1 * SECOND);
    expect(Math.max(...few.waits)).toBeLessThan(60 * SECOND);
    // In a flood a request should tell much; what waits for five seconds is told all the same.
    const flood = Array.from(
      { length: 2_000 },
      (_, n): Coming => [n * 10, ...all.slice((n % 40) * 10, (n % 40) * 10 + 10)],
    );
    expect(Math.max(...quietWaits(told(among(flood, 12, 14)).alerts, 2))).toBeLessThan(5.2 * SECOND);
  });
});

it('a clock that is set back holds neither a channel’s lines nor its changes for as long', () => {
  const turns = createTurns();
  turns.came(['1'], 1, 50_000);
  const channel = turns.next(50_000).channel!;
  Object.assign(channel, { dueAt: 60_000, changesAt: 70_000 });
  turns.setBack(40_000);
  expect(channel).toMatchObject({ since: 10_000, dueAt: 20_000, changesAt: 30_000 });
  expect(turns.next(10_000)).toEqual({ channel: null, wait: 10_000 });
});

it('of changing sent messages comes for a channel after the other, every 50 ms, whatever the clock does', () => {
  const turns = createTurns();
  const rest = (id: string, now: number) => {
    turns.came([id], 0, now);
    const channel = turns.next(now).channel!;
    expect([channel.id, turns.mayChange(channel, now)]).toEqual([id, false]);
    turns.begin(channel);
    turns.rest(channel, { until: null, change: true }, now);
    channel.busy = false;
    return channel;
  };
  const [first, second] = [rest('1', 50_000), rest('2', 50_000)];
  expect([first, second].map((channel) => turns.mayChange(channel, 50_000))).toEqual([true, false]);
  expect([49, 50].map((ms) => turns.mayChange(second, 50_000 + ms))).toEqual([false, true]);
  expect(turns.next(50_000).channel).toBe(first);
  turns.remove(first);
  expect(turns.next(50_000)).toEqual({ channel: null, wait: 50 });
  turns.setBack(40_000);
  expect(turns.next(10_000)).toEqual({ channel: null, wait: 50 });
  const third = rest('3', 10_000);
  expect(turns.mayChange(third, 10_100)).toBe(true);
  // What Discord holds back in a channel gets no turn before that is over.
  const held = { changesAt: 15_000, sleepUntil: 0 };
  turns.came(['4'], 0, 10_000);
  const fourth = Object.assign(turns.next(10_000).channel!, held);
  turns.rest(fourth, { until: null, change: true }, 10_000);
  expect([turns.mayChange(fourth, 14_999), fourth.sleepUntil]).toEqual([false, 15_000]);
  turns.remove(fourth);
  // Asked again, it keeps its turn; what is due sooner comes sooner.
  turns.rest(third, { until: 10_020, change: true }, 10_010);
  turns.remove(second);
  expect(turns.next(10_010)).toEqual({ channel: null, wait: 10 });
  expect(turns.mayChange(third, 10_100)).toBe(true);
});
