import { describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/domain/clock.ts';
import type { SeenTransfer } from '../../src/domain/identity.ts';
import { ALERTS, ALICE, HARBOR, MESSAGES, OTHER_BLOCK, payment, TREASURY, USDC, WHALES } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest } from '../pipeline/per-test.ts';
import { rewriteQuarantine } from '../store/sqlite/database-file.ts';

pipelineForEachTest();

const titles = (channel: string) => pipeline.alerts(channel).map(({ title }) => title);
/** Expects this many alerts in #alerts. A later transfer proves that nothing else is on its way. */
async function expectOnly(count: number): Promise<void> {
  await pipeline.routed();
  await pipeline.receive(payment({ value: '999000000' }));
  await pipeline.turnUntil('#alerts shows the last transfer', () =>
    titles(ALERTS).some((title) => title.includes('999')),
  );
  expect(titles(ALERTS)).toHaveLength(count + 1);
}

const event = payment();
const BODIES = [
  { ...event, direction: null, addressType: 'Token' },
  { ...event, direction: 'incoming' },
  { ...event, direction: 'outgoing', projectId: 'another webhook' },
];

describe('repeated deliveries', () => {
  it.each([
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ])(
    'posts one alert with every match whichever of a transfer’s three bodies comes first (%i %i %i)',
    async (...order) => {
      await pipeline.watch(TREASURY, ALERTS, { label: 'Treasury' });
      await pipeline.watch(ALICE, ALERTS, { label: 'Alice' });
      await pipeline.watch(USDC, ALERTS, { label: 'Dollars' });
      await pipeline.watch(TREASURY, WHALES);
      for (const index of order) {
        await pipeline.receive(BODIES[index]!);
        pipeline.clock.advance(30_000);
      }
      await pipeline.untilShown(WHALES, 1);
      await pipeline.routed();
      // It is one transfer, and its block did not change.
      const histories = await pipeline.histories();
      expect(histories).toMatchObject([{ count: 1, reorganized: false }]);
      expect(histories[0]!.deliveries.map(({ received }) => received)).toEqual([1, 1, 1]);
      await expectOnly(1);
      const [alert] = pipeline.alerts(ALERTS);
      expect(alert!.title).toBe('🔁 Alice → Treasury 5 `USDC`');
    },
  );

  it('does not show a repeat that comes when a retry would, or just after a restart', async () => {
    await pipeline.watch(TREASURY, ALERTS);
    await pipeline.receive(event);
    await pipeline.untilShown(ALERTS, 1);
    for (const wait of [15 * SECOND, MINUTE, 10 * MINUTE, HOUR, DAY]) {
      pipeline.clock.advance(wait);
      await pipeline.receive(event);
      await pipeline.routed();
    }
    await pipeline.restart();
    await pipeline.receive(event);
    await expectOnly(1);
    expect(titles(ALERTS)[0]).not.toContain('×');
  });

  it('recognizes a repeat after 29 days, and posts it again after 30', async () => {
    await pipeline.watch(TREASURY, ALERTS);
    const old = payment({ value: '7000000' });
    await pipeline.receive(old);
    await pipeline.untilShown(ALERTS, 1);
    pipeline.jump(29 * DAY);
    await pipeline.prune();
    await pipeline.receive(old);
    await expectOnly(1);
    pipeline.jump(2 * DAY);
    await pipeline.prune();
    await pipeline.receive(old);
    await pipeline.untilShown(ALERTS, 3);
    expect(titles(ALERTS).filter((title) => title.includes('+7 '))).toHaveLength(2);
  });
});

