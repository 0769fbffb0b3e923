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
  refusalOf,
} from '../domain/chain-node.ts';
import { type Clock, SECOND } from '../domain/clock.ts';
import { type Balances, type BlockRange, type ChainLog, isInRange } from '../domain/completeness.ts';
import { MIB } from '../domain/units.ts';
import { call as callUrl, type HttpResult } from './http.ts';

export interface ChainOptions {
  /** Asked in turn: the next one when one fails. They may contain keys. */
  urls: readonly string[];
  /** Most calls per second. */
  rate: number;
  clock: Clock;
  timeoutMs?: number | undefined;
}

/** Larger responses are not read: parsing one would hold up deliveries. */
const MAX_BYTES = 8 * MIB;
/** How many balances one call reads: a contract's code, which the response counts as, has at most 24 KiB. */
const MAX_BALANCES = 500;
/** Code that is never deployed: replaces each address behind it by its balance, for many in one call at any node. */
const READ_BALANCES = '0x6024380380602460003960005b81811015601f57805131815260200160' + '0c565b506000f3';

/** Most tokens' balances that one call reads: a contract may use up all the gas that it gets. */
const MAX_HOLDINGS = 100;
const BALANCE_OF = '0x70a08231';
/** Like {@link READ_BALANCES}, of pairs of a token and an address, with 200,000 gas each. What fails is all ones. */
const READ_HOLDINGS =
  '0x6054380380605460003960005b81811015604c576370a0823160e01b825280602001518260040152602082602484845162030d40fa' +
  '3d601f1016600190038251178160011c52604001600c565b5060011c6000f3';
const UNKNOWN = 2n ** 256n - 1n;

/** How the balances of the coin or of tokens are read: many with `code`, whose data are `words`, or each alone. */
interface Reading {
  code: string;
  max: number;
  words(holding: Holding): string;
  single(block: number, holding: Holding): Promise<bigint>;
}

