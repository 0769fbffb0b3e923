import { afterEach, expect, it } from 'vitest';
import { renderAlerts, renderPlain } from '../../src/discord/render.ts';
import type { Alert } from '../../src/domain/alert.ts';
import type { SendOutcome } from '../../src/domain/send-outcome.ts';
import { ALERTS, HARBOR, type Pipeline, payment, startPipeline, TREASURY, WHALES } from '../pipeline/harness.ts';

const BOB = `0x${'b0'.repeat(20)}` as const;

let pipeline: Pipeline;
afterEach(() => pipeline.close());

/** Every request to Discord fails until this is called. */
function hold(): () => void {
  const fault = pipeline.discord.fault({ fault: { kind: 'error', status: 503 }, path: '/channels/**' });
  return () => fault.clear();
}

it('an event that the database refuses is set aside with the reason; those beside it are told', async () => {
  pipeline = await startPipeline();
  await pipeline.watch(TREASURY, ALERTS);
  const bad = payment({ value: '2000000' });
  pipeline.rows(`CREATE TRIGGER poison BEFORE INSERT ON transfers WHEN NEW.tx_hash = '${String(bad.txHash)}'
                 BEGIN SELECT RAISE(ABORT, 'poison'); END`);
  // One batch for the router: what comes is routed together.
  const rows = [payment({ value: '1000000' }), bad, payment({ value: '3000000' })];
  await pipeline.store.inbox.append(
    rows.map((row) => ({ scope: 0, receivedAt: pipeline.clock.now(), body: Buffer.from(JSON.stringify(row)) })),
  );
  await pipeline.pay(4);
  await pipeline.turnUntil(() => pipeline.numbers(ALERTS).length === 3, 60);
  expect(pipeline.numbers(ALERTS)).toEqual(['1', '3', '4']);
  expect(pipeline.rows('SELECT reason, CAST(body AS TEXT) AS body FROM quarantine')).toEqual([
    { reason: 'Routing failed: poison', body: JSON.stringify(bad) },
  ]);
});

it.each([
  ['looked up', "filters = '{'", "filters = '{}'"],
  ['judged', "minimum = 'much'", 'minimum = NULL'],
])('an event that cannot be %s leaves no trace when it is set aside: its replay is told', async (_, broken, mended) => {
  pipeline = await startPipeline();
  await pipeline.watch(TREASURY, ALERTS);
  await pipeline.watch(BOB, WHALES);
  const set = (what: string) => pipeline.rows(`UPDATE subscriptions SET ${what} WHERE address = '${BOB}'`);
  set(broken);
  const bad = payment({ value: '2000000', from: TREASURY, to: BOB });
  const rows = [payment({ value: '1000000' }), bad, payment({ value: '3000000' })];
  await pipeline.store.inbox.append(
    rows.map((row) => ({ scope: 0, receivedAt: pipeline.clock.now(), body: Buffer.from(JSON.stringify(row)) })),
  );
  await pipeline.pay(4);
  await pipeline.turnUntil(() => pipeline.numbers(ALERTS).length === 3, 60);
  expect(pipeline.numbers(ALERTS)).toEqual(['1', '3', '4']);
  expect(pipeline.rows('SELECT CAST(body AS TEXT) AS body FROM quarantine')).toEqual([{ body: JSON.stringify(bad) }]);
  set(mended);
  pipeline.rows('INSERT INTO inbox (scope, received_at, body) SELECT scope, received_at, body FROM quarantine');
  await pipeline.pay(5);
  await pipeline.turnUntil(() => pipeline.numbers(ALERTS).length === 5, 60);
  expect([pipeline.numbers(ALERTS).toSorted(), pipeline.numbers(WHALES)]).toEqual([['1', '2', '3', '4', '5'], ['2']]);
});

/** Cannot render the line of 2 USDC. */
function refuseTwo(alerts: Alert[]): void {
  if (alerts.some(({ transfer }) => transfer.value === '2000000')) throw new Error('no words for it');
}
const settings = { explorerUrl: undefined, nativeSymbol: undefined };

it('a line that cannot be rendered goes out plain; the others of its channel and the other channels do not wait', async () => {
  pipeline = await startPipeline({
    render: (alerts, reference, now) => {
      refuseTwo(alerts);
      return renderAlerts(alerts, reference, settings, now);
    },
  });
  for (const channel of [ALERTS, WHALES]) await pipeline.watch(TREASURY, channel);
  const release = hold();
  await pipeline.pay(1);
  await pipeline.idle();
  const bad = payment({ value: '2000000' });
  await pipeline.receive(bad);
  const after = Array.from({ length: 30 }, (_, n) => n + 3);
  for (const units of after) await pipeline.pay(units);
  await pipeline.routed();
  release();
  await pipeline.turnUntil(pipeline.settled, 60);
  for (const channel of [ALERTS, WHALES]) {
    const messages = pipeline.discord.messages(channel).map(({ message }) => JSON.stringify(message));
    expect(pipeline.numbers(channel)).toEqual(['1', ...after.map(String)]);
    // Once it is found, messages are full again.
    expect(messages.length).toBeLessThan(14);
    expect(messages.filter((text) => text.includes(String(bad.txHash)))).toHaveLength(1);
  }
});

