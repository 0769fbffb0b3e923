import { beforeEach, describe, expect, it } from 'vitest';
import type { DeliveryIdentity } from '../../src/domain/inbox.ts';
import { ALERTS, payment, TREASURY } from '../pipeline/harness.ts';
import { pipeline, usePipeline } from '../pipeline/per-test.ts';

beforeEach(async () => {
  await usePipeline({
    environment: {
      NOTIFICATION_PROJECT_ID: 'the-operator',
      NOTIFICATION_API_KEY: 'key',
      NOTIFICATION_API_SECRET: 'secret',
    },
  });
  await pipeline.watch(TREASURY, ALERTS);
});

const titles = () => pipeline.alerts(ALERTS).map(({ title }) => title);
const at = (id: string, place: string): DeliveryIdentity => ({ id, chainId: '100', place });
const event = payment({ projectId: 'the-operator' });

describe('signed deliveries', () => {
  it('shows equal signed transfers of one transaction as ×2, however far apart they come', async () => {
    await pipeline.receive(event, 0, at('a', 'log:1'));
    await pipeline.untilShown(ALERTS, 1);
    await pipeline.pass(600_000);
    await pipeline.receive(event, 0, at('b', 'log:2'));
    await pipeline.turnUntil('the alert counts 2 transfers', () => titles()[0]!.includes('×2'));
    expect(titles()).toHaveLength(1);
  });

  it('shows repeats of signed deliveries within a second, and after a restart, as one transfer', async () => {
    for (const id of ['a', 'a', 'replayed']) await pipeline.receive(event, 0, at(id, 'log:1'));
    await pipeline.untilShown(ALERTS, 1);
    await pipeline.restart();
    await pipeline.receive(event, 0, at('a', 'log:1'));
    await pipeline.routed();
    const [history] = await pipeline.histories();
    expect(history!.count).toBe(1);
    expect(history!.deliveries.map(({ received }) => received)).toEqual([4]);
  });
});

describe('the project that a body names', () => {
  it('shows a warning on an alert whose body names a project other than the configured one', async () => {
    await pipeline.receive(payment({ projectId: 'somebody-else' }));
    await pipeline.untilShown(ALERTS, 1);
    expect(titles()[0]).toMatch(/^⚠️ /);
    expect(pipeline.alerts(ALERTS)[0]!.text).toContain('This event names another project, `somebody-else`.');
  });

  it.each([{ projectId: 'the-operator' }, { projectId: null }])(
    'shows no warning for the project %j',
    async (named) => {
      await pipeline.receive(payment(named));
      await pipeline.untilShown(ALERTS, 1);
      expect(titles()[0]).not.toContain('⚠️');
    },
  );
});
