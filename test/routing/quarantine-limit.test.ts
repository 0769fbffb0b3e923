import { expect, it } from 'vitest';
import { createManualClock } from '../../sandbox/discord/index.ts';
import { limitQuarantine } from '../../src/routing/router.ts';
import { readLog } from '../app.ts';
import { quarantine } from '../store/contract/given.ts';
import { storeForTest } from '../store/sqlite/reused.ts';
import { until } from '../until.ts';

const MIB = 1024 * 1024;
const [OPERATOR, OWN] = [0, 7];

/** A quarantine in a real store; `measured`: how often it was measured. */
async function start() {
  const store = await storeForTest();
  const clock = createManualClock();
  const logged: string[] = [];
  const state = { measured: 0 };
  const sizes = () => store.quarantine.sizes().finally(() => state.measured++);
  const log = readLog('info', (line) => void logged.push(JSON.parse(line).msg));
  const limit = limitQuarantine({ quarantine: { ...store.quarantine, sizes } }, { clock, log });
  const add = (rows: number, bytes: number, scope: number) =>
    quarantine(store, Array<Buffer>(rows).fill(Buffer.alloc(bytes)), scope);
  const sizeOf = async (of: number) => (await store.quarantine.sizes()).find(({ scope }) => scope === of);
  return { store, clock, state, logged, limit, add, sizeOf };
}

it.each([
  ['deliveries of the operator’s URL', OPERATOR, 10_000, 1],
  ['bytes of the operator’s URL', OPERATOR, 50, MIB],
  ['deliveries of a server’s own URL', OWN, 1_000, 1],
  ['bytes of a server’s own URL', OWN, 5, MIB],
])('lets the oldest give up their bytes when there are too many %s', async (_name, scope, rows, bytes) => {
  const { store, limit, add, sizeOf } = await start();
  await add(rows, bytes, scope);
  await add(1, 1, scope === OWN ? OPERATOR : OWN);
  await limit.measure();
  expect(await sizeOf(scope)).toMatchObject({ rows, givenUp: 0 });
  await add(2, bytes, scope);
  await limit.measure();
  expect(await sizeOf(scope)).toMatchObject({ rows, bytes: rows * bytes, givenUp: 2 });
  const [oldest] = await store.quarantine.list();
  expect(await store.quarantine.get(oldest!.id)).toMatchObject({
    scope,
    bytes,
    body: null,
    hash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(await sizeOf(scope === OWN ? OPERATOR : OWN)).toMatchObject({ rows: 1, givenUp: 0 });
});

it('gets back to the limit at once, however much arrived since it was last measured', async () => {
  const { limit, add, sizeOf } = await start();
  await add(1_700, 1, OWN);
  await limit.measure();
  expect(await sizeOf(OWN)).toMatchObject({ rows: 1_000, givenUp: 700 });
});

it('logs once that a quarantine is full', async () => {
  const { limit, logged, add } = await start();
  for (let n = 0; n < 3; n++) {
    await add(1_001, 1, OWN);
    await limit.measure();
  }
  expect(logged).toEqual([expect.stringContaining('quarantine is full')]);
});

it('measures the quarantine every ten seconds while deliveries are added', async () => {
  const { clock, state, limit } = await start();
  limit.added();
  await until('it is measured', () => state.measured === 1);
  clock.advance(9_999);
  limit.added();
  clock.advance(1);
  limit.added();
  await until('it is measured again', () => state.measured === 2);
});
