import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Agent, request } from 'undici';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { seed } from '../../sandbox/discord/index.ts';
import { PATH_TOKEN } from '../app.ts';
import { forFile } from '../for-file.ts';
import { newDelivery } from '../new-delivery.ts';
import { until } from '../until.ts';
import { ALERTS, HARBOR, openPipeline, payment, startPipeline, TREASURY } from './harness.ts';

/**
 * One server floods the receiver URL of its own project; a quiet one uses the operator's. `test/delivery/breaker.test.ts`
 * has the same for blocked channels and changes of permissions.
 */

const { alerts: QUIET_ALERTS, id: QUIET_GUILD } = seed.orchid;
const NOISY_TOKEN = 'path-token-of-the-noisy-server';
const NOISY_URL = `/hooks/${NOISY_TOKEN}`;
const WITHIN_SECONDS = 5;

const routedIds: number[] = [];
const pipeline = await forFile(
  openPipeline({
    environment: { QUOTA_BURST: '200', QUOTA_RATE: '1' },
    store: ({ routing }) => ({
      routing: {
        commit(result, next) {
          routedIds.push(...result.done);
          return routing.commit(result, next);
        },
      },
    }),
  }),
);
const agent = await forFile(Promise.resolve(new Agent({ connections: 64 })));
await pipeline.watch(TREASURY, ALERTS);
await pipeline.watch(TREASURY, QUIET_ALERTS, { guildId: QUIET_GUILD });
const project = { guildId: HARBOR, projectId: 'noisy', sealed: Buffer.alloc(1) };
const scope = await pipeline.store.projects.save(project, NOISY_TOKEN);
await pipeline.restart();
// The noisy server's quota is full again for the next test.
afterEach(() => pipeline.pass(3_600_000, 3_600_000));

async function post(path: string, body: string): Promise<number> {
  const answer = await request(pipeline.app.receiver + path, { method: 'POST', body, dispatcher: agent });
  await answer.body.dump();
  return answer.statusCode;
}

const bodyOf = (units: number, change: object = {}) =>
  JSON.stringify(payment({ value: String(units * 1_000_000), ...change }));

async function expectAlert(units: number): Promise<void> {
  expect(await post(`/hooks/${PATH_TOKEN}`, bodyOf(units))).toBe(200);
  await pipeline.turnUntil(
    'the quiet server’s alert is posted',
    () => pipeline.numbers(QUIET_ALERTS).includes(String(units)),
    WITHIN_SECONDS,
  );
}

describe('another server’s load', () => {
  it('posts a server’s alert within five seconds despite a flood beyond the quota of another server’s URL', async () => {
    const flood = Array.from({ length: 300 }, (_, n) => post(NOISY_URL, bodyOf(n + 1)));
    await expectAlert(11);
    const statuses = new Set(await Promise.all(flood));
    expect([...statuses].sort()).toEqual([200, 503]);
    expect(pipeline.app.internals.working().services.receiverQuota(scope).refused).toMatchObject({
      reason: 'rate',
      count: 100,
    });
  });

  it('posts a server’s alert within five seconds although thousands of another server’s deliveries were there first', async () => {
    const flood = Array.from({ length: 3_000 }, (_, n) =>
      bodyOf(n + 1, { txHash: `0x${String(n).padStart(64, '9')}` }),
    );
    const row = (body: string, of: number) => newDelivery(body, { scope: of, receivedAt: pipeline.clock.now() });
    const ids = await pipeline.store.inbox.append([...flood.map((body) => row(body, scope)), row(bodyOf(12), 0)]);
    expect(ids).toHaveLength(3_001);
    await pipeline.restart();
    await pipeline.turnUntil(
      'the quiet server’s alert is posted',
      () => pipeline.numbers(QUIET_ALERTS).includes('12'),
      WITHIN_SECONDS,
    );
    const order = routedIds.filter((id) => ids.includes(id));
    expect(order).toContain(ids.at(-1));
    expect(order.indexOf(ids.at(-1)!)).toBeLessThan(1_000);
  });

  it('posts a server’s alert within five seconds despite bodies of a megabyte at another server’s URL', async () => {
    const filler = `[${'{"a":-1.5e3},'.repeat(75_000)}0]`;
    const heavy = bodyOf(5).replace('{', `{"filler":${filler},`);
    const sent = Array.from({ length: 4 }, () => post(NOISY_URL, heavy));
    await expectAlert(13);
    expect(new Set(await Promise.all(sent))).toEqual(new Set([200]));
  });

  it('posts a server’s alert within five seconds despite 2,000 idle connections, slow headers, and bodies at another server’s URL that never end', async () => {
    const { port, hostname } = new URL(pipeline.app.receiver);
    const sockets: Socket[] = [];
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy();
      const { admission } = pipeline.app.internals.receiver;
      await until('no request is open', () => admission.openRequests() === 0);
    });
    for (let n = 0; n < 2_000; n++) {
      const socket = connect(Number(port), hostname).on('error', () => undefined);
      sockets.push(socket);
      if (n % 100 === 99) await once(socket, 'connect');
    }
    for (const socket of sockets.slice(0, 300)) socket.write(`POST ${NOISY_URL} HTTP/1.1\r\nHost: x\r\nX-Slow: `);
    for (const socket of sockets.slice(300, 400))
      socket.write(`POST ${NOISY_URL} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf`);
    await expectAlert(14);
  });
});

it('accepts deliveries only at the operator’s URL while less than the reserve of the disk is free', async () => {
  // More than any disk has.
  const other = await startPipeline({ environment: { DISK_RESERVE_MB: '999999999' } });
  const { receiver, working } = other.app.internals;
  const { services } = working();
  other.clock.advance(0);
  await until('the receiver keeps the disk’s reserve', () => {
    const admitted = receiver.admission.admit(1, 'POST', undefined);
    return 'reason' in admitted && admitted.reason === 'disk-reserve';
  });
  await other.watch(TREASURY, ALERTS);
  await other.pay(16);
  await other.turnUntil('#alerts shows 1 alert', () => other.numbers(ALERTS).length === 1, WITHIN_SECONDS);
  expect([services.receiverQuota(1).refused, services.receiverQuota(0).refused]).toMatchObject([
    { reason: 'disk-reserve' },
    null,
  ]);
});
