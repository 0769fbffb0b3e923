import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callData } from '../../sandbox/chain/contracts.ts';
import { rpcOf } from '../../sandbox/chain/driver.ts';
import { HAS_ANVIL } from '../chain/has-anvil.ts';
import { inTime } from '../until.ts';
import { type Harness, startHarness, surroundings } from './harness.ts';
import { type LimitedNode, startLimitedNode } from './limited-node.ts';
import { mineSigned, signedPayment } from './signed.ts';

const NO_RECEIPTS = { code: -32601, message: 'the method eth_getBlockReceipts does not exist' };
const METHODS = ['trace_block', 'debug_traceBlockByNumber'] as const;

describe.each([{ scripted: false }, { scripted: true }])(
  'node responses on a chain with scripted: $scripted',
  ({ scripted }) => {
    const here = surroundings({ scripted });
    let node: LimitedNode;
    let services: Harness;

    let stack: AsyncDisposableStack;
    beforeEach(async () => {
      stack = new AsyncDisposableStack();
      node = stack.adopt(await startLimitedNode(here.chain.rpcUrl, []), (it) => it.close());
      services = await startHarness({ rpcUrl: node.url, dir: here.dir });
      // Tests close and restart them.
      stack.defer(() => services.close());
      await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
    });
    afterEach(() => stack.disposeAsync());

    const pay = (amount: bigint, kind: 'native' | 'internal' | 'erc20' = 'native') =>
      here.chain.transfer({ kind, from: 'Alice', to: 'Treasury', amount });
    const scan = () => services.notification.scan();
    /** What arrived, once nothing is left to send. */
    const events = async () => {
      await services.sent();
      return here.receiver.received.map(({ body }) => JSON.parse(body));
    };
    const values = async () => (await events()).map(({ value }) => value as string).sort();
    /** The chain in `/readyz`. */
    const ready = async () => {
      const { chains } = (await (await fetch(`${services.url}/readyz`)).json()) as {
        chains: { quarantined: number; gaps: [] }[];
      };
      return chains[0]!;
    };

    it('reads a response of many megabytes', async () => {
      node.change('trace_block', ([first, ...more]: object[]) => [{ ...first, output: 'f'.repeat(12e6) }, ...more]);
      await pay(9n, 'internal');
      await scan();
      expect(await values()).toEqual(['9']);
    });

    it.each([{ code: -32601, message: 'the method does not exist' }, 500])(
      'reads receipts one by one where all logs are refused and all receipts are refused with %o',
      async (refusal) => {
        node.refuse('eth_getLogs', { code: -32005, message: 'query returned more than 10000 results' });
        node.refuse('eth_getBlockReceipts', refusal);
        await pay(8n, 'erc20');
        await scan();
        expect(await values()).toEqual(['8']);
      },
    );

    it('reads many watched transactions of a block with one call', async () => {
      let calls = 0;
      node.change('eth_getTransactionReceipt', (receipt) => {
        calls++;
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

    it('reads the parts of a block and the next block at the same time', async () => {
      const asked = { trace_block: Promise.withResolvers<void>(), next: Promise.withResolvers<void>() };
      const head = Number(await rpcOf(here.chain.rpcUrl)('eth_blockNumber'));
      const both = Promise.all([asked.trace_block.promise, asked.next.promise]).then(() => true);
      const { promise: late, resolve } = Promise.withResolvers<boolean>();
      // The node would be waited for half a minute, and then asked in another way.
      const timer = setTimeout(() => resolve(false), 20_000);
      const together: boolean[] = [];
      node.change('eth_getBlockReceipts', async (logs) => {
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
      await pay(1n, 'erc20');
      await pay(2n, 'erc20');
      await scan();
      clearTimeout(timer);
      expect(together).toEqual([true, true]);
      expect(await values()).toEqual(['1', '2']);
    });

    it('rejects a missing list of logs instead of reading it as empty', async () => {
      node.refuse('eth_getBlockReceipts', NO_RECEIPTS);
      node.change('eth_getLogs', () => null);
      await pay(8n, 'erc20');
      await scan();
      expect(await values()).toEqual(['8']);
    });

    it('reports every log where each transaction counts its logs from 0', async () => {
      node.refuse('eth_getBlockReceipts', NO_RECEIPTS);
      node.change('eth_getLogs', (logs: object[]) => logs.map((log) => ({ ...log, logIndex: '0x0' })));
      await here.chain.burst(10, { from: 'Alice', to: 'Treasury' });
      await scan();
      expect(await events()).toHaveLength(10);
    });

    it('reports logs newest first and ignores logs of removed blocks', async () => {
      node.refuse('eth_getBlockReceipts', NO_RECEIPTS);
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

    it('reports internal transfers later when the node returns the traces of another block', async () => {
      const transactionHash = `0x${'7'.repeat(64)}`;
      node.refuse('debug_traceBlockByNumber', 502);
      for (const amount of [8n, 9n]) {
        node.change('trace_block', (traces: object[]) => traces.map((one) => ({ ...one, transactionHash })));
        await pay(amount, 'internal');
        await scan();
        expect(await values()).not.toContain(String(amount));
        node.change('trace_block', null);
        services.clock.advance(1_000);
        await scan();
        expect(await values()).toContain(String(amount));
      }
    });

    it('rejects a receipt or traces of another block that holds the same transaction', async () => {
      const blockHash = `0x${'7'.repeat(64)}`;
      node.refuse('eth_getBlockReceipts', NO_RECEIPTS);
      node.refuse('debug_traceBlockByNumber', 502);
      node.change('eth_getLogs', () => null);
      node.change('eth_getTransactionReceipt', (receipt: object) => ({ ...receipt, blockHash, logs: [] }));
      await pay(8n, 'erc20');
      await expect(scan()).rejects.toThrow(/receipt .* in another block/);
      node.change('eth_getTransactionReceipt', null);
      node.change('trace_block', ([first]: object[]) => [{ ...first, blockHash }]);
      await pay(9n, 'internal');
      await scan();
      expect(await values()).toEqual(['8']);
      node.change('trace_block', null);
      services.clock.advance(1_000);
      await scan();
      expect(await values()).toEqual(['8', '9']);
    });

    it('reports an NFT older than its standard, whose log has everything in its data', async () => {
      node.refuse('eth_getBlockReceipts', NO_RECEIPTS);
      await services.watch(here.receiver.url, [here.chain.wallets.Grants], { eventType: 'ERC721' });
      node.change('eth_getBlockByNumber', (block: object) => ({ ...block, logsBloom: undefined }));
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

    it('quarantines one unreadable trace and reports everything else at once', async () => {
      node.change('trace_block', (traces: { action: object }[]) =>
        traces.map((trace) => ({ ...trace, action: { ...trace.action, to: '0x' } })),
      );
      await pay(9n, 'internal');
      await pay(1n);
      await scan();
      expect(await values()).toEqual(['1']);
      expect((await ready()).quarantined).toBe(1);
    });

    it('reports transfers whose gas figures cannot be read without them, and quarantines their receipts', async () => {
      const spoiled = (receipt: object) => ({ ...receipt, gasUsed: '0x', effectiveGasPrice: 'cheap' });
      node.change('eth_getTransactionReceipt', spoiled);
      node.change('eth_getBlockReceipts', (receipts: object[]) => receipts.map(spoiled));
      await pay(3n);
      await pay(4n, 'erc20');
      await scan();
      expect(await values()).toEqual(['3', '4']);
      const fields = (await events()).flatMap((body) => Object.keys(body));
      expect(fields.filter((name) => /^gas|^txnValue/.test(name))).toEqual([]);
      expect(await ready()).toMatchObject({ quarantined: 2, gaps: [] });
    });

    it('rejects another block than the one it asked for', async () => {
      await pay(1n);
      const before = await rpcOf(here.chain.rpcUrl)('eth_getBlockByNumber', ['0x1', true]);
      node.change('eth_getBlockByNumber', (block: object, [, isFull]) => (isFull ? before : block));
      await expect(scan()).rejects.toThrow(/another block/);
      node.change('eth_getBlockByNumber', null);
      await scan();
      expect(await values()).toEqual(['1']);
    });

    it('ends without waiting for an unresponsive node', async () => {
      await services.close();
      const lines: string[] = [];
      const log = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
      services = await startHarness({ rpcUrl: node.url, dir: here.dir, log });
      const asked = Promise.withResolvers<void>();
      node.change('eth_getBlockByNumber', () => {
        asked.resolve();
        return new Promise(() => undefined);
      });
      services.clock.advance(1000);
      await inTime('the node is asked for a block', asked.promise);
      const { promise: late, resolve } = Promise.withResolvers<string>();
      // The node would be waited for half a minute.
      const timer = setTimeout(() => resolve('waits for the node'), 20_000);
      expect(await Promise.race([services.close().then(() => 'ended'), late])).toBe('ended');
      clearTimeout(timer);
      expect(lines).toEqual([]);
      node.change('eth_getBlockByNumber', null);
      services = await startHarness({ rpcUrl: node.url, dir: here.dir });
      await pay(1n);
      await scan();
      expect(await values()).toEqual(['1']);
    });

    it('reports internal transfers late, not never, when tracing is broken from the start', async () => {
      for (const method of METHODS) node.refuse(method, 502);
      await pay(1n);
      await pay(2n, 'internal');
      await scan();
      expect(await values()).toEqual(['1']);
      expect((await ready()).gaps).toMatchObject([{ part: 'traces' }]);
      for (const method of METHODS) node.refuse(method, null);
      await pay(3n, 'internal');
      await scan();
      await scan();
      expect(await values()).toEqual(['1', '2', '3']);
      expect((await ready()).gaps).toEqual([]);
    });

    it('continues at the same block of a node that does not keep the first block', async () => {
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

    it('does not start at the first block when the newest one is unreadable', async () => {
      await services.close();
      here.dir = join(here.dir, 'another');
      node.change('eth_getBlockByNumber', (block, [tag]) => (tag === 'latest' ? null : block));
      services = await startHarness({ rpcUrl: node.url, dir: here.dir });
      await services.watch(here.receiver.url, [here.chain.wallets.Treasury]);
      await pay(1n);
      await expect(scan()).rejects.toThrow(/newest block cannot be read/);
      node.change('eth_getBlockByNumber', null);
      await scan();
      await pay(2n);
      await scan();
      expect(await values()).toEqual(['2']);
    });
  },
);

describe.skipIf(!HAS_ANVIL)('over a chain with anvil', () => {
  const here = surroundings();

  const start = async (missing: readonly string[] = []) => {
    const node = await startLimitedNode(here.chain.rpcUrl, missing);
    const services = await startHarness({ rpcUrl: node.url, dir: here.dir });
    await services.watch(here.receiver.url, [here.chain.wallets.Payroll]);
    const values = async () => {
      await services.notification.scan();
      await services.sent();
      return here.receiver.received.map(({ body }) => JSON.parse(body).value as string).sort();
    };
    const close = async () => {
      await services.close();
      await node.close();
    };
    return { node, services, values, close };
  };
  const pay = (amount: bigint, kind: 'native' | 'internal' | 'erc20') =>
    here.chain.transfer({ kind, from: 'Alice', to: 'Payroll', amount });

  it('rejects an empty list of logs for a block whose Bloom filter has some', async () => {
    const { node, values, close } = await start(['eth_getBlockReceipts']);
    node.change('eth_getLogs', () => []);
    await pay(7n, 'erc20');
    expect(await values()).toEqual(['7']);
    await close();
  });

  it('rejects a list of logs that lacks some of those in the Bloom filter', async () => {
    const { node, values, close } = await start(['eth_getBlockReceipts']);
    node.change('eth_getLogs', (logs: { address: string }[]) =>
      logs.filter(({ address }) => address.toLowerCase() !== here.chain.tokens.dollar.address.toLowerCase()),
    );
    const rpc = rpcOf(here.chain.rpcUrl);
    const transferOf = (name: 'dollar' | 'bell', amount: bigint) => ({
      from: here.chain.wallets.Whale,
      to: here.chain.tokens[name].address,
      data: callData('Coin', 'transfer', [here.chain.wallets.Payroll, amount]),
      gas: '0x30d40',
    });
    for (const [name, amount] of [
      ['bell', 1n],
      ['dollar', 2n],
    ] as const) {
      await rpc('eth_sendTransaction', [transferOf(name, amount)]);
    }
    await rpc('evm_mine');
    expect(await values()).toEqual(['1', '2']);
    await close();
  });

  it('rejects logs of another block, although they fit its Bloom filter', async () => {
    const { node, values, close } = await start(['eth_getBlockReceipts']);
    await pay(7n, 'erc20');
    expect(await values()).toEqual(['7']);
    let earlier: object[] = [];
    node.change('eth_getLogs', (logs: object[]) => {
      const stale = earlier;
      earlier = logs;
      return stale.length > 0 ? stale : logs;
    });
    await pay(8n, 'erc20');
    await pay(9n, 'erc20');
    expect(await values()).toEqual(['7', '8', '9']);
    await close();
  });

  it('rejects the receipt of another transaction in the same block', async () => {
    const { node, values, close } = await start(['eth_getBlockReceipts']);
    const rpc = rpcOf(here.chain.rpcUrl);
    const { Alice, Payroll } = here.chain.wallets;
    const transaction = { from: Alice, gas: '0x30d40' };
    const failing = await rpc<string>('eth_sendTransaction', [{ ...transaction, data: '0xfe' }]);
    await rpc('eth_sendTransaction', [{ ...transaction, to: Payroll, value: '0x5' }]);
    await rpc('evm_mine');
    const reverted = await rpc('eth_getTransactionReceipt', [failing]);
    let isFirst = true;
    node.change('eth_getTransactionReceipt', (receipt) => {
      const given = isFirst ? reverted : receipt;
      isFirst = false;
      return given;
    });
    await expect(values()).rejects.toThrow(/another receipt/);
    expect(await values()).toEqual(['5']);
    await close();
  });

  it('notices receipts that lack a log by the Bloom filter of their block', async () => {
    const { node, values, close } = await start();
    node.change('eth_getBlockReceipts', (receipts: object[]) => receipts.map((one) => ({ ...one, logs: [] })));
    await pay(7n, 'erc20');
    expect(await values()).toEqual(['7']);
    await close();
  });

  it('notices a block that lacks a transaction by its transactions root', async () => {
    const { node, services, values, close } = await start();
    node.change('eth_getBlockByNumber', (block: { transactions: unknown[] } | null, [, isFull]) =>
      isFull && block !== null ? { ...block, transactions: block.transactions.slice(1) } : block,
    );
    await mineSigned(here.chain, await signedPayment(here.chain, here.chain.wallets.Payroll, 7n));
    await expect(services.notification.scan()).rejects.toThrow(/only some transactions/);
    node.change('eth_getBlockByNumber', null);
    expect(await values()).toEqual(['7']);
    await close();
  });

  it('notices traces that lack a transaction, and reports its internal transfer later', async () => {
    const { node, services, values, close } = await start(['debug_traceBlockByNumber']);
    node.change('trace_block', (traces: { traceAddress: number[] }[]) =>
      traces.filter(({ traceAddress }) => traceAddress.length > 0),
    );
    await pay(7n, 'internal');
    expect(await values()).toEqual([]);
    node.change('trace_block', null);
    services.clock.advance(1_000);
    expect(await values()).toEqual(['7']);
    await close();
  });

  it('assigns debug traces without a transaction hash by their position', async () => {
    const { node, values, close } = await start(['trace_block']);
    node.change('debug_traceBlockByNumber', (traces: { result: object }[]) => traces.map(({ result }) => ({ result })));
    await pay(1n, 'internal');
    expect(await values()).toEqual(['1']);
    await close();
  });

  it('uses the other way of tracing at once where one is no longer offered', async () => {
    const { node, values, close } = await start();
    await pay(1n, 'internal');
    expect(await values()).toEqual(['1']);
    node.refuse('trace_block', { code: -32601, message: 'the method trace_block is not available' });
    await pay(2n, 'internal');
    expect(await values()).toEqual(['1', '2']);
    await close();
  });
});
