import { afterEach, expect, it } from 'vitest';
import { createManualClock, type ManualClock } from '../../sandbox/discord/clock.ts';
import { type Budget, createBudget } from '../../services/chain/budget.ts';
import type { NodeOptions } from '../../services/chain/member.ts';
import type { NodeHeader } from '../../services/chain/node.ts';
import { type ConnectOptions, connect, type Nodes } from '../../services/chain/nodes.ts';
import { inTime } from '../until.ts';
import { type Asked, type FakeNode, type Reply, startFakeNode } from './fake-node.ts';

let fakes: FakeNode[] = [];
let nodes: Nodes | undefined;
afterEach(() => {
  nodes?.close();
  for (const fake of fakes) fake.close();
  fakes = [];
});

const fake = async (reply: (asked: Asked) => Reply = () => ({ result: '0x1' })): Promise<FakeNode> => {
  const started = await startFakeNode(reply);
  fakes.push(started);
  return started;
};
const use = (options: readonly NodeOptions[], more: ConnectOptions = {}): Nodes => {
  nodes = connect(options, { clock: createManualClock(), ...more });
  return nodes;
};
const header = (number: number, hash: string): NodeHeader => ({
  number: `0x${number.toString(16)}`,
  hash: `0x${hash.repeat(64)}`,
  parentHash: `0x${'0'.repeat(64)}`,
  timestamp: '0x1',
});

it('asks the next node when one has not responded for 3 s', async () => {
  const clock = createManualClock();
  const asked = Promise.withResolvers<void>();
  const hanging = await fake(() => {
    asked.resolve();
    return 'hangs';
  });
  const healthy = await fake();
  const result = use([{ url: hanging.url }, { url: healthy.url }], { clock }).call('eth_gasPrice');
  await inTime('the first node is asked', asked.promise);
  expect(healthy.asked).toEqual([]);
  clock.advance(3_000);
  expect(await result).toBe('0x1');
});

it('shares calls by weight, and asks a node of weight 0 only when no other helps', async () => {
  let isAway = false;
  const answer = (): Reply => (isAway ? { status: 503 } : { result: '0x1' });
  const [heavy, light, spare] = [await fake(answer), await fake(answer), await fake()];
  const used = use([
    { url: heavy.url, weight: 3 },
    { url: light.url, weight: 1 },
    { url: spare.url, weight: 0 },
  ]);
  for (let count = 0; count < 8; count++) await used.call('eth_gasPrice');
  expect([heavy, light, spare].map(({ asked }) => asked.length)).toEqual([6, 2, 0]);
  isAway = true;
  expect(await used.call('eth_gasPrice')).toBe('0x1');
  expect(spare.asked).toHaveLength(1);
});

it('sends the headers of a node, and the credentials in its URL as UTF-8', async () => {
  const { url, asked } = await fake();
  await use([{ url: url.replace('//', '//user:p%40ss%E2%82%AC@'), headers: { 'x-key': 'abc' } }]).call('eth_gasPrice');
  const authorization = `Basic ${Buffer.from('user:p@ss€').toString('base64')}`;
  expect(asked[0]!.headers).toMatchObject({ 'x-key': 'abc', authorization });
});

it('asks a node for traces first and for nothing else, and the others when it fails', async () => {
  let isAway = false;
  const traces = await fake(() => (isAway ? { status: 503 } : { result: [] }));
  const other = await fake();
  const used = use([{ url: other.url }, { url: traces.url, tracesOnly: true }]);
  await used.call('eth_gasPrice');
  await used.call('trace_block', ['0x1']);
  isAway = true;
  await used.call('trace_block', ['0x1']);
  expect(traces.asked.map(({ method }) => method)).toEqual(['trace_block', 'trace_block']);
  expect(other.asked.map(({ method }) => method)).toEqual(['eth_gasPrice', 'trace_block']);
});

it('uses the newest block that enough nodes have, and no block whose hash they dispute', async () => {
  const chain = (height: number, hash: string) => () => ({ result: header(height, hash) });
  const [ahead, second, third] = [await fake(chain(9, 'a')), await fake(chain(7, 'b')), await fake(chain(6, 'b'))];
  const used = use(
    [ahead, second, third].map(({ url }) => ({ url })),
    { agreement: 2 },
  );
  expect(Number((await used.head()).number)).toBe(7);
  await expect(used.confirm(header(6, 'a'))).rejects.toThrow('The nodes do not agree about block 6');
  await used.confirm(header(6, 'b'));
});

