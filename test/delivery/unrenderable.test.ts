import { afterEach, expect, it } from 'vitest';
import { renderAlerts, renderPlain } from '../../src/discord/render.ts';
import type { Alert } from '../../src/domain/alert.ts';
import { StoreError } from '../../src/errors.ts';
import { ALERTS, type Pipeline, payment, startPipeline, TREASURY, WHALES } from '../pipeline/harness.ts';

let pipeline: Pipeline;
afterEach(() => pipeline.close());

/** Every request to Discord fails until this is called. */
function hold(): () => void {
  const fault = pipeline.discord.fault({ fault: { kind: 'error', status: 503 }, path: '/channels/**' });
  return () => fault.clear();
}

/** A renderer that fails for the alert of 2 USDC. */
function refuseTwo(alerts: Alert[]): void {
  if (alerts.some(({ transfer }) => transfer.value === '2000000')) throw new Error('no words for it');
}
const SETTINGS = { explorerUrl: undefined, nativeSymbol: undefined };

it('posts an alert that cannot be rendered as plain text, without delaying its channel or others', async () => {
  pipeline = await startPipeline({
    renderers: {
      render: (alerts, reference, now) => {
        refuseTwo(alerts);
        return renderAlerts(alerts, reference, SETTINGS, now);
      },
    },
  });
  for (const channel of [ALERTS, WHALES]) await pipeline.watch(TREASURY, channel);
  const release = hold();
  await pipeline.pay(1);
  await pipeline.idle();
  const bad = payment({ value: '2000000' });
  await pipeline.receive(bad);
  const after = Array.from({ length: 30 }, (_, n) => n + 3);
  for (const units of after) await pipeline.pay(units);
  await pipeline.routed();
  release();
  await pipeline.turnUntilSettled(60);
  for (const channel of [ALERTS, WHALES]) {
    const messages = pipeline.discord.messages(channel).map(({ message }) => JSON.stringify(message));
    expect(pipeline.numbers(channel)).toEqual(['1', ...after.map(String)]);
    // Once the alert is found, messages are full again.
    expect(messages.length).toBeLessThan(14);
    expect(messages.filter((text) => text.includes(String(bad.txHash)))).toHaveLength(1);
  }
});

it('turns an alert that cannot be rendered even as plain text into a dead letter that can be replayed', async () => {
  let broken = true;
  pipeline = await startPipeline({
    renderers: {
      render: (alerts, reference, now) => {
        if (broken) refuseTwo(alerts);
        return renderAlerts(alerts, reference, SETTINGS, now);
      },
      renderPlain: (alert, reference) => {
        if (broken) refuseTwo([alert]);
        return renderPlain(alert, reference);
      },
    },
  });
  await pipeline.watch(TREASURY, ALERTS);
  const release = hold();
  for (const units of [1, 2, 3]) await pipeline.pay(units);
  await pipeline.routed();
  release();
  await pipeline.turnUntilSettled(120);
  await pipeline.pay(4);
  await pipeline.turnUntil('#alerts shows 3 alerts', () => pipeline.numbers(ALERTS).length === 3);
  expect(pipeline.numbers(ALERTS)).toEqual(['1', '3', '4']);
  const [letter] = await pipeline.store.deadLetters.list(10);
  expect(letter!.reason).toBe('It cannot be rendered: no words for it');
  broken = false;
  expect(await pipeline.store.deadLetters.replay(letter!.id, pipeline.clock.now())).toBe(true);
  pipeline.deliverer.wake([ALERTS]);
  await pipeline.turnUntil('#alerts shows 4 alerts', () => pipeline.numbers(ALERTS).length === 4);
  expect(pipeline.numbers(ALERTS)).toEqual(['1', '3', '4', '2']);
});

it('posts alerts together as ever after the store failed to freeze their message', async () => {
  let rendered = 0;
  pipeline = await startPipeline({
    store: (real) => ({
      ...real,
      outbox: {
        ...real.outbox,
        freeze: (...batch) =>
          rendered === 1 ? Promise.reject(new StoreError('disk full', 'SQLITE_FULL')) : real.outbox.freeze(...batch),
      },
    }),
    renderers: {
      render: (alerts, reference, now) => {
        rendered++;
        return renderAlerts(alerts, reference, SETTINGS, now);
      },
    },
  });
  await pipeline.watch(TREASURY, ALERTS);
  const rows = Array.from({ length: 7 }, () => Buffer.from(JSON.stringify(payment({ value: '9000000' }))));
  // One batch for the router, which routes together what it reads together.
  await pipeline.store.inbox.append(rows.map((body) => ({ scope: 0, receivedAt: pipeline.clock.now(), body })));
  await pipeline.pay(8);
  await pipeline.turnUntilSettled(60);
  expect(rendered).toBe(2);
  expect(pipeline.numbers(ALERTS)).toHaveLength(8);
  expect(pipeline.discord.messages(ALERTS)).toHaveLength(1);
});

it('leaves a posted alert that cannot be rendered again as it is, without holding anything up', async () => {
  let broken = false;
  pipeline = await startPipeline({
    renderers: {
      render: (alerts, reference, now) => {
        if (broken) refuseTwo(alerts);
        return renderAlerts(alerts, reference, SETTINGS, now);
      },
    },
  });
  await pipeline.watch(TREASURY, ALERTS);
  const event = payment({ value: '2000000' });
  await pipeline.receive(event);
  await pipeline.turnUntil('#alerts shows 1 alert', () => pipeline.numbers(ALERTS).length === 1);
  broken = true;
  await pipeline.receive({ ...event, blockHash: `0x${'c'.repeat(64)}`, blockNumber: 777_777 });
  await pipeline.pay(3);
  await pipeline.turnUntil('#alerts shows 2 alerts', () => pipeline.numbers(ALERTS).length === 2, 60);
  expect(pipeline.numbers(ALERTS)).toEqual(['2', '3']);
  expect(await pipeline.settled()).toBe(true);
});
