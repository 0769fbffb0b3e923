import { request } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import { DAY, HOUR, MINUTE } from '../../src/domain/clock.ts';
import { readLog } from '../app.ts';
import { ALERTS, HARBOR, openPipeline, payment, startPipeline, TREASURY, USDC } from '../pipeline/harness.ts';
import { pipeline, pipelineForEachTest } from '../pipeline/per-test.ts';
import { GUILD, post, send, txHash } from '../store/contract/given.ts';
import { until } from '../until.ts';
import { startUpstream } from '../upstream/server.ts';

pipelineForEachTest();

it('deletes transfers after 35 days', async () => {
  const { store, clock } = pipeline;
  const now = clock.now();
  for (const hours of [-1, 2]) {
    const seenAt = now - 35 * DAY + hours * HOUR;
    await post(store, [hours < 0 ? 1 : 2], { now: seenAt });
    await send(store, {}, seenAt);
  }
  const left = async (n: number) =>
    (await store.history.transfers({ guildId: GUILD, txHash: txHash(n) }, now, 9)).total;
  await pipeline.pass(HOUR, MINUTE);
  await until('the older transfer is deleted', async () => (await left(1)) === 0);
  expect(await left(2)).toBe(1);
});

/** The bot, with an explorer that knows only USDC, after a payment in USDC and one of a token that anybody may have made. */
async function afterDust(environment: Record<string, string> = {}) {
  const upstream = await startUpstream(({ url }) =>
    url!.includes(USDC)
      ? { body: { status: '1', message: 'OK', result: { cataloged: true, symbol: 'USDC', name: 'USD Coin' } } }
      : { body: { status: '0', message: 'Contract address not found', result: null } },
  );
  onTestFinished(upstream.close);
  const bot = await startPipeline({ environment: { EXPLORER_API_URL: upstream.url, ...environment } });
  await bot.watch(TREASURY, ALERTS);
  const dust = payment({ tokenAddress: `0x${'f'.repeat(40)}`, tokenSymbol: 'SPAM' });
  const genuine = payment();
  for (const event of [dust, genuine]) await bot.receive(event);
  await bot.turnUntilSettled();
  const left = async ({ txHash }: Record<string, unknown>) =>
    (await bot.store.history.transfers({ guildId: HARBOR, txHash: txHash as string }, bot.clock.now(), 9)).total;
  const metrics = async () => (await request(`${bot.app.ops}/metrics`)).body.text();
  return { ...bot, left: async () => [await left(dust), await left(genuine)], metrics };
}

it.each([
  ['after 3 days', 'age', {}, 3 * DAY - 2 * HOUR, 4 * HOUR],
  // More than any disk has.
  [
    'after an hour while the disk is almost full',
    'disk',
    { DISK_RESERVE_MB: '999999999' },
    HOUR - 2 * MINUTE,
    4 * MINUTE,
  ],
])('deletes what concerns only uncataloged tokens %s, and counts it', async (_, reason, environment, before, after) => {
  const { left, pass, metrics } = await afterDust(environment);
  await pass(before, HOUR);
  expect(await left()).toEqual([1, 1]);
  await pass(after, MINUTE);
  await until('the worthless transfer is deleted', async () => (await left())[0] === 0);
  expect(await left()).toEqual([0, 1]);
  expect(await metrics()).toContain(`ledgerbell_forgotten_total{reason="${reason}"} 1`);
});

it('does not count an uncataloged token as activity of an address', async () => {
  const { store, pass, receive, routed, clock } = await afterDust();
  const before = clock.now();
  await pass(HOUR, 10 * MINUTE);
  await receive(payment({ tokenAddress: `0x${'f'.repeat(40)}`, tokenSymbol: 'SPAM' }));
  await routed();
  expect((await store.subscriptions.list(HARBOR))[0]!.lastEventAt).toBeLessThanOrEqual(before);
  await receive(payment());
  await routed();
  expect((await store.subscriptions.list(HARBOR))[0]!.lastEventAt).toBeGreaterThan(before);
});

it('deletes entries of the audit log after a year', async () => {
  const { audit } = pipeline.store;
  const now = pipeline.clock.now();
  const entry = { guildId: HARBOR, userId: seed.ada, action: 'label.set', detail: {} };
  for (const days of [366, 364]) await audit.record({ ...entry, at: now - days * DAY });
  await pipeline.pass(HOUR, MINUTE);
  await until('the older entry is deleted', async () => (await audit.page(HARBOR, 0, 9)).total === 1);
  expect((await audit.page(HARBOR, 0, 9)).entries).toMatchObject([{ at: now - 364 * DAY }]);
});

it('logs that an erasure failed, unless it was stopped', async () => {
  const logged: string[] = [];
  const failing = Promise.withResolvers<never>();
  const { close, restart } = await openPipeline({
    log: readLog('warn', (line) => void logged.push((JSON.parse(line) as { msg: string }).msg)),
    store: () => ({ erasure: { begun: () => failing.promise } }),
  });
  // The first start waits for the database, too, but was stopped.
  await restart();
  failing.reject(new Error('The database is closed.'));
  await until('the failure is logged', () => logged.length > 0);
  await close();
  expect(logged).toEqual(['cannot finish erasing a server']);
});