it('a line that cannot even be rendered plain becomes a dead letter that can be replayed', async () => {
  let broken = true;
  pipeline = await startPipeline({
    render: (alerts, reference, now) => {
      if (broken) refuseTwo(alerts);
      return renderAlerts(alerts, reference, settings, now);
    },
    plain: (alert, reference) => {
      if (broken) refuseTwo([alert]);
      return renderPlain(alert, reference);
    },
  });
  await pipeline.watch(TREASURY, ALERTS);
  const release = hold();
  for (const units of [1, 2, 3]) await pipeline.pay(units);
  await pipeline.routed();
  release();
  await pipeline.turnUntil(pipeline.settled, 120);
  await pipeline.pay(4);
  await pipeline.turnUntil(() => pipeline.numbers(ALERTS).length === 3);
  expect(pipeline.numbers(ALERTS)).toEqual(['1', '3', '4']);
  const [letter] = await pipeline.store.deadLetters.list(10);
  expect(letter!.reason).toBe('It cannot be rendered: no words for it');
  broken = false;
  expect(await pipeline.store.deadLetters.replay(letter!.id, pipeline.clock.now())).toBe(true);
  pipeline.deliverer.wake([ALERTS]);
  await pipeline.turnUntil(() => pipeline.numbers(ALERTS).length === 4);
  expect(pipeline.numbers(ALERTS)).toEqual(['1', '3', '4', '2']);
});

it('a message that the database does not take is no fault of its lines: they are told as ever', async () => {
  let made = 0;
  pipeline = await startPipeline({
    render: (alerts, reference, now) => {
      if (++made === 1)
        pipeline.rows("CREATE TRIGGER full BEFORE INSERT ON batches BEGIN SELECT RAISE(ABORT, 'full'); END");
      if (made === 2) pipeline.rows('DROP TRIGGER full');
      return renderAlerts(alerts, reference, settings, now);
    },
  });
  await pipeline.watch(TREASURY, ALERTS);
  const rows = Array.from({ length: 7 }, () => Buffer.from(JSON.stringify(payment({ value: '9000000' }))));
  // One batch for the router: what comes is routed together.
  await pipeline.store.inbox.append(rows.map((body) => ({ scope: 0, receivedAt: pipeline.clock.now(), body })));
  await pipeline.pay(8);
  await pipeline.turnUntil(pipeline.settled, 60);
  expect([made, pipeline.numbers(ALERTS).length, pipeline.discord.messages(ALERTS).length]).toEqual([2, 8, 1]);
});

it('a line that cannot be rendered anew stays as it was told, and holds up nothing', async () => {
  let broken = false;
  pipeline = await startPipeline({
    render: (alerts, reference, now) => {
      if (broken) refuseTwo(alerts);
      return renderAlerts(alerts, reference, settings, now);
    },
  });
  await pipeline.watch(TREASURY, ALERTS);
  const event = payment({ value: '2000000' });
  await pipeline.receive(event);
  await pipeline.turnUntil(() => pipeline.numbers(ALERTS).length === 1);
  broken = true;
  await pipeline.receive({ ...event, blockHash: `0x${'c'.repeat(64)}`, blockNumber: 777_777 });
  await pipeline.pay(3);
  await pipeline.turnUntil(() => pipeline.numbers(ALERTS).length === 2, 60);
  expect(pipeline.numbers(ALERTS)).toEqual(['2', '3']);
  expect(await pipeline.settled()).toBe(true);
});

it('channels take turns: none is a round ahead of another that waits, and there are 40 requests a second at most', async () => {
  const limited: SendOutcome = { status: 'rate-limited', global: true, local: false, retryAfterMs: 5_000 };
  let first = true;
  pipeline = await startPipeline({
    sender: (real) => ({
      ...real,
      create: (...message) => {
        if (!first) return real.create(...message);
        first = false;
        return Promise.resolve(limited);
      },
    }),
  });
  const channels = Array.from({ length: 45 }, (_, n) => {
    const { id } = pipeline.discord.act({ do: 'channel.create', guildId: HARBOR, name: `turn-${n}` });
    return id!;
  });
  for (const id of channels) await pipeline.watch(TREASURY, id);
  // Nobody is asked for anything for a while, and then all have as much to be told.
  await pipeline.pay(1);
  await pipeline.idle();
  for (let units = 2; units <= 25; units++) await pipeline.pay(units);
  await pipeline.routed();
  const before = pipeline.discord.requests().at(-1)!.number;
  await pipeline.turnUntil(pipeline.settled, 300);
  const posts = pipeline.discord.requests(before).filter(({ method }) => method === 'POST');
  const rounds = new Map<string, number>();
  const order = posts.map(({ path }) => {
    const round = (rounds.get(path) ?? 0) + 1;
    rounds.set(path, round);
    return round;
  });
  expect([rounds.size, posts.length >= 2 * channels.length]).toEqual([channels.length, true]);
  // Requests that are under way at once may overtake each other, which blurs the border of two rounds and no more.
  expect(order.map((round, n) => round - Math.floor(n / channels.length) - 1).filter((ahead) => ahead > 1)).toEqual([]);
  const seconds = Map.groupBy(posts, ({ at }) => Math.floor(Date.parse(at) / 1_000));
  expect(Math.max(...[...seconds.values()].map((list) => list.length))).toBeLessThanOrEqual(40);
  for (const id of channels) expect(pipeline.numbers(id)).toHaveLength(25);
});
