import { expect, it } from 'vitest';
import { HOUR, SECOND } from '../../src/domain/clock.ts';
import type { Sender, SendOutcome } from '../../src/domain/sender.ts';
import { StoreError } from '../../src/errors.ts';
import { ALERTS, GENERAL, HARBOR, startPipeline, TREASURY, WHALES } from '../pipeline/harness.ts';

const CHANNELS = [ALERTS, WHALES, GENERAL];

/** A sender with scripted first outcomes; `asked` lists the channels in order. */
function scripted(...outcomes: SendOutcome[]) {
  const asked: string[] = [];
  const sender = (real: Sender): Sender => ({
    ...real,
    create: (channelId, payload, nonce, csv) => {
      asked.push(channelId);
      const outcome = outcomes.shift();
      return outcome ? Promise.resolve(outcome) : real.create(channelId, payload, nonce, csv);
    },
  });
  return { asked, sender };
}
const limited = (global: boolean): SendOutcome => ({
  status: 'rate-limited',
  global,
  local: false,
  retryAfterMs: 90 * SECOND,
});

it('waits for a channel’s Retry-After whatever else happens there, while other channels continue', async () => {
  const { asked, sender } = scripted(limited(false));
  const pipeline = await startPipeline({ sender });
  await pipeline.watch(TREASURY, ALERTS);
  await pipeline.payAndWait(1);
  for (const channel of [WHALES, GENERAL]) await pipeline.watch(TREASURY, channel);
  for (let n = 2; n <= 9; n++) {
    await pipeline.pay(n);
    pipeline.deliverer.guildChanged(HARBOR);
    // In memory, waits do not depend on the wall clock.
    pipeline.jump(n % 2 ? -HOUR : HOUR);
    await pipeline.pass(10 * SECOND);
  }
  expect(asked.filter((channel) => channel === ALERTS)).toHaveLength(1);
  expect(pipeline.numbers(WHALES)).toHaveLength(8);
  await pipeline.pass(9 * SECOND);
  expect(asked.filter((channel) => channel === ALERTS)).toHaveLength(1);
  await pipeline.pass(SECOND);
  expect(pipeline.numbers(ALERTS)).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
});

it.each([
  ['a 503', 'retry', { status: 'unconfirmed', reason: 'HTTP 503', retryAfterMs: 90 * SECOND } as const],
  ['a channel’s 429, although it cannot be stored that the message was not sent', 'rate', limited(false)],
])('waits for the Retry-After of %s, and shows why', async (_name, reason, outcome) => {
  const { asked, sender } = scripted(outcome);
  const fails = () => Promise.reject(new StoreError('disk full', 'SQLITE_FULL'));
  const pipeline = await startPipeline({ sender, store: () => ({ outbox: { markNotSent: fails } }) });
  await pipeline.watch(TREASURY, ALERTS);
  await pipeline.pay(1);
  await pipeline.pass(89 * SECOND);
  expect(asked).toHaveLength(1);
  expect(pipeline.deliverer.pauses(HARBOR)).toMatchObject([{ channelId: ALERTS, reason }]);
  await pipeline.pass(2 * SECOND);
  expect(pipeline.numbers(ALERTS)).toEqual(['1']);
});

it.each([
  ['Discord', limited(true)],
  ['a proxy before Discord', { status: 'breaker', reason: 'HTTP 429', retryAfterMs: 90 * SECOND } as const],
])('waits in every channel for a global Retry-After from %s', async (_name, outcome) => {
  const { asked, sender } = scripted(outcome);
  const pipeline = await startPipeline({ sender });
  await pipeline.watch(TREASURY, ALERTS);
  await pipeline.payAndWait(1);
  for (const channel of [WHALES, GENERAL]) await pipeline.watch(TREASURY, channel);
  await pipeline.pay(2);
  await pipeline.pass(89 * SECOND);
  expect(asked).toEqual([ALERTS]);
  await pipeline.pass(2 * SECOND);
  expect(CHANNELS.map(pipeline.numbers)).toEqual([['1', '2'], ['2'], ['2']]);
});
