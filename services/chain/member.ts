import { backOff } from '../../src/domain/back-off.ts';
import { type Clock, MINUTE, SECOND } from '../../src/domain/clock.ts';
import { createBudget } from './budget.ts';
import { isTraceCall } from './methods.ts';
import { MethodMissing, NodeBusy, type NodeHeader, NodeRefused, NodeUnreachable } from './node.ts';
import { connectRpc } from './rpc.ts';

/** One node of a chain. */
export interface NodeOptions {
  url: string;
  /** Share of the calls among healthy nodes; default 1. 0: only when no other node helps. */
  weight?: number;
  headers?: Readonly<Record<string, string>>;
  /** true: the node is asked only for traces, and before the others. */
  tracesOnly?: boolean;
}

/** How a node is called; see `ConnectOptions`. */
interface MemberOptions {
  clock: Clock;
  perSecond?: number;
  batch?: number;
  onCall?(method: string, result: string, ms: number): void;
}

/** The chain that a node follows; `genesis` is null if it does not have the first block. */
export interface ChainIdentity {
  chainId: string;
  genesis: string | null;
}

/** One of the nodes of a chain, with its health. */
export interface Member {
  /** Its host, without path and credentials. */
  readonly name: string;
  readonly weight: number;
  readonly tracesOnly: boolean;
  /** @throws as `Node.call`. A method that the node does not offer is not tried again for a while. */
  call<Result>(method: string, params: readonly unknown[]): Promise<Result>;
  /** Whether it failed recently, and others are asked first. */
  isResting(method: string): boolean;
  identify(): Promise<ChainIdentity>;
  /** Calls per second now; null while there is no limit. */
  rate(): number | null;
  close(): void;
}

/** How long a method that a node does not offer is not asked there. */
const MISSING_MS = 10 * MINUTE;
const REST_BACK_OFF = { base: SECOND, max: MINUTE };

/** Connects to one node. */
export function openMember(
  { url, weight = 1, headers, tracesOnly = false }: NodeOptions,
  options: MemberOptions,
): Member {
  const { clock, perSecond, ...rpcOptions } = options;
  const budgets = { calls: createBudget(clock, perSecond), traces: createBudget(clock) };
  const rpc = connectRpc({ url, clock, budgets, ...(headers === undefined ? {} : { headers }), ...rpcOptions });
  /** Kept separately for traces, because many nodes limit only these. */
  const rests = { calls: { failures: 0, until: 0 }, traces: { failures: 0, until: 0 } };
  const restOf = (method: string) => (isTraceCall(method) ? rests.traces : rests.calls);
  const missing = new Map<string, number>();

  async function call<Result>(method: string, params: readonly unknown[]): Promise<Result> {
    if ((missing.get(method) ?? 0) > clock.now()) throw new MethodMissing(`${method} is not available`);
    const rest = restOf(method);
    try {
      const result = (await rpc.call(method, params)) as Result;
      Object.assign(rest, { failures: 0, until: 0 });
      return result;
    } catch (error) {
      if (error instanceof MethodMissing) missing.set(method, clock.now() + MISSING_MS);
      if (error instanceof NodeUnreachable) {
        const ownMs = backOff(rest.failures++, REST_BACK_OFF);
        const ms = error instanceof NodeBusy ? error.retryAfterMs : undefined;
        rest.until = clock.now() + (ms ?? ownMs);
      }
      throw error;
    }
  }

  return {
    name: new URL(url).host,
    weight,
    tracesOnly,
    call,
    isResting: (method) => clock.now() < restOf(method).until,
    identify: () => identify(call),
    rate: budgets.calls.rate,
    close: rpc.close,
  };
}

async function identify(call: Member['call']): Promise<ChainIdentity> {
  const chainId = await call<unknown>('eth_chainId', []);
  if (typeof chainId !== 'string' || !/^0x[0-9a-f]+$/i.test(chainId)) {
    throw new NodeUnreachable("The node's response to eth_chainId cannot be read");
  }
  const first = await call<NodeHeader | null>('eth_getBlockByNumber', ['0x0', false]).catch((error: Error) => {
    if (error instanceof NodeRefused) return null; // Some nodes keep only the newest blocks.
    throw error;
  });
  return { chainId: BigInt(chainId).toString(), genesis: isHeader(first) ? first.hash : null };
}

/** Whether a node's response is a block header. */
export function isHeader(value: unknown): value is NodeHeader {
  const { number, hash, parentHash } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof number === 'string' &&
    /^0x[0-9a-f]+$/i.test(number) &&
    typeof hash === 'string' &&
    typeof parentHash === 'string'
  );
}
