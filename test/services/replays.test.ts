import { expect, it } from 'vitest';
import { limitedSurroundings } from './harness.ts';

const here = limitedSurroundings({ watches: false });

const { arrived, call, pay, scan, watch } = here;

it('replays earlier blocks for a webhook made with fromBlock, and nothing twice', async () => {
  const { blockNumber } = await pay(1n);
  await pay(2n);
  await scan();
  await watch({ fromBlock: blockNumber });
  expect(await arrived()).toEqual(['1', '2']);
  await pay(3n);
  expect(await arrived()).toEqual(['1', '2', '3']);
});

it('sends the events of a block range again on request, marked as a replay', async () => {
  const webhookId = await watch();
  const { blockNumber } = await pay(1n);
  expect(await arrived()).toEqual(['1']);
  const request = { webhookId, fromBlock: blockNumber, toBlock: blockNumber };
  expect((await call('POST', '/webhook/replay', request)).status).toBe(202);
  expect(await arrived()).toEqual(['1', '1']);
  expect(here.receiver.received[1]!.headers['ledgerbell-replay']).toBe('true');
});

it('continues the replays of others when one cannot read its block, and shows why', async () => {
  const { blockNumber: first } = await pay(1n);
  const { blockNumber: second } = await pay(2n);
  await scan();
  here.node.change('eth_getBlockByNumber', (block, [tag, isFull]) => (isFull && Number(tag) === first ? null : block));
  const webhookId = await watch({ fromBlock: first });
  await watch({ fromBlock: second });
  expect(await arrived()).toEqual(['2']);
  const { body } = await call('GET', `/webhook/${webhookId}`);
  expect(body).toMatchObject({ replays: [{ next: first, error: expect.stringContaining('does not have block') }] });
  here.node.change('eth_getBlockByNumber', null);
  here.advance(1_000);
  expect(await arrived()).toEqual(['1', '2', '2']);
});

it('replays no block that differs from the one that was read before', async () => {
  const { blockNumber } = await pay(1n);
  await scan();
  await watch();
  await pay(2n);
  expect(await arrived()).toEqual(['2']);
  const hash = `0x${'7'.repeat(64)}`;
  here.node.change('eth_getBlockByNumber', (block: object, [tag, isFull]) =>
    isFull && Number(tag) === blockNumber + 1 ? { ...block, hash, transactionsRoot: undefined } : block,
  );
  await watch({ fromBlock: blockNumber + 1 });
  expect(await arrived()).toEqual(['2']);
  here.node.change('eth_getBlockByNumber', null);
  here.advance(1_000);
  expect(await arrived()).toEqual(['2', '2']);
});

it('continues a replay after 10 minutes without the traces that no node has', async () => {
  const { blockNumber } = await pay(1n);
  await pay(2n, 'internal');
  await pay(3n);
  await scan();
  here.node.refuse(['trace_block', 'debug_traceBlockByNumber'], 503);
  await watch({ fromBlock: blockNumber });
  expect(await arrived()).toEqual([]);
  here.advance(600_000);
  await scan();
  expect(await arrived()).toEqual(['1', '3']);
});

it('lists deliveries that were given up and sends them again on request', async () => {
  const webhookId = await watch();
  here.receiver.answer(500);
  let settled = here.services.step(({ type }) => type === 'scheduled' || type === 'ended');
  await pay(1n);
  await scan();
  for (const delay of [15_000, 60_000, 600_000, 3_600_000, 86_400_000, 86_400_000]) {
    await settled;
    await new Promise((resolve) => setImmediate(resolve));
    settled = here.services.step(({ type }) => type === 'scheduled' || type === 'ended');
    here.advance(delay);
  }
  expect(await settled).toMatchObject({ type: 'ended', outcome: 'exhausted' });
  const { body: failed } = await call('GET', `/webhook/failed/${webhookId}`);
  expect(failed).toMatchObject([{ attempts: 7, error: 'HTTP 500', body: expect.stringContaining('"value":"1"') }]);
  here.receiver.answer(200);
  expect((await call('POST', '/webhook/replay', { webhookId, failed: 'all' })).status).toBe(202);
  await here.services.sent();
  expect((await call('GET', `/webhook/failed/${webhookId}`)).body).toEqual([]);
});