export function createChain({ urls, rate, clock, timeoutMs = 15 * SECOND }: ChainOptions): ChainNode {
  let current = 0;
  let nextAt = 0;
  let calls = 0;

  async function slot(): Promise<void> {
    const now = clock.elapsed();
    const at = Math.max(now, nextAt);
    nextAt = at + SECOND / rate;
    // A timer is no finer than a millisecond.
    if (at - now >= 1) await new Promise<void>((resolve) => void clock.after(at - now, resolve));
  }

  /** Tries each node once. */
  async function call<Result>(method: string, params: unknown[]): Promise<Result> {
    let failure: ChainFailure = 'away';
    for (let tried = 0; tried < urls.length; tried++) {
      const index = (current + tried) % urls.length;
      await slot();
      calls++;
      const body = { jsonrpc: '2.0', id: 1, method, params };
      const read = resultOf(
        await callUrl({ url: new URL(urls[index]!), method: 'POST', body, timeoutMs, maxBytes: MAX_BYTES, parse }),
      );
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

  /** A word for each value, or nothing where the node does not run the code. */
  async function run(block: number, request: { data: string; to?: string }): Promise<bigint[]> {
    try {
      return wordsOf(await call<string>('eth_call', [request, tagOf(block)]));
    } catch (error) {
      if (refusalOf(error).failure === 'pruned') throw error;
      return [];
    }
  }

  /** Reads many values in one call, or each alone: a node may run no code that is not deployed. */
  async function readAll(block: number, holdings: readonly Holding[], { code, max, words, single }: Reading) {
    const found: bigint[] = [];
    for (let from = 0; from < holdings.length; from += max) {
      const some = holdings.slice(from, from + max);
      const together = some.length > 1 ? await run(block, { data: code + some.map(words).join('') }) : [];
      if (together.length === some.length) found.push(...together);
      else for (const holding of some) found.push(await single(block, holding));
    }
    return found;
  }

  const coins: Reading = {
    code: READ_BALANCES,
    max: MAX_BALANCES,
    words: ({ address }) => word(address),
    single: async (block, { address }) => BigInt(await call<string>('eth_getBalance', [address, tagOf(block)])),
  };
  const tokens: Reading = {
    code: READ_HOLDINGS,
    max: MAX_HOLDINGS,
    words: ({ asset, address }) => word(asset) + word(address),
    async single(block, { asset, address }) {
      const [value = UNKNOWN] = await run(block, { to: asset, data: BALANCE_OF + word(address) });
      return value;
    },
  };

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
    /** Throws when a log is of another block: nodes behind one address may disagree. */
    async logs(range: BlockRange, filter: object): Promise<ChainLog[]> {
      const blocks = { fromBlock: tagOf(range.after + 1), toBlock: tagOf(range.upTo) };
      const found = await call<ChainLog[]>('eth_getLogs', [{ ...filter, ...blocks }]);
      if (!Array.isArray(found) || !found.every(({ blockNumber }) => isInRange(Number(blockNumber), range)))
        throw new ChainError('refused', 'eth_getLogs');
      return found;
    },
    async balances(block: number, addresses: readonly AddressText[]): Promise<Balances> {
      const held = addresses.map((address): Holding => ({ asset: 'native', address }));
      const found = await readAll(block, held, coins);
      return new Map(addresses.map((address, index) => [address, found[index]!]));
    },
    async holdings(block: number, wanted: readonly Holding[]): Promise<(bigint | null)[]> {
      const isCoin = ({ asset }: Holding) => asset === 'native';
      const ofCoin = await readAll(block, wanted.filter(isCoin), coins);
      const ofTokens = await readAll(
        block,
        wanted.filter((holding) => !isCoin(holding)),
        tokens,
      );
      return wanted.map((holding) => {
        const value = (isCoin(holding) ? ofCoin : ofTokens).shift()!;
        return value === UNKNOWN ? null : value;
      });
    },
    sent: async (block: number, address: AddressText) =>
      Number(await call<string>('eth_getTransactionCount', [address, tagOf(block)])),
    async payments({ number, transactions }: ChainBlock): Promise<ChainPayment[] | null> {
      const ofGeth = await call<GethTrace[]>('debug_traceBlockByNumber', [number, { tracer: 'callTracer' }]).catch(
        nullIfRefused,
      );
      if (Array.isArray(ofGeth) && ofGeth.length === transactions.length)
        return ofGeth.flatMap(({ result, txHash }, index) => gethPayments(txHash ?? transactions[index]!.hash, result));
      const ofParity = await call<ParityTrace[]>('trace_block', [number]).catch(nullIfRefused);
      return Array.isArray(ofParity) ? parityPayments(ofParity) : null;
    },
    read: (contract: AddressText, selector: string) =>
      call<string>('eth_call', [{ to: contract, data: selector }, 'latest']).catch(nullIfRefused),
  };
}

function nullIfRefused(error: unknown): null {
  refusalOf(error);
  return null;
}

const parse = (body: Buffer | null): unknown =>
  body === null ? { error: { code: 0 } } : JSON.parse(body.toString('utf8'));

const word = (address: string): string => address.slice(2).padStart(64, '0');

const wordsOf = (data: unknown): bigint[] =>
  typeof data === 'string' ? (data.slice(2).match(/[0-9a-f]{64}/gi) ?? []).map((hex) => BigInt(`0x${hex}`)) : [];

const tagOf = (block: string | number): string => (typeof block === 'string' ? block : `0x${block.toString(16)}`);

const PRUNED =
  /missing trie node|pruned|state (?:is )?(?:not|un)\s?available|historical state|archive|too old|older than/i;
const UNSUPPORTED = /does not exist|not supported|not found|unsupported|not available|not allowed|not enabled/i;
const LIMITED = /rate|too many requests|capacity|throttl|exceeded.*(?:limit|quota).*second|timeout|timed out/i;

/** Nodes give their reasons in words of their own. */
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
  const visit = (call: GethCall, path: number[]): void => {
    if (call.error) return;
    const value = BigInt(call.value ?? 0);
    if (path.length > 0 && value > 0n && call.to && !FREE.test(call.type ?? '')) {
      found.push({ txHash, from: call.from, to: call.to, value, path: path.join('.') });
    }
    for (const [index, inner] of (call.calls ?? []).entries()) visit(inner, [...path, index]);
  };
  if (root) visit(root, []);
  return found;
}

function parityPayments(traces: ParityTrace[]): ChainPayment[] {
  const failed = traces.filter(({ error }) => error);
  const isReverted = ({ transactionHash, traceAddress }: ParityTrace) =>
    failed.some(
      (holding) =>
        holding.transactionHash === transactionHash &&
        holding.traceAddress.every((part, index) => part === traceAddress[index]),
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
