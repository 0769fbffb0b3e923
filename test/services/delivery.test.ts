import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/clock.ts';
import { connect } from '../../services/chain/nodes.ts';
import { openNotification } from '../../services/notification/service.ts';
import { openStore } from '../../services/notification/store/index.ts';
import type { DeliveryProgress } from '../../services/notification/types.ts';
import { type Harness, startHarness, surroundings } from './harness.ts';
import { startLimitedNode } from './limited-node.ts';
import { newDelivery, WEBHOOK } from './new-delivery.ts';
import { startReceiver } from './receiver.ts';

const here = surroundings({ scripted: true });
let services: Harness;

beforeEach(async () => {
  services = await startHarness({ rpcUrl: here.chain.rpcUrl, dir: here.dir });
});
afterEach(() => services.close());

const settled = ({ type }: DeliveryProgress) => type === 'scheduled' || type === 'ended';

/** Mines a transfer to Treasury and scans it; resolves with what came after the first attempt. */
async function mineOne(amount?: bigint): Promise<DeliveryProgress> {
  const after = services.step(settled);
  let matched = 0;
  const stop = services.notification.onProgress(({ type }) => type === 'matched' && matched++);
  await here.chain.transfer({
    kind: 'native',
    from: 'Alice',
    to: 'Treasury',
    ...(amount === undefined ? {} : { amount }),
  });
  await services.notification.scan();
  stop();
  expect(matched).toBe(1);
  return await after;
}

/** Where each attempt from now on is noted, by its time. */
function attemptsFromNow(): number[] {
  const attempts: number[] = [];
  services.notification.onProgress(({ type, at }) => type === 'attempted' && attempts.push(at));
  return attempts;
}

