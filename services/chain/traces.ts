import { type Hex, zeroAddress } from 'viem';
import { isOf, MethodMissing, type Node, type NodeBlock, NodeRefused, NodeUnreachable } from './node.ts';

/** Coins that a contract sent within a transaction. */
export interface CoinMove {
  txHash: Hex;
  from: Hex;
  to: Hex;
  /** In wei, above 0. */
  value: bigint;
  /** Where in the transaction's calls: positions from the outside in, joined by dots. */
  path: string;
  /** true: the chain itself moved them, also if the transaction failed. */
  survives?: true;
}

export type TraceMethod = 'trace_block' | 'debug_traceBlockByNumber';

interface ParityTrace {
  type: string;
  action: {
    callType?: string;
    from?: Hex;
    to?: Hex;
    value?: Hex;
    address?: Hex;
    refundAddress?: Hex;
    balance?: Hex;
  };
  result?: { address?: Hex } | null;
  error?: string;
  traceAddress: number[];
  subtraces?: number;
  transactionHash?: Hex | null;
  blockHash?: Hex;
}

/** A transfer that the chain itself makes before or after a transaction, as Arbitrum's nodes report it. */
interface ChainTransfer {
  purpose?: string;
  from?: Hex | null;
  to?: Hex | null;
  value?: Hex;
}

interface GethCall {
  type: string;
  from: Hex;
  to?: Hex;
  value?: Hex;
  error?: string;
  calls?: GethCall[];
  beforeEVMTransfers?: ChainTransfer[];
  afterEVMTransfers?: ChainTransfer[];
}

/** One transaction's trace, or why there is none; older nodes leave out the hash. */
interface GethTrace {
  txHash?: Hex;
  result?: GethCall;
  error?: string;
}

export interface TraceHabits {
  first?: TraceMethod;
  /** true: traces may belong to transactions that the block does not list. Most nodes do not trace these; logs do. */
  hasUnlisted?: boolean;
}

const CALL_TRACER = { tracer: 'callTracer' };

/** The block can be read, but its traces cannot: pruned, too large, or not available yet. */
export class TracesFailed extends Error {}

/** Leaves out what was reverted. Tries both methods at all nodes. @throws {TracesFailed} */
export async function coinMoves(node: Node, block: NodeBlock, habits: TraceHabits = {}): Promise<CoinMove[]> {
  const moves = await eitherWay(habits, async (method) => {
    if (method === 'trace_block') {
      const accept = (traces: unknown) => mustBeParity(block, traces, habits);
      return parityMoves(await node.call<ParityTrace[]>(method, [block.number], accept));
    }
    const accept = (traces: unknown) => mustBeGeth(block, traces, habits);
    const traces = await node.call<GethTrace[]>(method, [block.number, CALL_TRACER], accept);
    const hashes = gethHashes(block, traces);
    return traces.flatMap(({ result }, index) => gethMoves(hashes[index]!, result!));
  });
  if (!habits.hasUnlisted) return moves;
  const traced = new Set(block.transactions.filter(isTraced).map(({ hash }) => hash));
  return moves.filter(({ txHash }) => traced.has(txHash));
}

export async function coinMovesOf(node: Node, txHash: Hex, habits: TraceHabits = {}): Promise<CoinMove[]> {
  return await eitherWay(habits, async (method) => {
    if (method === 'trace_block') {
      return parityMoves(await node.call<ParityTrace[]>('trace_transaction', [txHash], mustBeWhole));
    }
    const call = await node.call<GethCall>('debug_traceTransaction', [txHash, CALL_TRACER]);
    return gethMoves(txHash, call);
  });
}

