import { expect, it } from 'vitest';
import { createRenderers } from '../../src/discord/render/renderers.ts';
import type { Alert } from '../../src/domain/alert.ts';
import {
  ALERTS,
  HARBOR,
  OTHER_BLOCK,
  type Pipeline,
  type PipelineOptions,
  payment,
  startPipeline,
  TREASURY,
  WHALES,
} from '../pipeline/harness.ts';
import { NOTHING_WAITS } from '../pipeline/time.ts';

/** Renderers that fail for an alert of 2 USDC while `isBroken`. */
function brokenRenderers(isBroken: boolean) {
  const state = { isBroken };
  function check(alerts: readonly Alert[]): void {
    const isBad = alerts.some(({ transfer }) => transfer.value === '2000000');
    if (state.isBroken && isBad) throw new Error('no words for it');
  }
  const working = createRenderers({ explorerUrl: undefined, nativeSymbol: undefined });
  const renderers = {
    render(...first) {
      check(first[0]);
      return working.render(...first);
    },
    renderAgain(...again) {
      check(again[0]);
      return working.renderAgain(...again);
    },
    renderPlain(alert, reference) {
      check([alert]);
      return working.renderPlain(alert, reference);
    },
  } satisfies PipelineOptions['renderers'];
  return { state, ...renderers };
}

function hold({ discord }: Pipeline): () => void {
  const fault = discord.fault({ fault: { kind: 'error', status: 503 }, path: '/channels/**' });
  return () => fault.clear();
}

it('posts an alert that cannot be rendered as plain text, without delaying its channel or others', async () => {
  const { render } = brokenRenderers(true);
  const pipeline = await startPipeline({ renderers: { render } });
  for (const channel of [ALERTS, WHALES]) await pipeline.watch(TREASURY, channel);
  const release = hold(pipeline);
  await pipeline.payAndWait(1);
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

it('dead-letters an alert that cannot be rendered even as plain text, and posts it at a replay', async () => {
  const { state, ...renderers } = brokenRenderers(true);
  const pipeline = await startPipeline({ renderers });
  await pipeline.watch(TREASURY, ALERTS);
  const release = hold(pipeline);
  for (const units of [1, 2, 3]) await pipeline.pay(units);
  await pipeline.routed();
  release();
  await pipeline.turnUntilSettled(120);
  await pipeline.pay(4);
  await pipeline.untilShown(ALERTS, 3);
  expect(pipeline.numbers(ALERTS)).toEqual(['1', '3', '4']);
  expect((await pipeline.store.deadLetters.list(10))[0]!.reason).toBe('It cannot be rendered: no words for it');
  state.isBroken = false;
  await pipeline.replay();
  pipeline.deliverer.wake([{ channelId: ALERTS, guildId: HARBOR }]);
  await pipeline.untilShown(ALERTS, 4);
  expect(pipeline.numbers(ALERTS)).toEqual(['1', '3', '4', '2']);
});

it('leaves a posted alert as it is if it cannot be rendered again, and posts later ones', async () => {
  const { state, render, renderAgain } = brokenRenderers(false);
  const pipeline = await startPipeline({ renderers: { render, renderAgain } });
  await pipeline.watch(TREASURY, ALERTS);
  const event = payment({ value: '2000000' });
  await pipeline.receive(event);
  await pipeline.untilShown(ALERTS, 1);
  state.isBroken = true;
  await pipeline.receive({ ...event, ...OTHER_BLOCK });
  await pipeline.pay(3);
  await pipeline.untilShown(ALERTS, 2, 60);
  expect(pipeline.numbers(ALERTS)).toEqual(['2', '3']);
  expect(await pipeline.backlog()).toMatchObject(NOTHING_WAITS);
});
