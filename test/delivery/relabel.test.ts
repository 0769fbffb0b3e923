import { expect, it } from 'vitest';
import { HOUR, SECOND } from '../../src/domain/clock.ts';
import { ALERTS, ALICE, HARBOR, MESSAGES, payment, TREASURY, WHALES } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest } from '../pipeline/per-test.ts';

const STRANGER = `0x${'9'.repeat(40)}` as const;

pipelineForEachTest(ALERTS);

const edits = () => pipeline.discord.requests().filter(({ method }) => method === 'PATCH').length;
const names = (channel: string) => pipeline.alerts(channel).map(({ text }) => text.includes('Mallory'));
const label = (address = ALICE) =>
  pipeline.store.labels.set(HARBOR, { address, name: 'Mallory', createdBy: '1', at: pipeline.clock.now() }, 100);

it('shows a new label in the server’s messages of the last day that name the address', async () => {
  await pipeline.watch(TREASURY, WHALES);
  await pipeline.payAndWait(1);
  await pipeline.pass(25 * HOUR, HOUR);
  await pipeline.payAndWait(2);
  await pipeline.receive(payment({ from: STRANGER }));
  await pipeline.idle();
  await label();
  // A message is edited once, although two requests ask for it.
  const others = [`0x${'8'.repeat(40)}`, ALICE] as const;
  const { relabel } = pipeline.deliverer;
  for (let n = 0; n < 2; n++) expect(await relabel(HARBOR, others)).toEqual({ messages: 2, isAll: true });
  expect(await relabel('another server', [ALICE])).toEqual({ messages: 0, isAll: true });
  const forgotten = [{ channelId: ALERTS, reference: 'FORGOTTEN' }];
  expect(await pipeline.store.outbox.requestRerender(forgotten, pipeline.clock.now())).toEqual([]);
  await pipeline.pass(SECOND);
  expect([ALERTS, WHALES].map(names)).toEqual([
    [false, true, false],
    [false, true, false],
  ]);
  expect(edits()).toBe(2);
});

it('shows a new label in an alert that was rendered before and is sent later', async () => {
  pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, path: MESSAGES, times: 1 });
  await pipeline.payAndWait(1);
  await label();
  expect(await pipeline.deliverer.relabel(HARBOR, [ALICE])).toEqual({ messages: 1, isAll: true });
  expect(names(ALERTS)).toEqual([]);
  await pipeline.turnUntilSettled();
  expect(names(ALERTS)).toEqual([true]);
});

it('posts new alerts before it edits messages for a new label, also after a restart', async () => {
  for (let n = 1; n <= 5; n++) await pipeline.payAndWait(n);
  await label();
  await pipeline.deliverer.relabel(HARBOR, [ALICE]);
  const before = pipeline.discord.requests().at(-1)!.number;
  await pipeline.pay(6);
  await pipeline.routed();
  await pipeline.restart();
  await pipeline.turnUntilSettled();
  const made = pipeline.discord.requests(before).map(({ method }) => method);
  expect(made.filter((method) => method === 'PATCH').length).toBeGreaterThanOrEqual(5);
  expect(made.lastIndexOf('POST')).toBeLessThan(made.indexOf('PATCH'));
  expect(names(ALERTS)).toEqual(Array(6).fill(true));
});