async function eitherWay(
  { first = 'trace_block' }: TraceHabits,
  read: (method: TraceMethod) => Promise<CoinMove[]>,
): Promise<CoinMove[]> {
  const other = first === 'trace_block' ? 'debug_traceBlockByNumber' : 'trace_block';
  const failures: Error[] = [];
  for (const method of [first, other] as const) {
    try {
      return await read(method);
    } catch (error) {
      failures.push(error as Error);
    }
  }
  const failure = failures.find((error) => !(error instanceof MethodMissing));
  throw new TracesFailed(failure?.message ?? 'The nodes offer neither trace_block nor debug_traceBlockByNumber');
}

function mustBeWhole(traces: unknown): void {
  if (!Array.isArray(traces) || traces.length === 0 || lacksFrames(traces as ParityTrace[])) {
    throw new NodeUnreachable('The node does not have these traces');
  }
}

function mustBeParity(block: NodeBlock, given: unknown, habits: TraceHabits): void {
  mustBeListOf(block, given);
  const traces = given as ParityTrace[];
  const roots = traces.filter(({ traceAddress }) => traceAddress.length === 0);
  const traced = new Set(roots.map(({ transactionHash }) => transactionHash));
  const isForeign = !traces.every((trace) => isOf(block, trace));
  mustCover(block, habits, traced, { isForeign, isCut: lacksFrames(traces) });
}

function mustCover(
  { number, transactions }: NodeBlock,
  { hasUnlisted = false }: TraceHabits,
  traced: ReadonlySet<Hex | null | undefined>,
  { isForeign, isCut }: { isForeign: boolean; isCut: boolean },
): void {
  const listed = new Set<Hex | null | undefined>(transactions.map(({ hash }) => hash));
  if (isForeign || (!hasUnlisted && [...traced].some((hash) => hash && !listed.has(hash)))) {
    throw new NodeUnreachable(`The node returned the traces of another block ${Number(number)}`);
  }
  if (isCut || !transactions.filter(isTraced).every(({ hash }) => traced.has(hash))) {
    throw new NodeUnreachable(`The node returned only some traces of block ${Number(number)}`);
  }
}

/** Whether frames are missing: each has a frame above it, and names how many lie below it. */
function lacksFrames(traces: readonly ParityTrace[]): boolean {
  const placeOf = ({ transactionHash }: ParityTrace, path: readonly number[]) => [transactionHash, ...path].join();
  const called = traces.filter(({ transactionHash }) => transactionHash);
  const below = new Map(called.map((trace) => [placeOf(trace, trace.traceAddress), 0]));
  for (const trace of called.filter(({ traceAddress }) => traceAddress.length > 0)) {
    const above = placeOf(trace, trace.traceAddress.slice(0, -1));
    const count = below.get(above);
    if (count === undefined) return true;
    below.set(above, count + 1);
  }
  return called.some((trace) => (trace.subtraces ?? 0) > below.get(placeOf(trace, trace.traceAddress))!);
}

function mustBeGeth(block: NodeBlock, given: unknown, habits: TraceHabits): void {
  mustBeListOf(block, given);
  const traces = given as GethTrace[];
  const failed = traces.find(({ result, error }) => error || typeof result !== 'object' || result === null);
  if (failed !== undefined) throw new NodeRefused(`debug_traceBlockByNumber: ${String(failed.error).slice(0, 200)}`);
  const hashes = gethHashes(block, traces);
  mustCover(block, habits, new Set(hashes), { isForeign: false, isCut: hashes.includes(undefined) });
}

/** The transaction hash of each trace: the one it names, otherwise that at its position. */
function gethHashes({ transactions }: NodeBlock, traces: readonly GethTrace[]): (Hex | undefined)[] {
  const traced = traces.length === transactions.length ? transactions : transactions.filter(isTraced);
  const isWhole = traces.length === traced.length;
  return traces.map(({ txHash }, index) => txHash ?? (isWhole ? traced[index]?.hash : undefined));
}

/** Whether nodes trace a transaction. Those that the chain itself makes, from the zero address without gas, are not. */
export function isTraced({ from, gas }: NodeBlock['transactions'][number]): boolean {
  return !(/^0x0*$/.test(from) && Number(gas) === 0);
}

