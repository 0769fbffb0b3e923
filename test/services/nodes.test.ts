import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rpcOf } from '../../sandbox/chain/driver.ts';
import { hasAnvil } from '../chain/kinds.ts';
import { type Harness, startHarness, surroundings } from './harness.ts';
import { type LimitedNode, startLimitedNode } from './limited-node.ts';

const patience = 120_000;
const methods = ['trace_block', 'debug_traceBlockByNumber'] as const;

describe.each([{ scripted: false }, { scripted: true }])(
  'what nodes answer, over a chain with scripted: $scripted',
  ({ scripted }) => {
    const here = surroundings({ scripted });
    let node: LimitedNode;
    let services: Harness;

    beforeEach(async () => {
      node = await startLimitedNode(here.chain.rpcUrl, []);
      services = await startHarness({ rpcUrl: node.url, dir: here.dir });
      await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
    });
    afterEach(async () => {
      await services.close();
      await node.close();
    });

    const pay = (amount: bigint, kind: 'native' | 'internal' | 'erc20' = 'native') =>
      here.chain.transfer({ kind, from: 'Alice', to: 'Treasury', amount });
    const scan = () => services.notification.scan();
    /** What arrived, once nothing is to be sent any more. */
    const events = async () => {
      await services.sent();
      return here.receiver.received.map(({ body }) => JSON.parse(body));
    };
    const values = async () => (await events()).map(({ value }) => value as string).sort();

    test('an answer of many megabytes is read', async () => {
      node.change('trace_block', ([first, ...more]: object[]) => [{ ...first, output: 'f'.repeat(12e6) }, ...more]);
      await pay(9n, 'internal');
      await scan();
      expect(await values()).toEqual(['9']);
    });

    test.each([{ code: -32601, message: 'the method does not exist' }, 500])(
      'logs that are not answered at once are read receipt by receipt where all at once is answered with %o',
      async (refusal) => {
        node.refuse('eth_getLogs', { code: -32005, message: 'query returned more than 10000 results' });
        node.refuse('eth_getBlockReceipts', refusal);
        await pay(8n, 'erc20');
        await scan();
        expect(await values()).toEqual(['8']);
      },
    );

    test('a block with many watched transactions does not cost a call for each of them', async () => {
      let calls = 0;
      node.change('eth_getTransactionReceipt', (receipt) => {
        calls += 1;
        return receipt;
      });
      await here.chain.burst(50, { from: 'Alice', to: 'Treasury' });
      await scan();
      expect(await events()).toHaveLength(50);
      expect(calls).toBe(0);
      node.refuse('eth_getBlockReceipts', 500);
      await here.chain.burst(50, { from: 'Alice', to: 'Treasury' });
      await scan();
      expect(await events()).toHaveLength(100);
      expect(calls).toBe(50);
    });

    test('what a block holds, and the next block, are asked for at the same time', async () => {
      const asked = { trace_block: Promise.withResolvers<void>(), next: Promise.withResolvers<void>() };
      const head = Number(await rpcOf(here.chain.rpcUrl)('eth_blockNumber'));
      const both = Promise.all([asked.trace_block.promise, asked.next.promise]).then(() => true);
      const { promise: late, resolve } = Promise.withResolvers<boolean>();
      // The node would be waited for half a minute, and then asked in another way.
      const timer = setTimeout(() => resolve(false), 20_000);
      const together: boolean[] = [];
      node.change('eth_getLogs', async (logs) => {
        together.push(await Promise.race([both, late]));
        return logs;
      });
      node.change('trace_block', (traces) => {
        asked.trace_block.resolve();
        return traces;
      });
      node.change('eth_getBlockByNumber', (block, [number]) => {
        if (Number(number) === head + 2) asked.next.resolve();
        return block;
      });
      await pay(1n);
      await pay(2n);
      await scan();
      clearTimeout(timer);
      expect(together).toEqual([true, true]);
      expect(await values()).toEqual(['1', '2']);
    });

    test('no list of logs is not an empty one', async () => {
      node.change('eth_getLogs', () => null);
      await pay(8n, 'erc20');
      await scan();
      expect(await values()).toEqual(['8']);
    });

    test('logs that each transaction counts anew are all told', async () => {
      node.change('eth_getLogs', (logs: object[]) => logs.map((log) => ({ ...log, logIndex: '0x0' })));
      await here.chain.burst(10, { from: 'Alice', to: 'Treasury' });
      await scan();
      expect(await events()).toHaveLength(10);
    });

    test('logs are told in the chain’s order, newest first, but none of a block that is not part of the chain', async () => {
      type Log = { topics: string[]; logIndex: string };
      node.change('eth_getLogs', (logs: Log[]) => [
        ...logs.toReversed(),
        ...logs.map((log) => ({ ...log, logIndex: '0xff', removed: true })),
      ]);
      const { hash } = await here.chain.sweep({ from: 'Alice', to: 'Treasury', count: 3 });
      const rpc = rpcOf(here.chain.rpcUrl);
      const { logs } = await rpc<{ logs: Log[] }>('eth_getTransactionReceipt', [hash]);
      await scan();
      expect((await events()).map(({ tokenId }) => tokenId)).toEqual(
        logs.map(({ topics }) => Number(topics[3])).reverse(),
      );
    });

    test('traces of another block are not taken for those of this one', async () => {
      const transactionHash = `0x${'7'.repeat(64)}`;
      // However often: each time there is as much patience.
      for (const amount of [8n, 9n]) {
        node.change('trace_block', (traces: object[]) => traces.map((one) => ({ ...one, transactionHash })));
        await pay(amount, 'internal');
        await expect(scan()).rejects.toThrow(/traces of another block/);
        node.change('trace_block', null);
        await scan();
        expect(await values()).toContain(String(amount));
        services.clock.advance(patience);
      }
    });

    test('what another node tells of the same transactions in another block is not taken for this one', async () => {
      const blockHash = `0x${'7'.repeat(64)}`;
      node.change('eth_getLogs', () => null);
      node.change('eth_getTransactionReceipt', (receipt: object) => ({ ...receipt, blockHash, logs: [] }));
      await pay(8n, 'erc20');
      await expect(scan()).rejects.toThrow(/receipt .* in another block/);
      node.change('eth_getTransactionReceipt', null);
      node.change('trace_block', ([first]: object[]) => [{ ...first, blockHash }]);
      await pay(9n, 'internal');
      await expect(scan()).rejects.toThrow(/traces of another block/);
      node.change('trace_block', null);
      await scan();
      expect(await values()).toEqual(['8', '9']);
    });

    test('transfers of an NFT that is older than its standard, all of it in the data, are told', async () => {
      await services.watch(here.receiver.url, [here.chain.wallets.Grants], 'ERC721');
      node.change('eth_getLogs', (logs: { topics: string[] }[]) =>
        logs.map(({ topics: [topic, ...rest], ...log }) => ({
          ...log,
          topics: [topic],
          data: `0x${rest.map((one) => one.slice(2)).join('')}`,
        })),
      );
      await here.chain.transfer({ kind: 'erc721', from: 'Alice', to: 'Grants', id: 4242n });
      await scan();
      expect(await events()).toMatchObject([
        {
          tokenType: 'ERC-721',
          tokenId: 4242,
          tokenAddress: here.chain.tokens.keys.address,
          from: here.chain.wallets.Alice,
          to: here.chain.wallets.Grants,
        },
      ]);
    });

    test('traces that cannot be read hold nothing up for good', async () => {
      node.change('trace_block', (traces: { action: object }[]) =>
        traces.map((trace) => ({ ...trace, action: { ...trace.action, to: '0x' } })),
      );
      await pay(9n, 'internal');
      await pay(1n);
      await expect(scan()).rejects.toThrow(/invalid/);
      services.clock.advance(patience);
      await scan();
      expect(await values()).toEqual(['1']);
    });

    test('another block than the one asked for is not taken for it', async () => {
      await pay(1n);
      const before = await rpcOf(here.chain.rpcUrl)('eth_getBlockByNumber', ['0x1', true]);
      node.change('eth_getBlockByNumber', (block: object, [number]) => (number === '0x0' ? block : before));
      await expect(scan()).rejects.toThrow(/another block/);
      node.change('eth_getBlockByNumber', null);
      await scan();
      expect(await values()).toEqual(['1']);
    });

    test('a node that does not answer does not keep the services from ending', async () => {
      await services.close();
      const lines: string[] = [];
      const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
      services = await startHarness({ rpcUrl: node.url, dir: here.dir, log });
      const asked = Promise.withResolvers<void>();
      node.change('eth_blockNumber', () => {
        asked.resolve();
        return new Promise(() => undefined);
      });
      services.clock.advance(1000);
      await asked.promise;
      const { promise: late, resolve } = Promise.withResolvers<string>();
      // The node would be waited for half a minute.
      const timer = setTimeout(() => resolve('waits for the node'), 20_000);
      expect(await Promise.race([services.close().then(() => 'ended'), late])).toBe('ended');
      clearTimeout(timer);
      expect(lines).toEqual([]);
      node.change('eth_blockNumber', null);
      services = await startHarness({ rpcUrl: node.url, dir: here.dir });
      await pay(1n);
      await scan();
      expect(await values()).toEqual(['1']);
    });

    test('tracing that breaks from the start holds nothing up for good, and is found once it works', async () => {
      for (const method of methods) node.refuse(method, 502);
      await pay(1n);
      await expect(scan()).rejects.toThrow(/502/);
      services.clock.advance(patience);
      await scan();
      await pay(2n);
      await scan();
      expect(await values()).toEqual(['1', '2']);
      for (const method of methods) node.refuse(method, null);
      services.clock.advance(600_000);
      await pay(3n, 'internal');
      await scan();
      expect(await values()).toEqual(['1', '2', '3']);
    });

    test('a node that keeps no first block is read all the same, and from where it was left', async () => {
      node.change('eth_getBlockByNumber', (block: object, [number]) => (number === '0x0' ? null : block));
      await services.close();
      await pay(1n);
      services = await startHarness({ rpcUrl: node.url, dir: here.dir });
      expect(await values()).toEqual(['1']);
      await services.close();
      here.dir = join(here.dir, 'another');
      services = await startHarness({ rpcUrl: node.url, dir: here.dir });
      await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
      await services.close();
      await pay(2n);
      node.change('eth_getBlockByNumber', null);
      services = await startHarness({ rpcUrl: node.url, dir: here.dir });
      expect(await values()).toEqual(['1', '2']);
    });

    test('a newest block that cannot be read is not the first one', async () => {
      await services.close();
      here.dir = join(here.dir, 'another');
      node.change('eth_blockNumber', () => null);
      services = await startHarness({ rpcUrl: node.url, dir: here.dir });
      await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
      await pay(1n);
      await expect(scan()).rejects.toThrow(/eth_blockNumber cannot be read/);
      node.change('eth_blockNumber', null);
      await scan();
      await pay(2n);
      await scan();
      expect(await values()).toEqual(['2']);
    });
  },
);