it('sends several calls in one request, and one by one where the node refuses batches', async () => {
  const ask = async (url: string) => {
    const used = use([{ url }], { batch: 10 });
    const results = await Promise.all([1, 2, 3].map((number) => used.call('eth_getCode', [number])));
    used.close();
    return results;
  };
  const taking = await fake(({ params }) => ({ result: params[0] }));
  expect(await ask(taking.url)).toEqual([1, 2, 3]);
  expect(taking.asked.map(({ batch }) => batch)).toEqual([3, 3, 3]);
  const refusing = await fake(({ params, batch }) => (batch > 0 ? { status: 400 } : { result: params[0] }));
  expect(await ask(refusing.url)).toEqual([1, 2, 3]);
  expect(refusing.asked.map(({ batch }) => batch)).toEqual([3, 3, 3, 0, 0, 0]);
});

it('slows down only traces where a node limits these alone', async () => {
  const { url } = await fake(({ method }) => (method === 'trace_block' ? { status: 429 } : { result: '0x1' }));
  const used = use([{ url }]);
  await expect(used.call('trace_block')).rejects.toThrow('429');
  expect(used.health()).toMatchObject([{ isHealthy: true }]);
  // The clock stands still.
  await Promise.all(Array.from({ length: 20 }, () => used.call('eth_gasPrice')));
});

/** Makes as many calls as a budget allows, at a node that accepts `limit` a second; returns both counts of each second. */
async function driven(budget: Budget, clock: ManualClock, limits: readonly number[]) {
  const seconds: { accepted: number; refused: number }[] = [];
  let free = 0;
  let now = { accepted: 0, refused: 0 };
  let isOver = false;
  let waiting = 0;
  async function call(): Promise<void> {
    waiting++;
    await budget.take();
    waiting--;
    if (isOver) return;
    if (free-- > 0) now.accepted++;
    else {
      now.refused++;
      budget.slowDown();
    }
  }
  for (const limit of limits) {
    now = { accepted: 0, refused: 0 };
    seconds.push(now);
    for (let step = 0; step < 100; step++) {
      free = Math.min(limit / 10, (step === 0 ? 0 : free) + limit / 100);
      for (let count = 0; count < 3 && waiting < 16; count++) void call();
      for (let turn = 0; turn < 5; turn++) await Promise.resolve();
      clock.advance(10);
    }
  }
  isOver = true;
  budget.close();
  return seconds;
}

it.each([
  [8, 15],
  [12, 9],
])('after a node that refused every call for %i s, reads at full speed %i s later', async (refusing, later) => {
  const clock = createManualClock();
  const fine = (seconds: number) => Array<number>(seconds).fill(10_000);
  const seconds = await driven(createBudget(clock), clock, [
    ...fine(3),
    ...Array<number>(refusing).fill(0),
    ...fine(later + 2),
  ]);
  expect(seconds[2]).toEqual({ accepted: 300, refused: 0 });
  expect(seconds[10]!.refused).toBeLessThan(8);
  expect(seconds.slice(-2).map(({ accepted }) => accepted)).toEqual([300, 300]);
});

it('stays close to the limit of a node with few refusals', async () => {
  const clock = createManualClock();
  const seconds = await driven(createBudget(clock), clock, Array<number>(60).fill(50));
  const sum = (name: 'accepted' | 'refused') => seconds.slice(20).reduce((all, one) => all + one[name], 0);
  expect(sum('accepted') / 40).toBeGreaterThan(35);
  expect(sum('refused') / 40).toBeLessThan(3);
});

it('ends calls that wait for their turn when the connection is closed', async () => {
  const { url, asked } = await fake();
  const used = use([{ url }], { perSecond: 1 });
  const calls = [1, 2, 3].map((number) => used.call('eth_getCode', [number]));
  expect(await calls[0]).toBe('0x1');
  used.close();
  const ended = Promise.allSettled(calls.slice(1));
  const reason = new Error('The connection to the node is closed');
  expect(await inTime('the waiting calls end', ended)).toEqual([1, 2].map(() => ({ status: 'rejected', reason })));
  expect(asked).toHaveLength(1);
});

it('never exceeds a rate that was set', async () => {
  const clock = createManualClock();
  const budget = createBudget(clock, 25);
  let taken = 0;
  for (let count = 0; count < 200; count++) void budget.take().then(() => (taken += 1));
  for (let second = 1; second <= 4; second++) {
    clock.advance(1_000);
    await Promise.resolve();
    expect(taken).toBeLessThanOrEqual(25 * second + 7);
  }
  expect(taken).toBeGreaterThanOrEqual(100);
});
