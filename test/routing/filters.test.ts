import { describe, expect, it } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import { HOUR, MINUTE } from '../../src/domain/clock.ts';
import { ALERTS, ALICE, HARBOR, payment, TREASURY, USDC, WHALES } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest } from '../pipeline/per-test.ts';

const { alerts: ORCHID_ALERTS, id: ORCHID } = seed.orchid;

pipelineForEachTest();

describe('hidden transfers', () => {
  it('records for each subscription that a transfer was posted, or why it was hidden', async () => {
    const all = await pipeline.watch(TREASURY, ALERTS);
    const large = await pipeline.watch(ALICE, WHALES, { minimum: '6' });
    await pipeline.pay(5);
    await pipeline.payAndWait(0);
    expect(pipeline.numbers(ALERTS)).toEqual(['5']);
    expect(pipeline.numbers(WHALES)).toEqual([]);
    const ofAll = { channelId: ALERTS, subscription: all, address: TREASURY };
    const ofLarge = { channelId: WHALES, subscription: large, address: ALICE };
    expect((await pipeline.histories()).map(({ decisions }) => decisions)).toMatchObject([
      [
        { ...ofLarge, outcome: 'minimum' },
        { ...ofAll, outcome: 'matched' },
      ],
      [
        { ...ofLarge, outcome: 'zero' },
        { ...ofAll, outcome: 'zero' },
      ],
    ]);
  });

  it('hides a muted token until the mute ends, only in that server', async () => {
    await pipeline.watch(TREASURY, ALERTS);
    await pipeline.watch(TREASURY, ORCHID_ALERTS, { guildId: ORCHID });
    const ends = pipeline.clock.now() + HOUR;
    for (const token of [USDC, 'native'] as const) await pipeline.store.subscriptions.muteToken(HARBOR, token, ends);
    await pipeline.pay(1);
    await pipeline.pay(2, { tokenAddress: null, tokenType: 'COIN' });
    await pipeline.routed();
    pipeline.clock.advance(HOUR);
    await pipeline.payAndWait(3);
    expect(pipeline.numbers(ALERTS)).toEqual(['3']);
    expect(pipeline.numbers(ORCHID_ALERTS)).toHaveLength(3);
    expect((await pipeline.outcomes()).filter((outcome) => outcome !== 'matched')).toEqual([
      'token-muted',
      'token-muted',
    ]);
  });
});

it('routes the events of a server’s own project to that server only, and the operator’s to all others', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  await pipeline.watch(TREASURY, ORCHID_ALERTS, { guildId: ORCHID });
  const project = { guildId: ORCHID, projectId: 'p', sealed: Buffer.alloc(0) };
  const scope = await pipeline.store.projects.save(project, 'token');
  await pipeline.pay(1);
  await pipeline.pay(2, {}, scope);
  await pipeline.pay(3, {}, scope + 1);
  await pipeline.idle();
  expect(pipeline.numbers(ALERTS)).toEqual(['1']);
  expect(pipeline.numbers(ORCHID_ALERTS)).toEqual(['2']);
  expect(await pipeline.outcomes()).toEqual(['matched', 'matched']);
});

it('records when the address of a subscription last moved', async () => {
  const id = await pipeline.watch(TREASURY, ALERTS, { direction: 'outgoing' });
  await pipeline.pay(1);
  await pipeline.routed();
  const first = pipeline.clock.now();
  expect(await pipeline.store.subscriptions.get(HARBOR, id)).toMatchObject({ lastEventAt: first });
  pipeline.clock.advance(HOUR);
  await pipeline.pay(1);
  await pipeline.routed();
  expect(await pipeline.store.subscriptions.get(HARBOR, id)).toMatchObject({ lastEventAt: first + HOUR });
});

it('stores a delivery with the watcher that its body names, and when it last came', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  const event = payment({ projectId: 'theirs', direction: null, addressType: 'Token-Address' });
  await pipeline.receive(event);
  await pipeline.routed();
  pipeline.clock.advance(MINUTE);
  await pipeline.receive(event);
  await pipeline.routed();
  const [history] = await pipeline.histories();
  expect(history!.deliveries).toMatchObject([
    { projectId: 'theirs', addressType: 'token', direction: null, received: 2, lastAt: pipeline.clock.now() },
  ]);
});