describe.skipIf(!hasAnvil)('over a chain with anvil', () => {
  const here = surroundings();

  test('no logs of a block that says that it has some are not believed', async () => {
    const node = await startLimitedNode(here.chain.rpcUrl, []);
    const services = await startHarness({ rpcUrl: node.url, dir: here.dir });
    await services.watch(here.receiver.url, [here.chain.wallets.Payroll]);
    node.change('eth_getLogs', () => []);
    await here.chain.transfer({ kind: 'erc20', from: 'Alice', to: 'Payroll', amount: 7n });
    await services.notification.scan();
    await services.sent();
    const events = here.receiver.received.map(({ body }) => JSON.parse(body));
    expect(events).toMatchObject([{ tokenType: 'ERC-20', value: '7' }]);
    await services.close();
    await node.close();
  });

  test('debug traces that do not name their transaction belong to the one in their place; empty blocks tell nothing', async () => {
    const node = await startLimitedNode(here.chain.rpcUrl, ['trace_block']);
    const services = await startHarness({ rpcUrl: node.url, dir: here.dir });
    await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
    const values = async () => {
      await services.sent();
      return here.receiver.received.map(({ body }) => JSON.parse(body).value as string).sort();
    };
    node.change('debug_traceBlockByNumber', (traces: { result: object }[]) => traces.map(({ result }) => ({ result })));
    await here.chain.transfer({ kind: 'internal', from: 'Alice', to: 'Treasury', amount: 1n });
    await services.notification.scan();
    expect(await values()).toEqual(['1']);

    // Pruned from here on. An empty block between must not start the patience anew.
    node.refuse('debug_traceBlockByNumber', { code: -32000, message: 'historical state unavailable' });
    await here.chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount: 2n });
    await rpcOf(here.chain.rpcUrl)('evm_mine');
    await here.chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount: 3n });
    await expect(services.notification.scan()).rejects.toThrow(/unavailable/);
    services.clock.advance(patience);
    await services.notification.scan();
    expect(await values()).toEqual(['1', '2', '3']);
    await services.close();
    await node.close();
  });

  test('where one way of tracing ends, another one is found', async () => {
    const node = await startLimitedNode(here.chain.rpcUrl, []);
    const services = await startHarness({ rpcUrl: node.url, dir: here.dir });
    await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
    await here.chain.transfer({ kind: 'internal', from: 'Alice', to: 'Treasury', amount: 1n });
    await services.notification.scan();
    node.refuse('trace_block', { code: -32601, message: 'the method trace_block is not available' });
    await here.chain.transfer({ kind: 'native', from: 'Alice', to: 'Treasury', amount: 2n });
    await expect(services.notification.scan()).rejects.toThrow(/not available/);
    services.clock.advance(patience);
    await services.notification.scan();
    services.clock.advance(600_000);
    await here.chain.transfer({ kind: 'internal', from: 'Alice', to: 'Treasury', amount: 3n });
    await services.notification.scan();
    await services.sent();
    const values = here.receiver.received.map(({ body }) => JSON.parse(body).value);
    expect(values.sort()).toEqual(['1', '2', '3']);
    await services.close();
    await node.close();
  });
});
