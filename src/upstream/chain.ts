import { request } from 'undici';
import type { AddressText } from '../domain/address.ts';
import type { Holding } from '../domain/balance.ts';
import {
  type ChainBlock,
  ChainError,
  type ChainFailure,
  type ChainHead,
  type ChainNode,
  type ChainPayment,
  type ChainReceipt,
  type ChainTransaction,
} from '../domain/chain-node.ts';
import { type Clock, SECOND } from '../domain/clock.ts';
import type { Balances, BlockRange, ChainLog } from '../domain/completeness.ts';
import { MIB } from '../domain/units.ts';
import { type HttpResult, readBody } from './http.ts';

/** How one network's nodes are asked. */
export interface ChainOptions {
  /** Asked in turn: the next one when one fails. They may contain keys. */
  urls: readonly string[];
  /** Calls a second, at most. */
  rate: number;
  clock: Clock;
  timeoutMs?: number;
}

/** Larger responses are not read: parsing one would hold up deliveries. */
const MAX_BYTES = 8 * MIB;
/** How many balances one call reads: a contract's code, which the response counts as, has at most 24 KiB. */
const MAX_BALANCES = 500;
/**
 * A contract that is never deployed: replaces each address behind its code by its balance. It reads many balances in one
 * call at any node.
 */
const READ_BALANCES = '0x6024380380602460003960005b81811015601f57805131815260200160' + '0c565b506000f3';

/** Most tokens' balances that one call reads: a contract may use up all the gas that it gets. */
const MAX_HOLDINGS = 100;
const BALANCE_OF = '0x70a08231';
/**
 * Like {@link READ_BALANCES}, of pairs of a token and an address: calls `balanceOf` with 200,000 gas. What fails is all ones.
 */
const READ_HOLDINGS =
  '0x6054380380605460003960005b81811015604c576370a0823160e01b825280602001518260040152602082602484845162030d40fa' +
  '3d601f1016600190038251178160011c52604001600c565b5060011c6000f3';
const UNKNOWN = 2n ** 256n - 1n;

