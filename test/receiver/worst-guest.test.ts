import { expect, it } from 'vitest';
import { OTHER_TOKEN, startReceiver, TOKEN } from './harness.ts';

/** Longer than any busy machine takes, and far below the sender's patience of two days. */
const NEIGHBOR = { timeout: 60_000, interval: 50 };

it('routes a neighbor’s delivery first after a thousand bodies beyond one URL’s quota', async () => {
  const receiver = await startReceiver({ environment: { QUOTA_BURST: '300', QUOTA_RATE: '1' } });
  const flood = Array.from({ length: 1_000 }, (_, n) => receiver.post(`/hooks/${OTHER_TOKEN}`, `{"n":${n}}`));
  const neighbor = await receiver.post(`/hooks/${TOKEN}`, '{"neighbor":true}');
  expect(neighbor.status).toBe(200);
  const statuses = (await Promise.all(flood)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200).length).toBeLessThan(400);
  const bodies = (await receiver.store.inbox.next(2)).map(({ body }) => body);
  expect(bodies).toContain('{"neighbor":true}');
});

it('serves a neighbor’s delivery beside 2,000 idle connections and 100 that send a header slowly', async () => {
  const receiver = await startReceiver();
  const idle = await Promise.all(Array.from({ length: 2_000 }, () => receiver.open()));
  for (const socket of idle.slice(0, 100)) socket.write(`POST /hooks/${OTHER_TOKEN} HTTP/1.1\r\nHost: x\r\nX-Slow: `);
  await expect
    .poll(async () => (await receiver.post(`/hooks/${TOKEN}`, '{}')).status, {
      message: 'the neighbor’s delivery is answered beside idle connections',
      ...NEIGHBOR,
    })
    .toBe(200);
});

it('routes a neighbor’s delivery in the first turn beside bodies of a megabyte at one URL', async () => {
  const receiver = await startReceiver();
  const heavy = `{"x":[${'{"a":-1},'.repeat(110_000)}0]}`;
  const sent = Array.from({ length: 10 }, () => receiver.post(`/hooks/${OTHER_TOKEN}`, heavy));
  expect((await receiver.post(`/hooks/${TOKEN}`, '{"neighbor":true}')).status).toBe(200);
  await Promise.all(sent);
  const bodies = (await receiver.store.inbox.next(400, 4 * 1024 * 1024)).map(({ body }) => body);
  expect(bodies.slice(0, 2)).toContain('{"neighbor":true}');
});
