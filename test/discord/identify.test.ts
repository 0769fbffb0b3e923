import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { createIdentifyQueue, type IdentifyLog } from '../../src/discord/identify.ts';
import { HOUR } from '../../src/domain/durations.ts';

/** The queue of two shards that identify one after the other; `log`: what differs from one without entries. */
async function open(log: Partial<IdentifyLog> = {}) {
  const clock = createManualClock();
  const queue = createIdentifyQueue({ last: async () => null, note: async () => undefined, ...log }, clock);
  const throttler = await queue({
    fetchGatewayInformation: async () => ({ session_start_limit: { max_concurrency: 1 } }),
    getShardCount: async () => 2,
  });
  const wait = (shard: number) => {
    const controller = new AbortController();
    return { waited: throttler.waitForIdentify(shard, controller.signal), giveUp: () => controller.abort() };
  };
  return { clock, wait };
}

it('takes no turn for a connection that was given up while the database was read', async () => {
  const reading = Promise.withResolvers<null>();
  const { wait } = await open({ last: () => reading.promise });
  const first = wait(0);
  const second = wait(1);
  first.giveUp();
  reading.resolve(null);
  await expect(first.waited).rejects.toThrow('aborted');
  // The time does not pass: this is the first turn.
  await second.waited;
});

it('lets the next shard identify after five seconds when the clock is set back by an hour', async () => {
  const { clock, wait } = await open();
  await wait(0).waited;
  clock.leap(-HOUR);
  const second = wait(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(clock.untilNext()).toBe(5_000);
  clock.advance(5_000);
  await second.waited;
});

it('identifies no shard whose connection was given up while it waited for its turn', async () => {
  const { clock, wait } = await open();
  await wait(0).waited;
  const second = wait(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(clock.untilNext()).toBe(5_000);
  second.giveUp();
  await expect(second.waited).rejects.toThrow('aborted');
  expect(clock.untilNext()).toBe(Number.POSITIVE_INFINITY);
});

it('identifies no shard whose connection was given up while its turn was recorded', async () => {
  const recording = Promise.withResolvers<void>();
  const noted = Promise.withResolvers<void>();
  const { wait } = await open({
    note() {
      noted.resolve();
      return recording.promise;
    },
  });
  const shard = wait(0);
  await noted.promise;
  shard.giveUp();
  recording.resolve();
  await expect(shard.waited).rejects.toThrow('aborted');
});

it('lets the first shard identify after five seconds when the clock is set back by an hour after an earlier process', async () => {
  const { clock, wait } = await open({ last: async () => clock.now() });
  const { waited, giveUp } = wait(0);
  giveUp();
  await expect(waited).rejects.toThrow('aborted');
  clock.leap(-HOUR);
  const second = wait(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(clock.untilNext()).toBe(5_000);
  clock.advance(5_000);
  await second.waited;
});
