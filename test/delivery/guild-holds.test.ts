import { expect, it } from 'vitest';
import { createScheduler } from '../../src/delivery/scheduler.ts';
import { MINUTE, SECOND } from '../../src/domain/clock.ts';

const NOW = 10_000_000;
const RETRY_MS = 15 * MINUTE;
const ids = Array.from({ length: 100 }, (_, n) => String(n));

/** A hundred channels of one server. Discord refuses those for which `isBlocked`. */
function create(isBlocked: (id: string) => boolean = () => true) {
  const scheduler = createScheduler();
  let now = NOW;
  let refusals = 0;
  const sent: string[] = [];
  /** Takes every available slot; the responses come once all of these are in flight. */
  function turn(): string[] {
    const inFlight: string[] = [];
    for (let next = scheduler.next(now); next.channel; next = scheduler.next(now)) {
      scheduler.beginSlot(next.channel.id);
      inFlight.push(next.channel.id);
    }
    for (const id of inFlight) {
      if (isBlocked(id)) {
        refusals++;
        scheduler.recordRefusal(id, now);
        scheduler.block(id, now + RETRY_MS);
      } else {
        sent.push(id);
        scheduler.recordSent(id, false);
      }
      scheduler.endSlot(id, now);
    }
    return inFlight;
  }
  function settle(): void {
    while (turn().length > 0);
  }
  scheduler.addAlerts(
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
    open: () => (isBlocked = () => false),
    now: () => now,
  };
}

it('makes a server’s channels wait together after about ten refusals, and probes one each minute, later every 15', () => {
  const { settle, refusals, pass, hold, now } = create();
  settle();
  expect(refusals()).toBeLessThanOrEqual(20);
  expect(hold('guild', now())).toEqual({ since: NOW, probeAt: NOW + MINUTE, refusals: refusals() });
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
  const { settle, open, pass, sent, hold, now } = create();
  settle();
  open();
  pass(MINUTE);
  expect(sent.toSorted()).toEqual(ids.toSorted());
  expect(hold('guild', now())).toBeNull();
});

it('probes a server once for fifty changes of its permissions in a minute', () => {
  const { settle, refusals, probeGuild, now } = create();
  settle();
  const before = refusals();
  for (let flip = 0; flip < 50; flip++) {
    probeGuild('guild', now());
    settle();
  }
  expect(refusals() - before).toBe(1);
});

it('probes a server’s blocked channels in turn, one for each change of its permissions', () => {
  const { addAlerts, next, beginSlot, block, endSlot, probeGuild } = createScheduler();
  const refuse = (now: number) => {
    const { id } = next(now).channel!;
    beginSlot(id);
    block(id, now + RETRY_MS);
    endSlot(id, now);
    return id;
  };
  addAlerts(
    ['1', '2'].map((channelId) => ({ channelId, guildId: 'guild' })),
    1,
    NOW,
  );
  for (const _ of ['1', '2']) refuse(NOW);
  const probed = [1, 2, 3].map((minutes) => {
    const now = NOW + minutes * MINUTE;
    probeGuild('guild', now);
    return refuse(now);
  });
  expect(probed).toEqual(['1', '2', '1']);
});

it('keeps a server below 60 refusals in ten minutes, however often its permissions change', () => {
  let isDenied = true;
  const { settle, refusals, probeGuild, now, pass, addAlerts } = create(() => isDenied);
  settle();
  for (let second = 0; second < 600; second++) {
    isDenied = second % 3 > 0;
    probeGuild('guild', now(), ids[second % ids.length]);
    addAlerts(
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
  pass(10 * MINUTE);
  expect(sent).toHaveLength(75);
  // Each of the 25 once, and a few probes.
  expect(refusals()).toBeLessThanOrEqual(35);
});

it('delays no other server while one server’s requests are refused', () => {
  const { turn, addAlerts, next, now } = create();
  turn();
  addAlerts([{ channelId: 'quiet', guildId: 'quiet guild' }], 1, now());
  expect(next(now()).channel?.id).toBe('quiet');
});

it('keeps at most half of the requests in flight for one server', () => {
  expect(create(() => false).turn()).toHaveLength(20);
});
