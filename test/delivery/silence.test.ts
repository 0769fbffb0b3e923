import { expect, it } from 'vitest';
import { HOUR, MINUTE } from '../../src/domain/clock.ts';
import { ALERTS, ALICE, HARBOR, payment, TREASURY, WHALES } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest } from '../pipeline/per-test.ts';

pipelineForEachTest();

async function hours(count: number, change?: object): Promise<void> {
  for (let hour = 0; hour < count; hour++) {
    if (change) await pipeline.receive(payment(change));
    await pipeline.pass(HOUR, 30 * MINUTE);
  }
}

const notices = (channel: string) => pipeline.alerts(channel).filter(({ title }) => /quiet|No events/.test(title));

it('reports a quiet address once in the channels that asked for it, and again after the next events', async () => {
  await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury', watchSilence: true });
  await pipeline.watch(TREASURY, WHALES);
  await hours(21, {});
  await hours(10);
  expect(notices(ALERTS)).toEqual([]);
  expect(await pipeline.store.silence.current(HARBOR, pipeline.clock.now())).toEqual([]);
  await hours(30);
  expect(notices(ALERTS)).toHaveLength(1);
  expect(notices(ALERTS)[0]!.title).toMatch(/No events are arriving/);
  expect(notices(ALERTS)[0]!.text).toMatch(/\*\*Treasury\*\*.*about every 1 hr.*\/setup check/);
  expect(notices(WHALES)).toEqual([]);
  const silent = await pipeline.store.silence.current(HARBOR, pipeline.clock.now());
  expect(silent.map(({ channelId }) => channelId).sort()).toEqual([ALERTS, WHALES].sort());

  // The long silence counts as a gap, too: it takes some events until an hour is the usual gap again.
  await hours(12, {});
  expect(await pipeline.store.silence.current(HARBOR, pipeline.clock.now())).toEqual([]);
  await hours(40);
  expect(notices(ALERTS)).toHaveLength(2);
});

it('reports a quiet address, not a dead feed, while other addresses still move', async () => {
  await pipeline.watch(TREASURY, ALERTS, { watchSilence: true });
  await hours(21, {});
  await hours(20, { to: ALICE, from: ALICE, value: '7' });
  expect(notices(ALERTS)[0]!.title).toMatch(/unusually quiet/);
  expect(notices(ALERTS)[0]!.text).toMatch(/the bot is working/);
});

it('reports no address that has too few events, is paused or is muted', async () => {
  await pipeline.watch(TREASURY, ALERTS, { watchSilence: true });
  await hours(15, {});
  await hours(40);
  expect(notices(ALERTS)).toEqual([]);
  const id = await pipeline.watch(ALICE, ALERTS, { watchSilence: true });
  await hours(25, { to: ALICE, from: TREASURY });
  await pipeline.store.subscriptions.change(HARBOR, id, { paused: true });
  await hours(40);
  const isReported = () => notices(ALERTS).some(({ text }) => text.includes('0x2222'));
  expect(isReported(), 'whether the silence is reported').toBe(false);
  const muted = { paused: false, mutedUntil: pipeline.clock.now() + 100 * HOUR };
  await pipeline.store.subscriptions.change(HARBOR, id, muted);
  await hours(2);
  expect(isReported(), 'whether the silence is reported').toBe(false);
  await pipeline.store.subscriptions.change(HARBOR, id, { mutedUntil: null });
  await hours(2);
  expect(isReported(), 'whether the silence is reported').toBe(true);
});
