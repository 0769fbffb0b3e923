import { backOff, MINUTE, SECOND } from '../../src/domain/clock.ts';
import { isHeader, MethodMissing, NodeBusy, type NodeHeader, NodeRefused, NodeUnreachable } from './node.ts';
import { connectRpc, isTraceCall, type RpcOptions } from './rpc.ts';

export interface NodeOptions {
  url: string;
  /** Share of the calls among healthy nodes; default 1. 0: only when no other node helps. */
  weight?: number;
  headers?: Readonly<Record<string, string>>;
  /** true: the node is asked only for traces, and before the others. */
  tracesOnly?: boolean;
}

/** `genesis` is null if the node does not have the first block. */
export interface ChainIdentity {
  chainId: string;
  genesis: string | null;
}

export type Member = ReturnType<typeof openMember>;

const MISSING_MS = 10 * MINUTE;
const REST_BACK_OFF = { base: SECOND, max: MINUTE };

export function openMember({ url, weight = 1, headers = {}, tracesOnly = false }: NodeOptions, options: RpcOptions) {
  const { clock } = options;
  const rpc = connectRpc(url, headers, options);
  /** Kept separately for traces, because many nodes limit only these. */
  const rests = { calls: { failures: 0, until: 0 }, traces: { failures: 0, until: 0 } };
  const restOf = (method: string) => (isTraceCall(method) ? rests.traces : rests.calls);
  const missing = new Map<string, number>();
  const worked = new Set<string>();

  async function call<Result>(method: string, params: readonly unknown[]): Promise<Result> {
    if ((missing.get(method) ?? 0) > clock.now()) throw new MethodMissing(`${method} is not available`);
    const rest = restOf(method);
    try {
      const result = (await rpc.call(method, params)) as Result;
      Object.assign(rest, { failures: 0, until: 0 });
      worked.add(method);
      return result;
    } catch (error) {
      // One node behind a shared URL may be another version: what worked is asked again.
      if (error instanceof MethodMissing && worked.has(method)) throw new NodeRefused(error.message);
      if (error instanceof MethodMissing) missing.set(method, clock.now() + MISSING_MS);
      if (error instanceof NodeUnreachable) {
        const ownMs = backOff(rest.failures++, REST_BACK_OFF);
        const ms = error instanceof NodeBusy ? error.retryAfterMs : undefined;
        rest.until = clock.now() + (ms ?? ownMs);
      }
      throw error;
    }
  }

  async function identify(): Promise<ChainIdentity> {
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

  return {
    name: new URL(url).host,
    weight,
    tracesOnly,
    call,
    identify,
    isResting: (method: string): boolean => clock.now() < restOf(method).until,
    close: rpc.close,
    /** Why it is not used: another chain; null when it is used. */
    excluded: null as string | null,
    /** Smooth weighted round robin: grows by the weight with each call, and the chosen one pays the sum. */
    credit: 0,
  };
}
