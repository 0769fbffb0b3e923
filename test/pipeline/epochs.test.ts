import { afterEach, beforeEach, expect, it } from 'vitest';
import { ALERTS, HARBOR, type Pipeline, payment, startPipeline, TREASURY } from './harness.ts';

const EPOCH = 2 ** 17;

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await startPipeline();
  await pipeline.watch(TREASURY, ALERTS);
});
afterEach(() => pipeline.close());

let serial = 0;
/** A payment whose hash begins like no other one's here. */
const transfer = () => payment({ txHash: `0x${(++serial).toString(16).repeat(64)}` });

/** What comes next has a number beyond this one. */
const fillUpTo = (id: number) =>
  pipeline.rows(`INSERT INTO transfers (id, key, scope, tx_hash, seen_at, count, bodies, data)
    VALUES (${id}, randomblob(16), 0, '0x' || hex(randomblob(32)), ${pipeline.clock.now()}, 1, 1, '{}')`);
const takenDown = () => pipeline.rows<{ epoch: number }>('SELECT epoch FROM epochs').map(({ epoch }) => epoch);
const repeats = (txHash: unknown) => pipeline.rows(`SELECT bodies FROM transfers WHERE tx_hash = '${String(txHash)}'`);
async function tell(event: object): Promise<void> {
  await pipeline.receive(event);
  await pipeline.idle();
  // Later than any second transfer that equals it, and than a new line beside its message.
  await pipeline.pass(30_000, 10_000);
}

it('a transfer of an epoch that is full is known again: before that is taken down, afterwards, and after a restart', async () => {
  const early = transfer();
  await tell(early);
  fillUpTo(EPOCH);
  await tell(early);
  await tell(transfer());
  await pipeline.forget();
  expect(takenDown()).toEqual([0]);
  await tell(early);
  await pipeline.restart();
  await tell(early);
  expect(repeats(early.txHash)).toEqual([{ bodies: 4 }]);
  expect(pipeline.lines(ALERTS)).toHaveLength(2);
  expect(pipeline.rows('SELECT id >> 17 AS epoch FROM transfers ORDER BY id')).toEqual(
    [0, 1, 1].map((epoch) => ({ epoch })),
  );
});

it('a transfer whose hash is too short to begin with anything is known again when its epoch is full', async () => {
  const short = payment({ txHash: '0x' });
  await tell(short);
  fillUpTo(EPOCH);
  await tell(transfer());
  await pipeline.forget();
  expect(takenDown()).toEqual([0]);
  await tell(short);
  expect(repeats('0x')).toEqual([{ bodies: 2 }]);
});

it('what comes to an epoch that was taken down, because all later ones were forgotten, is known again too', async () => {
  await tell(transfer());
  fillUpTo(EPOCH);
  await pipeline.forget();
  expect(takenDown()).toEqual([0]);
  // Read by the process as well.
  await tell(transfer());
  pipeline.rows('UPDATE alerts SET transfer_id = 1');
  pipeline.rows(`DELETE FROM transfers WHERE id >= ${EPOCH}`);
  const late = transfer();
  await tell(late);
  expect(takenDown()).toEqual([]);
  fillUpTo(EPOCH);
  await tell(late);
  await pipeline.restart();
  await tell(late);
  await pipeline.forget();
  expect(takenDown()).toEqual([0]);
  await tell(late);
  expect(repeats(late.txHash)).toEqual([{ bodies: 4 }]);
  expect(pipeline.lines(ALERTS)).toHaveLength(3);
});

it('a filter of which nothing is left goes with the last transfer of its epoch, whatever is kept of older ones', async () => {
  for (const epoch of [0, 1, 2, 3]) {
    await tell(transfer());
    fillUpTo((epoch + 1) * EPOCH);
  }
  await pipeline.forget();
  expect(takenDown()).toEqual([0, 1, 2, 3]);
  pipeline.rows('DELETE FROM alerts');
  pipeline.rows(`DELETE FROM transfers WHERE id BETWEEN ${EPOCH} AND ${3 * EPOCH - 1}`);
  await pipeline.forget();
  expect(takenDown()).toEqual([0, 3]);
});

it('transfers of one transaction in two epochs share a message, and their story is one', async () => {
  const first = transfer();
  const second = { ...first, value: '7000000' };
  await pipeline.receive(first);
  await pipeline.idle();
  fillUpTo(EPOCH);
  await pipeline.forget();
  await tell(second);
  expect(pipeline.discord.messages(ALERTS)).toHaveLength(1);
  expect(pipeline.lines(ALERTS)[0]!.text).toMatch(/5.*7/s);
  const { total, first: told } = await pipeline.store.history.transfers(
    HARBOR,
    String(first.txHash),
    null,
    pipeline.clock.now(),
    10,
  );
  expect([total, told.map(({ transfer }) => String(transfer.value))]).toEqual([2, ['5000000', '7000000']]);
});
