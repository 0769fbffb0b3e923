import { setTimeout as wait } from 'node:timers/promises';
import fastify from 'fastify';
import { serve } from './processes.ts';

/** Made-up blocks, each a function of its number, after a delay per call. The process also receives the deliveries. */

export interface Shape {
  /** Per block, half payments and half ERC-20. */
  transfers: number;
  /** Share of the transactions that pay a watched address. */
  watched: number;
  /** false: the node has no eth_getBlockReceipts, as many do. */
  hasBlockReceipts: boolean;
}

export interface State {
  height: number;
  calls: number;
  deliveries: number;
}

interface Call {
  id: number;
  method: string;
  params: [(string | { blockHash?: string; data?: string })?, boolean?];
}

type Method = (first: string, isFull: boolean) => unknown;

export const WATCHED = Array.from(
  { length: 100 },
  (_, index) => `0x${'a'.repeat(32)}${String(index).padStart(8, '0')}`,
);

const CALL_MS = 50;
const TRACE_MS = 300;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TOKEN = `0x${'c'.repeat(40)}`;
const STRANGER = `0x${'b'.repeat(40)}`;
const hex = (value: number): string => `0x${value.toString(16)}`;
const word = (value: number | string): string =>
  `0x${(typeof value === 'number' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`;
const hashOf = (number: number): string => word(number + 1);
const numberOf = (hash: string): number => Number(hash) - 1;

function createMethods({ transfers, watched, hasBlockReceipts }: Shape, state: State): Record<string, Method> {
  const isToken = (index: number): boolean => index % 4 >= 2;
  const txHash = (number: number, index: number): string => word(`0x7${hex(number * 2 ** 16 + index).slice(2)}`);
  const indexes = Array.from({ length: transfers }, (_, index) => index);

  function receiverOf(number: number, index: number): string {
    const isWatched = Math.floor((index + 1) * watched) > Math.floor(index * watched);
    return isWatched ? WATCHED[(number + index) % WATCHED.length]! : STRANGER;
  }

  const transaction = (number: number, index: number) => ({
    hash: txHash(number, index),
    from: STRANGER,
    to: isToken(index) ? TOKEN : receiverOf(number, index),
    value: isToken(index) ? '0x0' : '0x5',
    nonce: '0x1',
    gas: '0xffff',
    gasPrice: '0xa',
    type: '0x0',
    input: `0x${'ab'.repeat(68)}`,
    v: '0x1b',
    r: word(1),
    s: word(2),
    blockHash: hashOf(number),
    blockNumber: hex(number),
    transactionIndex: hex(index),
  });

  const log = (number: number, index: number) => ({
    address: TOKEN,
    topics: [TRANSFER, word(STRANGER), word(receiverOf(number, index))],
    data: word(9),
    transactionHash: txHash(number, index),
    logIndex: hex(index),
    blockHash: hashOf(number),
    blockNumber: hex(number),
  });

  const receipt = (number: number, index: number) => ({
    transactionHash: txHash(number, index),
    transactionIndex: hex(index),
    blockHash: hashOf(number),
    status: '0x1',
    gasUsed: '0x5208',
    effectiveGasPrice: '0xa',
    cumulativeGasUsed: '0x5208',
    contractAddress: null,
    logs: isToken(index) ? [log(number, index)] : [],
  });

  const receiptsOf = (number: number) => indexes.map((index) => receipt(number, index));

  return {
    ...(hasBlockReceipts && {
      eth_getBlockReceipts: (block) => receiptsOf(block.length > 20 ? numberOf(block) : Number(block)),
    }),
    eth_chainId: () => '0x539ab',
    eth_getBlockByNumber(block, isFull) {
      const number = block === 'latest' ? state.height : Number(block);
      if (number > state.height) return null;
      return {
        number: hex(number),
        hash: hashOf(number),
        parentHash: hashOf(number - 1),
        timestamp: hex(1_700_000_000 + number),
        transactions: isFull ? indexes.map((index) => transaction(number, index)) : [],
      };
    },
    eth_getLogs: (hash) => indexes.filter(isToken).map((index) => log(numberOf(hash), index)),
    eth_getTransactionReceipt(hash) {
      const place = Number(`0x${hash.replace(/^0x0*7/, '')}`);
      return receipt(Math.floor(place / 2 ** 16), place % 2 ** 16);
    },
    trace_block: (block) =>
      indexes.map((index) => ({
        type: 'call',
        action: { callType: 'call', from: STRANGER, to: receiverOf(Number(block), index), value: '0x5' },
        subtraces: 0,
        traceAddress: [],
        transactionHash: txHash(Number(block), index),
        transactionPosition: index,
        blockHash: hashOf(Number(block)),
      })),
    eth_call: (data) =>
      data === '0x313ce567' ? word(18) : `${word(32)}${word(4).slice(2)}${'42454c4c'.padEnd(64, '0')}`,
  };
}

async function run(shape: Shape): Promise<void> {
  const state: State = { height: 0, calls: 0, deliveries: 0 };
  const methods = createMethods(shape, state);
  const answerTo = ({ id, method, params: [first, isFull = false] }: Call) => {
    const text = typeof first === 'string' ? first : (first?.blockHash ?? first?.data ?? '');
    const known = methods[method];
    if (known) return { jsonrpc: '2.0', id, result: known(text, isFull) };
    return { jsonrpc: '2.0', id, error: { code: -32601, message: `the method ${method} is not available` } };
  };
  const app = fastify();
  app.post<{ Body: Call | Call[] }>('/', async ({ body }) => {
    const calls = [body].flat();
    state.calls += calls.length;
    await wait(calls.some(({ method }) => method.startsWith('trace')) ? TRACE_MS : CALL_MS);
    return Array.isArray(body) ? calls.map(answerTo) : answerTo(body);
  });
  app.post('/hook/:name', async () => {
    state.deliveries++;
  });
  app.get('/state', async () => state);
  app.get<{ Querystring: { count: string } }>('/mine', async ({ query }) => {
    state.height += Number(query.count);
    return state;
  });
  app.get<{ Querystring: { ms: string } }>('/grow', async ({ query }) => {
    setInterval(() => state.height++, Number(query.ms));
    return state;
  });
  serve(await app.listen({ host: '127.0.0.1', port: 0 }));
}

if (import.meta.main) await run(JSON.parse(process.argv[2]!) as Shape);
