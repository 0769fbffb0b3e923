import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '../children.ts';
import { type NodeShape, type NodeState, WATCHED, watchedAddress } from './shape.ts';

/** A node as a process of its own: a chain of made-up blocks, each a function of its number, after a delay per call. */

const shape = JSON.parse(process.argv[2]!) as NodeShape;
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const TOKEN = `0x${'c'.repeat(40)}`;
const STRANGER = `0x${'b'.repeat(40)}`;
const hex = (value: number): string => `0x${value.toString(16)}`;
const word = (value: number | string): string =>
  `0x${(typeof value === 'number' ? value.toString(16) : value.slice(2)).padStart(64, '0')}`;
const hashOf = (number: number): string => word(number + 1);
const txHash = (number: number, index: number): string =>
  `0x${'7'.repeat(48)}${number.toString(16).padStart(8, '0')}${index.toString(16).padStart(8, '0')}`;

let mined = 0;
let growingSince: number | null = null;
let calls = 0;

function state(): NodeState {
  if (growingSince === null || shape.blockMs === 0) return { height: mined, calls, since: 0 };
  const grown = Math.floor((Date.now() - growingSince) / shape.blockMs);
  return { height: mined + grown, calls, since: growingSince + grown * shape.blockMs };
}

/** The receiver of a block's transaction: watched ones are spread evenly. */
function receiverOf(number: number, index: number): string {
  const isWatched = Math.floor((index + 1) * shape.watched) > Math.floor(index * shape.watched);
  return isWatched ? watchedAddress((number + index) % WATCHED) : STRANGER;
}

const indexes = () => Array.from({ length: shape.transfers }, (_, index) => index);
const isToken = (index: number): boolean => index % 4 >= 2;

function block(number: number, isFull: boolean) {
  const common = {
    number: hex(number),
    hash: hashOf(number),
    parentHash: hashOf(number - 1),
    timestamp: hex(1_700_000_000 + number),
  };
  if (!isFull) return { ...common, transactions: [] };
  const transactions = indexes().map((index) => ({
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
  }));
  return { ...common, transactions };
}

function logOf(number: number, index: number) {
  const topics = [TRANSFER, word(STRANGER), word(receiverOf(number, index))];
  return {
    address: TOKEN,
    topics,
    data: word(9),
    transactionHash: txHash(number, index),
    logIndex: hex(index),
    blockHash: hashOf(number),
  };
}

function receipt(number: number, index: number) {
  return {
    transactionHash: txHash(number, index),
    blockHash: hashOf(number),
    status: '0x1',
    gasUsed: '0x5208',
    effectiveGasPrice: '0xa',
    cumulativeGasUsed: '0x5208',
    contractAddress: null,
    logs: isToken(index) ? [logOf(number, index)] : [],
  };
}

function traces(number: number) {
  return indexes().map((index) => ({
    type: 'call',
    action: { callType: 'call', from: STRANGER, to: receiverOf(number, index), value: '0x5' },
    traceAddress: [],
    transactionHash: txHash(number, index),
    blockHash: hashOf(number),
  }));
}

/** The response to a call for a token's name, symbol or decimals. */
function factOf(data: string): string {
  return data === '0x313ce567' ? word(18) : `${word(32)}${word(4).slice(2)}${'42454c4c'.padEnd(64, '0')}`;
}

function answer(method: string, params: never[]): { result: unknown } | { error: object } {
  const [first, second] = params as unknown as [string | { blockHash: string; data: string }, boolean];
  const numberIn = (text: unknown) => (text === 'latest' ? state().height : Number(text));
  switch (method) {
    case 'eth_chainId':
      return { result: '0x539ab' };
    case 'eth_getBlockByNumber': {
      const number = numberIn(first);
      return { result: number > state().height ? null : block(number, second) };
    }
    case 'eth_getBlockReceipts':
      if (shape.hasBlockReceipts) {
        const number = Number(first) - 1;
        return { result: indexes().map((index) => receipt(number, index)) };
      }
      break;
    case 'eth_getLogs': {
      const number = Number((first as { blockHash: string }).blockHash) - 1;
      return {
        result: indexes()
          .filter(isToken)
          .map((index) => logOf(number, index)),
      };
    }
    case 'eth_getTransactionReceipt': {
      const hash = first as string;
      return { result: receipt(Number.parseInt(hash.slice(50, 58), 16), Number.parseInt(hash.slice(58), 16)) };
    }
    case 'trace_block':
      return { result: traces(Number(first)) };
    case 'eth_call':
      return { result: factOf((first as { data: string }).data) };
  }
  return { error: { code: -32601, message: `the method ${method} is not available` } };
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    type Call = { id: number; method: string; params: never[] };
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Call | Call[];
    const all = [body].flat();
    calls += all.length;
    const isTrace = all.some(({ method }) => method.startsWith('trace'));
    const reply = () => {
      const answers = all.map(({ id, method, params }) => ({ jsonrpc: '2.0', id, ...answer(method, params) }));
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    };
    setTimeout(reply, isTrace ? shape.traceMs : shape.latencyMs);
  });
});

server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  serve({ url }, (question) => {
    const [verb, count] = question.split(' ');
    if (verb === 'mine') mined += Number(count);
    if (verb === 'grow') growingSince = Date.now();
    return state();
  });
});