/** Creates the client. */
export function createChain({ urls, rate, clock, timeoutMs = 15 * SECOND }: ChainOptions): ChainNode {
  let current = 0;
  let nextAt = 0;
  let calls = 0;
  let canBatch = true;

  /** Waits until one more call is within the rate. */
  async function slot(): Promise<void> {
    const now = clock.elapsed();
    const at = Math.max(now, nextAt);
    nextAt = at + SECOND / rate;
    // A timer is no finer than a millisecond.
    if (at - now >= 1) await new Promise<void>((resolve) => void clock.after(at - now, resolve));
  }

  /** The result of one call; tries each node once. Throws a {@link ChainError}. */
  async function call<Result>(method: string, params: unknown[]): Promise<Result> {
    let failure: ChainFailure = 'away';
    for (let tried = 0; tried < urls.length; tried++) {
      const index = (current + tried) % urls.length;
      await slot();
      calls++;
      const response = await send(urls[index]!, { jsonrpc: '2.0', id: 1, method, params }, timeoutMs);
      const read = resultOf(response);
      if ('result' in read) {
        current = index;
        return read.result as Result;
      }
      // Why a node refuses says more than that another one is away.
      if (failure === 'away' || read.failure !== 'away') failure = read.failure;
    }
    throw new ChainError(failure, method);
  }

  async function header(block: string | number): Promise<ChainHead> {
    const found = await call<ChainBlock | null>('eth_getBlockByNumber', [tagOf(block), false]);
    if (!found?.hash) throw new ChainError('refused', 'eth_getBlockByNumber');
    return { number: Number(found.number), hash: found.hash, at: Number(found.timestamp) * SECOND };
  }

  async function balancesTogether(block: number, addresses: readonly AddressText[]): Promise<bigint[]> {
    const data = READ_BALANCES + addresses.map(word).join('');
    const found = await call<string>('eth_call', [{ data }, tagOf(block)]);
    if (found?.length !== 2 + addresses.length * 64) throw new ChainError('unsupported', 'eth_call');
    return addresses.map((_, index) => BigInt(`0x${found.slice(2 + index * 64, 66 + index * 64)}`));
  }

  async function balance(block: number, address: AddressText): Promise<bigint> {
    return BigInt(await call<string>('eth_getBalance', [address, tagOf(block)]));
  }

  async function balances(block: number, addresses: readonly AddressText[]): Promise<Balances> {
    const found = new Map<AddressText, bigint>();
    for (let from = 0; from < addresses.length; from += MAX_BALANCES) {
      const some = addresses.slice(from, from + MAX_BALANCES);
      let values: bigint[] | null = null;
      if (canBatch && some.length > 1) {
        values = await balancesTogether(block, some).catch((error: unknown) => {
          if (!(error instanceof ChainError) || error.failure === 'away' || error.failure === 'pruned') throw error;
          canBatch = false;
          return null;
        });
      }
      for (const [index, address] of some.entries()) {
        found.set(address, values?.[index] ?? (await balance(block, address)));
      }
    }
    return found;
  }

  async function tokenBalances(block: number, pairs: readonly [AddressText, AddressText][]) {
    const read = async (request: object): Promise<bigint[]> => {
      try {
        return wordsOf(await call<string>('eth_call', [request, tagOf(block)]));
      } catch (error) {
        if (!(error instanceof ChainError) || error.failure !== 'refused') throw error;
        return [];
      }
    };
    const together = await read({ data: READ_HOLDINGS + pairs.flat().map(word).join('') });
    if (together.length === pairs.length) return together;
    // One of them may return what no contract may consist of, or the node runs no code that is not deployed.
    const found: bigint[] = [];
    for (const [to, address] of pairs) {
      const [value = UNKNOWN] = await read({ to, data: BALANCE_OF + word(address) });
      found.push(value);
    }
    return found;
  }

  async function holdings(block: number, wanted: readonly Holding[]): Promise<(bigint | null)[]> {
    const coins = wanted.flatMap(({ asset, address }) => (asset === 'native' ? [address] : []));
    const tokens = wanted.flatMap(({ asset, address }): [AddressText, AddressText][] =>
      asset === 'native' ? [] : [[asset, address]],
    );
    const ofCoin = await balances(block, [...new Set(coins)]);
    const ofTokens: bigint[] = [];
    for (let from = 0; from < tokens.length; from += MAX_HOLDINGS) {
      ofTokens.push(...(await tokenBalances(block, tokens.slice(from, from + MAX_HOLDINGS))));
    }
    return wanted.map(({ asset, address }) => {
      const value = asset === 'native' ? ofCoin.get(address)! : ofTokens.shift()!;
      return value === UNKNOWN ? null : value;
    });
  }

  const latest = async (): Promise<number> => Number(await call<string>('eth_blockNumber', []));

  return {
    calls: (): number => calls,
    chainId: async (): Promise<string> => BigInt(await call<string>('eth_chainId', [])).toString(),
    async settled(confirmations: 'finalized' | 'safe' | number): Promise<ChainHead> {
      if (typeof confirmations === 'string') return header(confirmations);
      return header(Math.max(0, (await latest()) - confirmations));
    },
    latest,
    header,
    async block(number: number): Promise<ChainBlock> {
      const found = await call<ChainBlock | null>('eth_getBlockByNumber', [tagOf(number), true]);
      if (!found || !Array.isArray(found.transactions)) throw new ChainError('refused', 'eth_getBlockByNumber');
      return found;
    },
    transaction: (hash: string) => call<ChainTransaction | null>('eth_getTransactionByHash', [hash]),
    receipt: (hash: string) => call<ChainReceipt | null>('eth_getTransactionReceipt', [hash]),
    /** The logs of a range. Throws when a log is of another block: nodes behind one address may disagree. */
    async logs({ after, upTo }: BlockRange, filter: object): Promise<ChainLog[]> {
      const range = { fromBlock: tagOf(after + 1), toBlock: tagOf(upTo) };
      const found = await call<ChainLog[]>('eth_getLogs', [{ ...filter, ...range }]);
      const isIn = ({ blockNumber }: ChainLog) => Number(blockNumber) > after && Number(blockNumber) <= upTo;
      if (!Array.isArray(found) || !found.every(isIn)) throw new ChainError('refused', 'eth_getLogs');
      return found;
    },
    balances,
    holdings,
    sent: async (block: number, address: AddressText) =>
      Number(await call<string>('eth_getTransactionCount', [address, tagOf(block)])),
    async payments({ number, transactions }: ChainBlock): Promise<ChainPayment[] | null> {
      try {
        const traces = await call<GethTrace[]>('debug_traceBlockByNumber', [number, { tracer: 'callTracer' }]);
        if (Array.isArray(traces) && traces.length === transactions.length) {
          return traces.flatMap(({ result, txHash }, index) =>
            gethPayments(txHash ?? transactions[index]!.hash, result),
          );
        }
      } catch (error) {
        if (!(error instanceof ChainError) || error.failure === 'away') throw error;
      }
      try {
        const traces = await call<ParityTrace[]>('trace_block', [number]);
        return Array.isArray(traces) ? parityPayments(traces) : null;
      } catch (error) {
        if (!(error instanceof ChainError) || error.failure === 'away') throw error;
        return null;
      }
    },
    async read(contract: AddressText, selector: string): Promise<string | null> {
      try {
        return await call<string>('eth_call', [{ to: contract, data: selector }, 'latest']);
      } catch (error) {
        if (!(error instanceof ChainError) || error.failure === 'away') throw error;
        return null;
      }
    },
  };
}

const word = (address: AddressText): string => address.slice(2).padStart(64, '0');

