import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { RunningNotification } from '../../services/notification/service.ts';
import { openStore } from '../../services/notification/store/index.ts';
import type { DeliveryProgress, Faults } from '../../services/notification/types.ts';
import { limitedSurroundings, startHarness } from './harness.ts';
import { startReceiver } from './receiver.ts';

const here = limitedSurroundings();
const { pay, scan } = here;

const settled = ({ type }: DeliveryProgress) => type === 'scheduled' || type === 'ended';

/** Mines a transfer to Treasury and scans it; resolves with what came after the first attempt. */
async function mineOne(amount = 1n): Promise<DeliveryProgress> {
  const after = here.services.step(settled);
  let matched = 0;
  const stop = here.services.notification.onProgress(({ type }) => type === 'matched' && matched++);
  await pay(amount);
  await scan();
  stop();
  expect(matched).toBe(1);
  return await after;
}

function attemptsFromNow(): number[] {
  const attempts: number[] = [];
  here.services.notification.onProgress(({ type, at }) => type === 'attempted' && attempts.push(at));
  return attempts;
}

/** Resolves when the last response was handled and the next timer is set. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

it.each([201, 204, 302, 404, 500])('retries a delivery after a response with status %i', async (status) => {
  here.receiver.answer(status);
  expect(await mineOne()).toMatchObject({ type: 'scheduled', reason: 'retry' });
});

it('retries a failed delivery on schedule with the same bytes and id, seven attempts in all', async () => {
  here.receiver.answer(500);
  const attempts = attemptsFromNow();
  let outcome = await mineOne();
  const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000] as const;
  for (const delay of [15 * second, minute, 10 * minute, hour, day, day]) {
    const dueAt = here.services.clock.now() + delay;
    expect(outcome).toMatchObject({ type: 'scheduled', reason: 'retry', dueAt });
    await turn();
    const after = here.services.step(settled);
    here.advance(delay);
    expect(attempts.at(-1)).toBe(dueAt);
    outcome = await after;
  }
  expect(outcome).toMatchObject({ type: 'ended', outcome: 'exhausted' });
  here.advance(30 * day);
  const { received } = here.receiver;
  expect(new Set(received.map(({ body, headers }) => `${String(headers['webhook-id'])} ${body}`)).size).toBe(1);
  expect(received.map(({ headers }) => headers['ledgerbell-attempt'])).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  expect(here.services.notification.pending()).toBe(0);
});

it('sends waiting retries at once with deliverNow', async () => {
  here.receiver.answer(503);
  await mineOne();
  here.receiver.answer(200);
  const after = here.services.step(settled);
  here.services.notification.deliverNow();
  expect(await after).toMatchObject({ type: 'ended', outcome: 'delivered' });
});

it('gives a receiver 3 s to respond before the attempt fails', async () => {
  here.receiver.answer(null);
  const inTime = mineOne();
  await here.receiver.until(1);
  here.advance(2_999);
  here.receiver.release(200);
  expect(await inTime).toMatchObject({ type: 'ended', outcome: 'delivered' });

  const late = mineOne();
  await here.receiver.until(2);
  const answered = here.services.step(({ type }) => type === 'answered');
  here.advance(3_000);
  here.receiver.release(200);
  expect(await answered).toMatchObject({ status: null, error: 'no response within 3000 ms' });
  expect(await late).toMatchObject({ type: 'scheduled', dueAt: here.services.clock.now() + 15_000 });
});

it('delivers to other receivers while one hangs or is gone', async () => {
  const healthy = await startReceiver();
  here.receiver.answer(null);
  const webhooks = new Set([here.webhookId]);
  for (const url of ['http://127.0.0.1:1/gone', healthy.url]) {
    webhooks.add(await here.services.watch(url, [here.chain.wallets.Treasury]));
  }
  const attempted = new Set<string>();
  here.services.notification.onProgress(({ type, webhookId }) => type === 'attempted' && attempted.add(webhookId));
  await here.chain.burst(10, { from: 'Alice', to: 'Treasury' });
  await scan();
  expect(attempted).toEqual(webhooks);
  expect(await healthy.until(10)).toHaveLength(10);
  expect(here.receiver.received.length).toBeLessThanOrEqual(1);
  await healthy.close();
  here.receiver.answer(200);
  await here.receiver.until(1);
  const answered = here.services.step(({ type }) => type === 'answered');
  here.advance(3_000);
  await answered;
});

it('sends a user and password in the URL as credentials', async () => {
  const webhookUrl = here.receiver.url.replace('//', '//harbor:p%40ss@');
  await here.call('PUT', '/webhook', { webhookId: here.webhookId, webhookUrl });
  await mineOne(1n);
  const authorization = `Basic ${Buffer.from('harbor:p@ss').toString('base64')}`;
  expect(here.receiver.received).toMatchObject([{ headers: { authorization } }]);
});

it('sends the newest events first', async () => {
  here.services.notification.setFaults({ paused: true });
  for (const amount of [1n, 2n, 3n]) await pay(amount);
  await scan();
  expect(here.receiver.received).toHaveLength(0);
  here.services.notification.setFaults({ paused: false });
  await here.services.sent();
  expect(here.receiver.events().map(({ value }) => value)).toEqual(['3', '2', '1']);
});

it('reports every step of a delivery in order', async () => {
  const steps: string[] = [];
  here.services.notification.onProgress(({ type }) => steps.push(type));
  expect(await mineOne()).toMatchObject({ type: 'ended', outcome: 'delivered', blockNumber: expect.any(Number) });
  expect(steps).toEqual(['matched', 'attempted', 'answered', 'ended']);
});

it('repeats and delays deliveries on request', async () => {
  here.services.notification.setFaults({ repeat: 2, repeatAfterMs: 20_000, delayMs: 5_000 });
  const attempts = attemptsFromNow();
  const begun = here.services.clock.now();
  const first = mineOne();
  await here.services.step(({ type }) => type === 'matched');
  await turn();
  here.advance(5_000);
  expect(attempts).toEqual([begun + 5_000]);
  expect(await first).toMatchObject({ type: 'scheduled', reason: 'repeat', dueAt: begun + 25_000 });
  for (const type of ['scheduled', 'ended']) {
    await turn();
    const after = here.services.step(settled);
    here.advance(20_000);
    expect(attempts.at(-1)).toBe(here.services.clock.now());
    expect(await after).toMatchObject({ type });
  }
  expect(here.receiver.received).toHaveLength(3);
  expect(new Set(here.receiver.received.map(({ body }) => body)).size).toBe(1);
});

it('loses and invents events on request', async () => {
  const hashes = async (faults: Partial<Faults>) => {
    here.services.notification.setFaults(faults);
    const mined = await here.chain.burst(6, { from: 'Alice', to: 'Treasury' });
    await scan();
    await here.services.sent();
    const sent = here.receiver.events().map(({ txHash }) => txHash);
    here.receiver.received.length = 0;
    const real = mined.map(({ hash }) => hash).filter((hash) => sent.includes(hash));
    return { real: real.length, invented: new Set(sent).size - real.length };
  };
  expect(await hashes({ invent: true })).toEqual({ real: 6, invented: 2 });
  expect(await hashes({ lose: true })).toEqual({ real: 0, invented: 2 });
  expect(await hashes({ invent: false })).toEqual({ real: 0, invented: 0 });
});

it('sends deliveries in random order on request', async () => {
  here.services.notification.setFaults({ paused: true, reorder: true });
  const mined = await here.chain.burst(40, { from: 'Alice', to: 'Treasury' });
  await scan();
  here.services.notification.setFaults({ paused: false });
  await here.services.sent();
  const order = here.receiver.events().map(({ txHash }) => txHash);
  const newestFirst = mined.map(({ hash }) => hash).reverse();
  expect(order).not.toEqual(newestFirst);
  expect(order).toHaveLength(40);
  expect(new Set(order)).toEqual(new Set(newestFirst));
});

it('loses and repeats nothing over a restart', async () => {
  here.receiver.answer(500);
  await mineOne(1n);
  await here.services.close();
  await pay(2n);
  here.receiver.answer(200);

  await here.restart();
  if (here.services.notification.pending() > 1) await here.services.step(settled);
  here.advance(15_000);
  await here.services.sent();
  expect(here.receiver.events().map(({ value }) => value)).toEqual(['1', '2', '1']);
  await here.restart();
  expect(here.services.notification.pending()).toBe(0);
  const { body } = await here.call('GET', '/webhooks/harbor');
  expect(body).toHaveLength(1);
});

it('refuses a second process on the same folder with a clear message', async () => {
  await expect(startHarness({ rpcUrl: here.chain.rpcUrl, dir: here.dir })).rejects.toThrow(
    /Another process is using .*sqlite/,
  );
});

it('reports a block to other webhooks when one is deleted while the block is read', async () => {
  const deleted = await here.watch();
  here.node.change('trace_block', async (traces) => {
    await here.call('DELETE', `/webhook/${deleted}`);
    return traces;
  });
  await pay(1n);
  await scan();
  await here.services.sent();
  expect(here.receiver.received).toHaveLength(1);
});

it('gives up the oldest deliveries of a receiver that never responds, after twice the schedule', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => lines.push(line) });
  await here.restart({ log });
  here.receiver.answer(null);
  const attempt = async (count: number, ms: number) => {
    await here.receiver.until(count);
    const after = here.services.step(settled);
    here.advance(ms);
    await after;
  };
  await here.chain.burst(3, { from: 'Alice', to: 'Treasury' });
  await scan();
  await attempt(1, 3_000);
  await here.chain.burst(2, { from: 'Alice', to: 'Treasury' });
  await scan();
  const twice = 2 * (15_000 + 60_000 + 600_000 + 3_600_000 + 2 * 86_400_000);
  await attempt(2, twice - 3_000);
  expect(here.services.notification.pending()).toBe(5);
  await attempt(3, 3_000);
  await here.receiver.until(4);
  expect(here.services.notification.pending()).toBe(2);
  expect(JSON.parse(lines[0]!)).toMatchObject({ count: 3, msg: expect.stringContaining('given up') });
  here.receiver.answer(200);
  here.advance(3_000);
});

it('keeps the deliveries of a receiver that accepted one in between', async () => {
  here.receiver.answer(null);
  await here.chain.burst(3, { from: 'Alice', to: 'Treasury' });
  await scan();
  const ends = [
    () => here.advance(3_000),
    () => here.receiver.release(200),
    () => here.advance(3 * 86_400_000),
    () => here.advance(3 * 86_400_000),
  ];
  for (const [index, end] of ends.entries()) {
    await here.receiver.until(index + 1);
    const after = here.services.step(settled);
    end();
    await after;
  }
  expect(here.services.notification.pending()).toBe(2);
  await here.receiver.until(5);
  here.receiver.answer(200);
  here.advance(3_000);
});

it('waits for the current attempt when it stops, and starts no other', async () => {
  const attempts = attemptsFromNow();
  here.receiver.answer(null);
  await here.chain.burst(2, { from: 'Alice', to: 'Treasury' });
  await scan();
  await here.receiver.until(1);
  const closed = here.services.close();
  await turn();
  here.receiver.answer(200);
  here.receiver.release(200);
  await closed;
  expect(attempts).toHaveLength(1);
  const store = openStore(here.dir);
  expect(store.deliveries.countPending()).toBe(1);
  store.close();
});

it('survives a database that fails while due deliveries are read', async () => {
  const lines: string[] = [];
  await here.restart({ log: pino({ level: 'error' }, { write: (line) => lines.push(line) }), pollMs: 600_000 });
  const notification = here.services.notification as RunningNotification;
  notification.store.close();
  expect(() => notification.setFaults({})).not.toThrow();
  here.advance(5_000);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('cannot read or store deliveries');
});
