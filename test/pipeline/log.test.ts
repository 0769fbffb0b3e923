import pino from 'pino';
import { expect, it } from 'vitest';
import { routedIn } from '../../sandbox/routed.ts';
import { SECOND } from '../../src/domain/clock.ts';
import { StoreError } from '../../src/errors.ts';
import type { Replaced } from '../store/replaced.ts';
import { until } from '../until.ts';
import { ALERTS, MESSAGES, payment, startPipeline, TREASURY, WHALES } from './harness.ts';

interface Line {
  level: number;
  msg: string;
  inbox: number | number[];
  tx: string | string[];
}

async function startLogged(level: string, store?: Replaced) {
  const lines: Line[] = [];
  const log = pino({ level, base: null }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  const pipeline = await startPipeline({ log, ...(store && { store }) });
  await pipeline.watch(TREASURY, ALERTS);
  return { pipeline, lines };
}

it('names a delivery by one number from its commit to the message that shows it, also after a failed attempt', async () => {
  const { pipeline, lines } = await startLogged('debug');
  pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, path: MESSAGES, times: 1 });
  const event = payment();
  await pipeline.receive(event);
  await pipeline.turnUntilSettled();
  const txHash = String(event.txHash);
  const about = lines.filter(({ inbox }) => inbox === 1 || (Array.isArray(inbox) && inbox.includes(1)));

  expect(about).toMatchObject([
    { level: 20, msg: 'deliveries stored', inbox: [1] },
    { level: 30, msg: 'routed', inbox: 1, tx: txHash, verdict: 'new', alerts: 1, channels: [ALERTS], hidden: {} },
    { level: 40, msg: 'message not accepted', inbox: [1], tx: [txHash], attempt: 1, next: { channel: 'postpone' } },
    { level: 30, msg: 'message sent', inbox: [1], tx: [txHash], attempt: 2, channel: ALERTS },
  ]);
});

it('names a delivery whose alert joins a posted message, also after a failed attempt', async () => {
  const { pipeline, lines } = await startLogged('info');
  const event = payment();
  await pipeline.receive(event);
  await pipeline.turnUntilSettled();
  pipeline.discord.fault({ fault: { kind: 'error', status: 500 }, method: 'PATCH', times: 1 });
  await pipeline.receive(payment({ txHash: event.txHash, value: '1' }));
  await pipeline.turnUntilSettled();
  const joining = { kind: 'edit', alerts: 1, inbox: [2], tx: [event.txHash], ms: expect.any(Number) };
  expect(lines.slice(-2)).toMatchObject([
    { msg: 'message not accepted', attempt: 1, ...joining },
    { msg: 'message sent', attempt: 2, ...joining },
  ]);
});

it('logs a delivery that leads to no alert at the level debug only', async () => {
  const { pipeline, lines } = await startLogged('info');
  await pipeline.receive(payment({ to: '0x9999999999999999999999999999999999999999' }));
  await pipeline.routed();
  expect(lines.filter(({ msg }) => msg !== 'started')).toEqual([]);
});

it('logs a routed delivery in the form that the sandbox reads', async () => {
  const { pipeline, lines } = await startLogged('debug');
  await pipeline.watch(TREASURY, WHALES, { minimum: '1000000' });
  const event = payment();
  await pipeline.receive(event);
  await pipeline.routed();
  const read = lines.map((line) => routedIn(JSON.stringify(line))).filter((routed) => routed !== null);
  expect(read).toEqual([{ txHash: String(event.txHash), at: expect.any(Number), hidden: ['below the minimum'] }]);
});

it('logs a quarantined delivery once, when it is stored, however often storing it fails before', async () => {
  let failures = 3;
  const { pipeline, lines } = await startLogged('warn', ({ routing }) => ({
    routing: {
      async commit(result, next) {
        if (failures-- > 0) throw new StoreError('database or disk is full', 'SQLITE_FULL');
        return routing.commit(result, next);
      },
    },
  }));
  const received = pipeline.receive('not JSON');
  await until('the delivery is quarantined', async () => {
    pipeline.clock.advance(SECOND);
    return (await pipeline.store.quarantine.list()).length === 1;
  });
  await received;
  expect(lines.map(({ msg }) => msg)).toEqual([...Array(3).fill('routing paused'), 'delivery quarantined']);
});