/** Resolves when the last response was handled and the next timer is set. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

it.each([201, 204, 302, 404, 500])('retries a delivery after a response with status %i', async (status) => {
  here.receiver.answer(status);
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  expect(await mineOne()).toMatchObject({ type: 'scheduled', reason: 'retry' });
});

it('retries a failed delivery on schedule with the same bytes, seven attempts in all', async () => {
  here.receiver.answer(500);
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  const attempts = attemptsFromNow();
  let outcome = await mineOne();
  const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000] as const;
  for (const delay of [15 * second, minute, 10 * minute, hour, day, day]) {
    const dueAt = services.clock.now() + delay;
    expect(outcome).toMatchObject({ type: 'scheduled', reason: 'retry', dueAt });
    await turn();
    const after = services.step(settled);
    services.clock.advance(delay);
    expect(attempts.at(-1)).toBe(dueAt);
    outcome = await after;
  }
  expect(outcome).toMatchObject({ type: 'ended', outcome: 'exhausted' });
  services.clock.advance(30 * day);
  expect(new Set(here.receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(here.receiver.received).toHaveLength(7);
  expect(services.notification.pending()).toBe(0);
});

it('ends a delivery that succeeds on a retry', async () => {
  here.receiver.answer(503);
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  await mineOne();
  here.receiver.answer(200);
  const after = services.step(settled);
  services.clock.advance(15_000);
  expect(await after).toMatchObject({ type: 'ended', outcome: 'delivered' });
  expect(services.notification.pending()).toBe(0);
});

it('sends waiting retries at once with deliverNow', async () => {
  here.receiver.answer(503);
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  await mineOne();
  here.receiver.answer(200);
  const after = services.step(settled);
  services.notification.deliverNow();
  expect(await after).toMatchObject({ type: 'ended', outcome: 'delivered' });
});

it('gives a receiver 3 s to respond before the attempt fails', async () => {
  here.receiver.answer(null);
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  const inTime = mineOne();
  await here.receiver.until(1);
  services.clock.advance(2_999);
  here.receiver.release(200);
  expect(await inTime).toMatchObject({ type: 'ended', outcome: 'delivered' });

  const late = mineOne();
  await here.receiver.until(2);
  const answered = services.step(({ type }) => type === 'answered');
  services.clock.advance(3_000);
  here.receiver.release(200);
  expect(await answered).toMatchObject({ status: null, error: 'no response within 3000 ms' });
  expect(await late).toMatchObject({ type: 'scheduled', dueAt: services.clock.now() + 15_000 });
});

it('delivers to other receivers while one hangs or is gone', async () => {
  const healthy = await startReceiver();
  here.receiver.answer(null);
  const webhooks = new Set<string>();
  for (const url of [here.receiver.url, 'http://127.0.0.1:1/gone', healthy.url]) {
    webhooks.add(await services.watch(url, [here.chain.wallets.Treasury]));
  }
  const attempted = new Set<string>();
  services.notification.onProgress(({ type, webhookId }) => type === 'attempted' && attempted.add(webhookId));
  await here.chain.burst(10, { from: 'Alice', to: 'Treasury' });
  await services.notification.scan();
  expect(attempted).toEqual(webhooks);
  expect(await healthy.until(10)).toHaveLength(10);
  expect(here.receiver.received.length).toBeLessThanOrEqual(1);
  await healthy.close();
  here.receiver.answer(200);
  await here.receiver.until(1);
  const answered = services.step(({ type }) => type === 'answered');
  services.clock.advance(3_000);
  await answered;
});

it('sends a user and password in the URL as credentials', async () => {
  await services.watch(here.receiver.url.replace('//', '//harbor:p%40ss@'), [here.chain.wallets.Treasury]);
  await mineOne(1n);
  const authorization = `Basic ${Buffer.from('harbor:p@ss').toString('base64')}`;
  expect(here.receiver.received).toMatchObject([{ authorization }]);
});

it('sends the newest events first', async () => {
  services.notification.setFaults({ paused: true });
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  for (const amount of [1n, 2n, 3n])
    await here.chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount });
  await services.notification.scan();
  expect(here.receiver.received).toHaveLength(0);
  services.notification.setFaults({ paused: false });
  await services.sent();
  expect(here.receiver.received.map(({ body }) => JSON.parse(body).value)).toEqual(['3', '2', '1']);
});

it('reports every step of a delivery in order', async () => {
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  const steps: string[] = [];
  services.notification.onProgress(({ type }) => steps.push(type));
  expect(await mineOne()).toMatchObject({ type: 'ended', outcome: 'delivered', blockNumber: expect.any(Number) });
  expect(steps).toEqual(['matched', 'attempted', 'answered', 'ended']);
});

it('repeats and delays deliveries on request', async () => {
  services.notification.setFaults({ repeat: 2, repeatAfterMs: 20_000, delayMs: 5_000 });
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  const attempts = attemptsFromNow();
  const begun = services.clock.now();
  const first = mineOne();
  await services.step(({ type }) => type === 'matched');
  await turn();
  services.clock.advance(5_000);
  expect(attempts).toEqual([begun + 5_000]);
  expect(await first).toMatchObject({ type: 'scheduled', reason: 'repeat', dueAt: begun + 25_000 });
  for (const type of ['scheduled', 'ended']) {
    await turn();
    const after = services.step(settled);
    services.clock.advance(20_000);
    expect(attempts.at(-1)).toBe(services.clock.now());
    expect(await after).toMatchObject({ type });
  }
  expect(here.receiver.received).toHaveLength(3);
  expect(new Set(here.receiver.received.map(({ body }) => body)).size).toBe(1);
});

it('sends deliveries in random order on request', async () => {
  services.notification.setFaults({ paused: true, reorder: true });
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  const mined = await here.chain.burst(40, { from: 'Alice', to: 'Treasury' });
  await services.notification.scan();
  services.notification.setFaults({ paused: false });
  await services.sent();
  const order = here.receiver.received.map(({ body }) => JSON.parse(body).txHash);
  const newestFirst = mined.map(({ hash }) => hash).reverse();
  expect(order).not.toEqual(newestFirst);
  expect(order).toHaveLength(40);
  expect(new Set(order)).toEqual(new Set(newestFirst));
});

it('loses and repeats nothing over a restart', async () => {
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  here.receiver.answer(500);
  await mineOne(1n);
  await services.close();
  await here.chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount: 2n });
  here.receiver.answer(200);

  services = await startHarness({ rpcUrl: here.chain.rpcUrl, dir: here.dir });
  if (services.notification.pending() > 1) await services.step(settled);
  services.clock.advance(15_000);
  await services.sent();
  expect(here.receiver.received.map(({ body }) => JSON.parse(body).value)).toEqual(['1', '2', '1']);
  await services.close();

  services = await startHarness({ rpcUrl: here.chain.rpcUrl, dir: here.dir });
  expect(services.notification.pending()).toBe(0);
  const { body } = await services.call('GET', '/webhooks/harbor');
  expect(body).toHaveLength(1);
});

it('refuses a second process on the same folder with a clear message', async () => {
  await expect(startHarness({ rpcUrl: here.chain.rpcUrl, dir: here.dir })).rejects.toThrow(
    /Another process is using .*sqlite/,
  );
});

it('reports a block to other webhooks when one is deleted while the block is read', async () => {
  const node = await startLimitedNode(here.chain.rpcUrl, []);
  await services.close();
  services = await startHarness({ rpcUrl: node.url, dir: here.dir });
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  const deleted = await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  node.change('eth_getBlockReceipts', async (receipt) => {
    await services.call('DELETE', `/webhook/${deleted}`);
    return receipt;
  });
  await here.chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury' });
  await services.notification.scan();
  await services.sent();
  expect(here.receiver.received).toHaveLength(1);
  await node.close();
});

it('sends the delivery that fell due last first, and later ranks after earlier ones', () => {
  const store = openStore(`${here.dir}/order`);
  const { id: webhookId } = store.webhooks.create(WEBHOOK);
  const ranks = [0, 0, 0, 0, 1, 2];
  const due = [4, 3, 4, 10, 5, 5].map((dueAt, at) => newDelivery(webhookId, String(at), { dueAt, rank: ranks[at]! }));
  const ids = store.deliveries.keep(due).map(({ id }) => id);
  const order = [0, 1, 2, 3, 4, 5].map((skip) => store.deliveries.nextDue(webhookId, 5, { skip })?.id);
  expect(order).toEqual([ids[2], ids[0], ids[1], ids[4], ids[5], undefined]);
  expect(store.deliveries.nextDue(webhookId, 5, { except: [ids[2]!] })?.id).toBe(ids[0]);
  expect(store.deliveries.dueWebhooks()).toEqual([{ webhookId, dueAt: 3 }]);
  expect(store.deliveries.nextDueAt(webhookId)).toBe(3);
  store.close();
});

it('gives up the oldest deliveries of a receiver that never responds, after twice the schedule', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => lines.push(line) });
  await services.close();
  services = await startHarness({ rpcUrl: here.chain.rpcUrl, dir: here.dir, log });
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  here.receiver.answer(null);
  const attempt = async (count: number, ms: number) => {
    await here.receiver.until(count);
    const after = services.step(settled);
    services.clock.advance(ms);
    await after;
  };
  await here.chain.burst(3, { from: 'Alice', to: 'Treasury' });
  await services.notification.scan();
  await attempt(1, 3_000);
  await here.chain.burst(2, { from: 'Alice', to: 'Treasury' });
  await services.notification.scan();
  const twice = 2 * (15_000 + 60_000 + 600_000 + 3_600_000 + 2 * 86_400_000);
  await attempt(2, twice - 3_000);
  expect(services.notification.pending()).toBe(5);
  await attempt(3, 3_000);
  await here.receiver.until(4);
  expect(services.notification.pending()).toBe(2);
  expect(JSON.parse(lines[0]!)).toMatchObject({ count: 3, msg: expect.stringContaining('given up') });
  here.receiver.answer(200);
  services.clock.advance(3_000);
});

it('keeps the deliveries of a receiver that accepted one in between', async () => {
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  here.receiver.answer(null);
  await here.chain.burst(3, { from: 'Alice', to: 'Treasury' });
  await services.notification.scan();
  const ends = [
    () => services.clock.advance(3_000),
    () => here.receiver.release(200),
    () => services.clock.advance(3 * 86_400_000),
    () => services.clock.advance(3 * 86_400_000),
  ];
  for (const [index, end] of ends.entries()) {
    await here.receiver.until(index + 1);
    const after = services.step(settled);
    end();
    await after;
  }
  expect(services.notification.pending()).toBe(2);
  await here.receiver.until(5);
  here.receiver.answer(200);
  services.clock.advance(3_000);
});

it('waits for the current attempt when it stops, and starts no other', async () => {
  await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
  const attempts = attemptsFromNow();
  here.receiver.answer(null);
  await here.chain.burst(2, { from: 'Alice', to: 'Treasury' });
  await services.notification.scan();
  await here.receiver.until(1);
  const closed = services.close();
  await turn();
  here.receiver.answer(200);
  here.receiver.release(200);
  await closed;
  expect(attempts).toHaveLength(1);
  const store = openStore(here.dir);
  expect(store.deliveries.countPending()).toBe(1);
  store.close();
});

it('survives a database that fails while due deliveries are read', () => {
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => lines.push(line) });
  const clock = createManualClock();
  const node = connect(here.chain.rpcUrl);
  const notification = openNotification({
    node,
    dir: `${here.dir}/failing`,
    clock,
    log,
    style: { nativeSymbol: 'NATIVE', strict: false },
    pollMs: 1000,
    webhookAllow: ['127.0.0.1'],
    secretsOf: () => [],
    isServed: () => true,
    onAttempt: () => undefined,
  });
  notification.store.close();
  expect(() => notification.setFaults({})).not.toThrow();
  clock.advance(5_000);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('cannot read or store deliveries');
  node.close();
});