describe('the block of a transfer', () => {
  it('updates the alert to a new block, and keeps that when a delivery or a twin of the abandoned one comes again', async () => {
    await pipeline.watch(TREASURY, ALERTS);
    await pipeline.receive(event);
    await pipeline.untilShown(ALERTS, 1);
    await pipeline.receive({ ...event, ...OTHER_BLOCK });
    pipeline.clock.advance(15_000);
    await pipeline.receive(event);
    await pipeline.turnUntil('#alerts shows that the transfer is now in another block', () =>
      pipeline.alerts(ALERTS).some(({ text }) => text.includes('now in block')),
    );
    for (const direction of ['outgoing', null]) await pipeline.receive({ ...event, direction });
    await pipeline.pass(MINUTE);
    expect(pipeline.alerts(ALERTS)[0]!.text).toContain('now in block 777,777');
    await expectOnly(1);
  });

  it('keeps the newest block when a delivery of any recently abandoned one arrives', async () => {
    await pipeline.watch(TREASURY, ALERTS);
    const block = (n: number) => ({
      ...event,
      blockHash: `0x${n.toString(16).padStart(64, '0')}`,
      blockNumber: 1_000 + n,
    });
    for (let n = 1; n <= 12; n++) await pipeline.receive(block(n));
    for (const n of [11, 5, 4, 8]) await pipeline.receive({ ...block(n), direction: 'outgoing' });
    await pipeline.routed();
    const [history] = await pipeline.histories();
    const { blockNumber, leftBlocks = [] } = history!.transfer as SeenTransfer['transfer'];
    expect([blockNumber, ...leftBlocks.map(Number)]).toEqual([1_012, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('learns a block from another body if the first one had none, without showing a reorganization', async () => {
    await pipeline.watch(TREASURY, ALERTS, { digest: 'hourly' });
    await pipeline.store.guilds.changeSettings(HARBOR, { style: 'full' });
    await pipeline.receive({ ...event, blockHash: null, blockNumber: null });
    await pipeline.receive({ ...event, direction: 'outgoing' });
    await pipeline.turnUntil('#alerts shows an alert', () => pipeline.alerts(ALERTS).length > 0, 3_700);
    expect(pipeline.alerts(ALERTS)[0]!.text).toContain(`Block ${Number(event.blockNumber).toLocaleString('en-US')} ·`);
    expect(pipeline.alerts(ALERTS)[0]!.text).not.toContain('reorganized');
  });
});

describe('two equal transfers in one transaction', () => {
  it('shows two equal transfers as one alert with ×2, which is edited if it was already sent', async () => {
    await pipeline.watch(TREASURY, ALERTS);
    await pipeline.receive(event);
    await pipeline.untilShown(ALERTS, 1);
    pipeline.clock.advance(2_000);
    await pipeline.receive(event);
    await pipeline.turnUntil('the alert counts 2 transfers', () => titles(ALERTS)[0]!.includes('×2'));
    // Both come again because their responses were lost: there are still two.
    pipeline.clock.advance(20_000);
    await pipeline.receive(event);
    await pipeline.receive(event);
    await expectOnly(1);
    expect(titles(ALERTS)[0]).toContain('×2');
  });

  it('shows ×2 from the start if both equal transfers came before the alert was sent', async () => {
    await pipeline.watch(TREASURY, ALERTS);
    pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, path: MESSAGES, times: 1 });
    await pipeline.receive(payment({ value: '1' }));
    await pipeline.routed();
    await pipeline.receive(event);
    await pipeline.receive(event);
    await pipeline.turnUntil('an alert counts 2 transfers', () => titles(ALERTS).some((title) => title.includes('×2')));
    await expectOnly(2);
  });
});

it('judges replayed deliveries by when they arrived: two equal transfers, and a retry', async () => {
  await pipeline.watch(TREASURY, ALERTS);
  const [equal, repeated] = [payment({ value: '1' }), payment({ value: '2' })];
  const deliveries: [body: object, afterMs: number][] = [
    [equal, 0],
    [repeated, 0],
    [equal, 100],
    [repeated, 16_000],
  ];
  // These bytes cannot be parsed until they are rewritten.
  for (const [body, ms] of deliveries) {
    pipeline.clock.advance(ms);
    await pipeline.receive(`not yet ${JSON.stringify(body)}`);
  }
  await pipeline.routed();
  rewriteQuarantine(pipeline.file, (body) => body.toString().replace('not yet ', ''));
  pipeline.clock.advance(HOUR);
  const { quarantine } = pipeline.store;
  const ids = (await quarantine.list()).map(({ id }) => id);
  expect(await quarantine.replay(ids)).toBe(deliveries.length);
  pipeline.app.internals.working().router.wake();
  await pipeline.pay(7);
  await expectOnly(3);
  const histories = (await pipeline.histories()).slice(0, 2);
  expect(histories.map(({ count, ...history }) => [count, history.deliveries.map(({ received }) => received)])).toEqual(
    [
      [2, [2]],
      [1, [2]],
    ],
  );
});
