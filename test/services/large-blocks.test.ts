import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ReadBlock } from '../../services/notification/store/chain.ts';
import { type NotificationStore, openStore } from '../../services/notification/store/index.ts';
import { temporaryFolder } from '../folder.ts';
import { newDelivery, WEBHOOK } from './new-delivery.ts';

/** Blocks with more deliveries than one transaction stores. */

const COUNT = 1_200;
let folder: string;
let store: NotificationStore;
let webhookId: string;

beforeEach(() => {
  folder = temporaryFolder();
  store = openStore(folder);
  webhookId = store.webhooks.create(WEBHOOK).id;
  store.chain.begin({ chainId: '1', genesis: null }, 3, { number: 2, hash: 'two', time: 0 });
});
afterEach(() => store.close());

const blockOf = (hash: string, more: Partial<ReadBlock['deliveries'][number]> = {}): ReadBlock => ({
  number: 3,
  hash,
  time: 0,
  unreadable: [],
  tracesMissing: null,
  deliveries: Array.from({ length: COUNT }, (_, at) =>
    newDelivery(webhookId, String(at), { txHash: `${hash} ${at}`, blockNumber: 3, blockHash: hash, ...more }),
  ),
});
const states = () => Object.fromEntries(store.deliveries.countByState().map(({ state, count }) => [state, count]));

it('lets other work run while it stores thousands of deliveries', async () => {
  let turns = 0;
  const count = (): void => {
    turns++;
    if (states().pending !== COUNT) setImmediate(count);
  };
  setImmediate(count);
  const kept = await store.chain.record(blockOf('three'), 0);
  expect([kept!.length, states()]).toEqual([COUNT, { pending: COUNT }]);
  expect(turns).toBeGreaterThan(1);
  expect(store.chain.state()!.nextBlock).toBe(4);
});

it('stores the rest of a block after a kill, each event once', async () => {
  void store.chain.record(blockOf('three'), 0).catch(() => undefined);
  store.close();
  store = openStore(folder);
  expect(states().pending).toBeLessThan(COUNT);
  expect(store.chain.state()).toMatchObject({ nextBlock: 3 });
  await store.chain.record(blockOf('three'), 0);
  expect(states()).toEqual({ pending: COUNT });
});

it('sends nothing of a block that was stored in part and left the chain before it was read again', async () => {
  void store.chain.record(blockOf('three'), 0).catch(() => undefined);
  store.close();
  store = openStore(folder);
  const part = states().pending!;
  await store.chain.record(blockOf('other three'), 0);
  expect(states()).toEqual({ dropped: part, pending: COUNT });
});

it('stops storing a block that leaves the chain meanwhile', async () => {
  const stored = store.chain.record(blockOf('three'), 0);
  store.chain.rewind(2);
  expect(await stored).toBeNull();
  expect(states().pending).toBeUndefined();
});

it('deletes finished deliveries in batches, faster than new ones arrive', async () => {
  await store.chain.record(blockOf('three'), 0);
  for (let id = 1; id <= COUNT; id++) store.deliveries.deliver(id, 0);
  store.chain.skipTo(300, { number: 299, hash: 'late', time: 0 });
  const empty = { deliveries: [], unreadable: [], time: 0, tracesMissing: null };
  await store.chain.record({ ...empty, number: 300, hash: '300' }, 0);
  expect(states().delivered).toBe(COUNT - 1_000);
  await store.chain.record({ ...empty, number: 301, hash: '301' }, 0);
  expect(states()).toEqual({});
});

it('writes what comes at the same time together, and a failure undoes only its own changes', async () => {
  await store.chain.record(blockOf('three'), 0);
  const failed = store.commit(() => {
    store.deliveries.deliver(1, 0);
    throw new Error('not this one');
  });
  const fine = store.commit(() => {
    store.deliveries.deliver(2, 0);
    return 'fine';
  });
  await expect(failed).rejects.toThrow('not this one');
  expect(await fine).toBe('fine');
  expect(states()).toEqual({ pending: COUNT - 1, delivered: 1 });
});
