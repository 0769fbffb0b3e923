import { expect, it } from 'vitest';
import { createLimits } from '../../src/delivery/limits.ts';
import { type Channel, createSchedule, GATHER_MS } from '../../src/delivery/schedule.ts';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';

const START = 10_000_000;
const RETRY_MS = 15 * MINUTE;
const ids = Array.from({ length: 100 }, (_, n) => String(n));

/** A hundred channels of one server. Discord refuses those for which `isBlocked`. */
function create(isBlocked: (id: string) => boolean = () => true) {
  const schedule = createSchedule();
  const { record, guilds } = createLimits();
  let now = START;
  let refusals = 0;
  const sent: string[] = [];
  const next = () => schedule.next(now, (guildId) => guilds.wait(guildId, now)) as Channel | number;
  const arrive = (channelIds: string[], guildId = 'guild') => {
    for (const channelId of channelIds) schedule.add({ channelId, guildId }, now - GATHER_MS);
  };
  /** Takes every available turn; the responses come once all of these are in flight. */
  function turn(): string[] {
    const inFlight: string[] = [];
    for (let channel = next(); typeof channel !== 'number'; channel = next()) {
      schedule.begin(channel.id);
      guilds.begin(channel.guildId!);
      inFlight.push(channel.id);
    }
    for (const id of inFlight) {
      const { guildId, probe } = schedule.get(id);
      if (isBlocked(id)) {
        refusals++;
        record({ status: 'forbidden', code: 50013 }, guildId, now);
        schedule.block(id, now + RETRY_MS, now + RETRY_MS);
      } else {
        sent.push(id);
        schedule.recordSent(id, false);
        if (guilds.release(guildId!) || probe) schedule.retryBlocked(guildId!);
      }
      guilds.end(guildId!, now);
      schedule.end(id);
    }
    return inFlight;
  }
  function settle(): void {
    while (turn().length > 0);
  }
  arrive(ids);
  return {
    arrive,
    next,
    turn,
    settle,
    sent,
    refusals: () => refusals,
    pause: () => guilds.pause('guild', now),
    /** As the deliverer does when permissions changed. */
    changePermissions(channelId?: string): void {
      const probeAt = guilds.changeProbeAt('guild', now);
      if (schedule.probe('guild', channelId, probeAt)) guilds.recordChangeProbe('guild', probeAt, now);
    },
    pass(ms: number): void {
      for (let left = ms; left > 0; left -= SECOND) {
        now += SECOND;
        settle();
      }
    },
    open: () => (isBlocked = () => false),
  };
}

it('pauses a server’s channels together after about ten refusals, and probes one each minute, later every 15', () => {
  const { settle, refusals, pass, pause } = create();
  settle();
  expect(refusals()).toBeLessThanOrEqual(20);
  expect(pause()).toEqual({ since: START, probeAt: START + MINUTE, refusals: refusals() });
  const probes: number[] = [];
  for (const minutes of [...Array.from({ length: 11 }, () => 1), 2, 4, 8, 15, 15]) {
    const before = refusals();
    pass(minutes * MINUTE - SECOND);
    const early = refusals() - before;
    pass(SECOND);
    probes.push(early, refusals() - before - early);
  }
  expect(probes).toEqual(Array.from({ length: 16 }, () => [0, 1]).flat());
});

it('sends everything in a server’s channels once a probe succeeds, including refused ones', () => {
  const { settle, open, pass, sent, pause } = create();
  settle();
  open();
  pass(MINUTE);
  expect(sent.toSorted()).toEqual(ids.toSorted());
  expect(pause()).toBeNull();
});

it('probes a server once for fifty changes of its permissions in a minute', () => {
  const { settle, refusals, changePermissions } = create();
  settle();
  const before = refusals();
  for (let change = 0; change < 50; change++) {
    changePermissions();
    settle();
  }
  expect(refusals() - before).toBe(1);
});

it('probes a server’s blocked channels in turn, one for each change of its permissions', () => {
  const { turn, pass, changePermissions, open } = create((id) => Number(id) < 2);
  turn();
  open();
  const probed = [1, 2].map(() => {
    pass(MINUTE);
    changePermissions();
    return turn()[0];
  });
  // The first success opens all.
  expect(probed).toEqual(['0', undefined]);
});

it('keeps a server below 60 refusals in ten minutes, however often its permissions change', () => {
  let isDenied = true;
  const { settle, refusals, changePermissions, pass, arrive } = create(() => isDenied);
  settle();
  for (let second = 0; second < 600; second++) {
    isDenied = second % 3 > 0;
    changePermissions(ids[second % ids.length]);
    arrive(ids);
    pass(SECOND);
  }
  expect(refusals()).toBeLessThan(60);
});

it('keeps sending to a server’s working channels while the refused ones wait on their own', () => {
  const { settle, pass, sent, refusals } = create((id) => Number(id) < 25);
  settle();
  pass(10 * MINUTE);
  expect(sent).toHaveLength(75);
  // Each of the 25 once, and a few probes.
  expect(refusals()).toBeLessThanOrEqual(35);
});

it('delays no other server while one server’s requests are refused', () => {
  const { turn, arrive, next } = create();
  turn();
  arrive(['quiet'], 'quiet guild');
  expect(next()).toMatchObject({ id: 'quiet' });
});

it('keeps at most half of the requests in flight for one server', () => {
  expect(create(() => false).turn()).toHaveLength(20);
});