function mustBeListOf({ number, transactions }: NodeBlock, traces: unknown): void {
  if (Array.isArray(traces) && (traces.length > 0 || !transactions.some(isTraced))) return;
  throw new NodeUnreachable(`The node does not have the traces of block ${Number(number)}`);
}

function parityMoves(traces: readonly ParityTrace[]): CoinMove[] {
  const place = (trace: ParityTrace, depth: number) =>
    [trace.transactionHash, ...trace.traceAddress.slice(0, depth)].join();
  const failed = new Set(traces.filter(({ error }) => error).map((trace) => place(trace, trace.traceAddress.length)));
  return traces.flatMap((trace): CoinMove[] => {
    const { transactionHash: txHash, traceAddress, type, action } = trace;
    if (!txHash || traceAddress.length === 0) return [];
    // A call that succeeded inside one that failed is undone with it.
    if ([...traceAddress.keys(), traceAddress.length].some((depth) => failed.has(place(trace, depth)))) return [];
    const path = traceAddress.join('.');
    if (type === 'suicide' || type === 'selfdestruct') {
      const { address: from, refundAddress: to, balance: value } = action;
      return from === to ? [] : moveOf(txHash, path, { from, to, value });
    }
    if (type === 'create') return moveOf(txHash, path, { ...action, to: trace.result?.address });
    return type === 'call' && action.callType === 'call' ? moveOf(txHash, path, action) : [];
  });
}

/** Calls may be nested a thousand deep, so a stack replaces recursion. */
function gethMoves(txHash: Hex, root: GethCall): CoinMove[] {
  const moves: CoinMove[] = [];
  const surviving = (found: CoinMove[]) => found.map((move): CoinMove => ({ ...move, survives: true }));
  const chainMoves = (transfers: readonly ChainTransfer[] | undefined, name: string) =>
    (transfers ?? [])
      .filter(({ purpose = '' }) => PAYING_PURPOSES.includes(purpose))
      // A failed retry puts back what it took.
      .filter(({ purpose }) => !(root.error && purpose === 'escrow'))
      .flatMap(({ from, to, value }, index) =>
        surviving(moveOf(txHash, `${name}${index}`, { from: from ?? zeroAddress, to: to ?? zeroAddress, value })),
      );
  moves.push(...chainMoves(root.beforeEVMTransfers, 'before'));
  const stack: { call: GethCall; path: string }[] = [{ call: root, path: '' }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { call, path } = next;
    if (call.error) continue;
    const type = call.type.toUpperCase();
    const carries = COIN_CALLS.includes(type) && !(type === 'SELFDESTRUCT' && call.from === call.to);
    const found = path !== '' && carries ? moveOf(txHash, path, call) : [];
    moves.push(...(root.to?.toLowerCase() === RETRYABLES ? surviving(found) : found));
    const inner = (call.calls ?? []).map((call, index) => ({
      call: call,
      path: path === '' ? String(index) : `${path}.${index}`,
    }));
    stack.push(...inner.reverse());
  }
  moves.push(...chainMoves(root.afterEVMTransfers, 'after'));
  return moves;
}

/** The types of calls that may move coins. Arbitrum's older nodes write INVALID for what the chain itself moves. */
const COIN_CALLS = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT', 'INVALID'];

/** The purposes of {@link ChainTransfer} that are payments between accounts. The others are fees. */
const PAYING_PURPOSES = ['deposit', 'escrow', 'withdraw', 'refund'];

/** The contract on Arbitrum that retryables are submitted to. Only the chain itself moves coins there. */
const RETRYABLES = '0x000000000000000000000000000000000000006e';

function moveOf(
  txHash: Hex,
  path: string,
  { from, to, value }: Partial<Record<'from' | 'to' | 'value', Hex | undefined>>,
): CoinMove[] {
  const wei = BigInt(value ?? 0);
  return from !== undefined && to !== undefined && wei > 0n ? [{ txHash, from, to, value: wei, path }] : [];
}
