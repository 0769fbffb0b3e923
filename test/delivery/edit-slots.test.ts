import { expect, it } from 'vitest';
import { createScheduler } from '../../src/delivery/scheduler.ts';

function create() {
  const scheduler = createScheduler();
  /** A channel finds nothing to send until then, except an edit that waits. */
  function ask(id: string, now: number, until: number | null = null) {
    scheduler.addAlerts([{ channelId: id }], 0, now);
    const channel = scheduler.next(now).channel!;
    expect(channel.id).toBe(id);
    scheduler.beginSlot(id);
    scheduler.sleep(id, { until, edit: true }, now);
    scheduler.endSlot(id, now);
    return channel;
  }
  return { ...scheduler, ask };
}

it('gives edit slots to one channel after the other, every 50 ms', () => {
  const { ask, mayEdit, next, beginSlot, recordClaim, recordSent, endSlot } = create();
  const [first, second] = [ask('1', 50_000), ask('2', 50_000)];
  expect([first, second].map((channel) => mayEdit(channel, 50_000))).toEqual([true, false]);
  expect([50_049, 50_050].map((now) => mayEdit(second, now))).toEqual([false, true]);
  expect(next(50_000).channel).toBe(first);
  beginSlot('1');
  recordClaim('1', { alerts: 0, isEdit: true });
  expect(mayEdit(first, 50_000)).toBe(false);
  recordSent('1', false);
  endSlot('1', 50_000);
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
  const { ask, mayEdit, addAlerts, postponeEdits } = create();
  addAlerts([{ channelId: '1' }], 0, 10_000);
  postponeEdits('1', 15_000);
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