const wordsOf = (data: unknown): bigint[] =>
  typeof data === 'string' ? (data.slice(2).match(/[0-9a-f]{64}/gi) ?? []).map((hex) => BigInt(`0x${hex}`)) : [];

const tagOf = (block: string | number): string => (typeof block === 'string' ? block : `0x${block.toString(16)}`);

/** Sends a request and reads the response; numbers stay numbers, because nodes write amounts as hex. */
async function send(url: string, body: object, timeoutMs: number): Promise<HttpResult> {
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', 'user-agent': 'Ledgerbell' },
      body: JSON.stringify(body),
      signal,
    });
    const bytes = await readBody(response.body, MAX_BYTES);
    let json: unknown;
    try {
      json = bytes === null ? { error: { code: 0 } } : JSON.parse(bytes.toString('utf8'));
    } catch {
      json = undefined;
    }
    return { status: 'answered', code: response.statusCode, json };
  } catch {
    return signal.aborted ? { status: 'timeout' } : { status: 'unreachable' };
  }
}

const PRUNED =
  /missing trie node|pruned|state (?:is )?(?:not|un)\s?available|historical state|archive|too old|older than/i;
const UNSUPPORTED = /does not exist|not supported|not found|unsupported|not available|not allowed|not enabled/i;
const LIMITED = /rate|too many requests|capacity|throttl|exceeded.*(?:limit|quota).*second|timeout|timed out/i;

/** The result in a response, or why there is none. Nodes tell their reasons in words of their own. */
function resultOf(response: HttpResult): { result: unknown } | { failure: ChainFailure } {
  if (response.status !== 'answered') return { failure: 'away' };
  const { code, json } = response;
  if (typeof json !== 'object' || json === null) return { failure: code === 413 ? 'refused' : 'away' };
  const { result, error } = json as { result?: unknown; error?: { code?: unknown; message?: unknown } | null };
  if (!error) return result === undefined ? { failure: 'away' } : { result };
  const message = typeof error.message === 'string' ? error.message.slice(0, 500) : '';
  if (PRUNED.test(message)) return { failure: 'pruned' };
  if (error.code === -32601 || UNSUPPORTED.test(message)) return { failure: 'unsupported' };
  if (code === 429 || code >= 500 || error.code === -32005 || error.code === 429) {
    // Nodes use this code for too large a range, too.
    return { failure: /range|result|logs|block/i.test(message) && code !== 429 ? 'refused' : 'away' };
  }
  return { failure: LIMITED.test(message) && !/range|result/i.test(message) ? 'away' : 'refused' };
}

interface GethCall {
  type?: string;
  from: string;
  to?: string;
  value?: string;
  error?: string;
  calls?: GethCall[];
}

interface GethTrace {
  txHash?: string;
  result?: GethCall;
}

interface ParityTrace {
  type: string;
  action: {
    callType?: string;
    from?: string;
    to?: string;
    value?: string;
    address?: string;
    refundAddress?: string;
    balance?: string;
  };
  result?: { address?: string } | null;
  error?: string;
  traceAddress: number[];
  transactionHash?: string | null;
}

/** Calls that move no coins of their own. */
const FREE = /^(?:delegatecall|callcode|staticcall)$/i;

function gethPayments(txHash: string, root: GethCall | undefined): ChainPayment[] {
  const found: ChainPayment[] = [];
  const visit = (one: GethCall, path: number[]): void => {
    if (one.error) return;
    const value = BigInt(one.value ?? 0);
    if (path.length > 0 && value > 0n && one.to && !FREE.test(one.type ?? '')) {
      found.push({ txHash, from: one.from, to: one.to, value, path: path.join('.') });
    }
    for (const [index, inner] of (one.calls ?? []).entries()) visit(inner, [...path, index]);
  };
  if (root) visit(root, []);
  return found;
}

function parityPayments(traces: ParityTrace[]): ChainPayment[] {
  const failed = traces.filter(({ error }) => error);
  const isReverted = ({ transactionHash, traceAddress }: ParityTrace) =>
    failed.some(
      (one) =>
        one.transactionHash === transactionHash &&
        one.traceAddress.every((part, index) => part === traceAddress[index]),
    );
  return traces.flatMap((trace): ChainPayment[] => {
    const { type, action, result, traceAddress, transactionHash } = trace;
    if (!transactionHash || traceAddress.length === 0 || isReverted(trace)) return [];
    const isEnd = type === 'suicide';
    const from = isEnd ? action.address : action.from;
    const to = isEnd ? action.refundAddress : (action.to ?? result?.address);
    const value = BigInt((isEnd ? action.balance : action.value) ?? 0);
    if (!from || !to || value === 0n || FREE.test(action.callType ?? '')) return [];
    return [{ txHash: transactionHash, from, to, value, path: traceAddress.join('.') }];
  });
}
