import { type Clock, MINUTE, SECOND, systemClock } from '../../src/domain/clock.ts';
import { createBudget } from './budget.ts';
import {
  CallEnded,
  MethodMissing,
  type Node,
  NodeBusy,
  type NodeHeader,
  NodeRefused,
  NodeUnreachable,
} from './node.ts';
import { connectRpc, isTraceCall, type Rpc } from './rpc.ts';

/** One node of a chain. */
export interface NodeOptions {
  url: string;
  /** Share of the calls among healthy nodes; default 1. 0: only when no other node helps. */
  weight?: number;
  headers?: Readonly<Record<string, string>>;
  /** true: is asked only for traces, and before the others. */
  tracesOnly?: boolean;
}

/** How nodes are used. */
export interface ConnectOptions {
  /** Calls per second to each node; default: no limit until a node answers 429. */
  perSecond?: number;
  /** Calls that may share one HTTP request; default 1. */
  batch?: number;
  /** How many nodes must agree about the newest block; default 1. Nodes that do not answer are not counted. */
  agreement?: number;
  timeoutMs?: number;
  clock?: Clock;
  onCall?(method: string, result: string, ms: number): void;
}

/** What a node says about which chain it follows; null where it does not have the first block. */
export interface ChainIdentity {
  chainId: string;
  genesis: string | null;
}

/** How one node does; `name` is its host, without path and credentials. */
export interface NodeHealth {
  name: string;
  isHealthy: boolean;
  /** Why it is not used: another chain; null when it is used. */
  excluded: string | null;
  callsPerSecond: number | null;
}

/** The nodes of one chain, used as one. */
export interface Nodes extends Node {
  /** The newest block on which enough nodes agree. */
  head(): Promise<NodeHeader>;
  /** @throws {NodeUnreachable} while another node names another hash for this block and too few agree. */
  confirm(header: NodeHeader): Promise<void>;
  /** Asks every node which chain it follows. @throws when none answers. */
  identities(): Promise<{ name: string; identity: ChainIdentity; exclude(reason: string | null): void }[]>;
  health(): NodeHealth[];
  close(): void;
}

/** How long a method that a node does not offer is not asked there. */
const MISSING_MS = 10 * MINUTE;
const MAX_REST_MS = MINUTE;
/** How long one node may take before the next one is asked, too: a call that hangs holds up nothing. */
const IMPATIENCE_MS = 3 * SECOND;

/** Since when, and for how long, a node is asked last: separately for traces, which many nodes limit alone. */
interface Rest {
  failures: number;
  until: number;
}

interface Member {
  name: string;
  rpc: Rpc;
  weight: number;
  tracesOnly: boolean;
  /** Smooth weighted round robin: grows by the weight, the chosen one pays the sum. */
  credit: number;
  rests: { calls: Rest; traces: Rest };
  excluded: string | null;
  missing: Map<string, number>;
  rate(): number | null;
}

/** Connects to the nodes of a chain; a single URL stands for one node. */
export function connect(nodes: string | readonly NodeOptions[], options: ConnectOptions = {}): Nodes {
  const { clock = systemClock, agreement = 1, perSecond, batch, timeoutMs, onCall } = options;
  const given = typeof nodes === 'string' ? [{ url: nodes }] : nodes;
  const members = given.map(({ url, weight = 1, headers, tracesOnly = false }: NodeOptions): Member => {
    const budgets = { calls: createBudget(clock, perSecond), traces: createBudget(clock) };
    const rpc = connectRpc({
      url,
      clock,
      budgets,
      ...(headers === undefined ? {} : { headers }),
      ...(batch === undefined ? {} : { batch }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(onCall === undefined ? {} : { onCall }),
    });
    const rests = { calls: { failures: 0, until: 0 }, traces: { failures: 0, until: 0 } };
    const state = { credit: 0, rests, excluded: null, missing: new Map<string, number>() };
    return { name: new URL(url).host, rpc, weight, tracesOnly, rate: budgets.calls.rate, ...state };
  });

  const orderFor = (method: string): Member[] => {
    const isTrace = isTraceCall(method);
    const usable = members.filter((one) => one.excluded === null && (isTrace || !one.tracesOnly));
    for (const member of usable) member.credit += member.weight;
    const now = clock.now();
    const rank = (one: Member) => (now < restOf(one, method).until ? 2 : 0) + (isTrace && !one.tracesOnly ? 1 : 0);
    const ordered = usable.sort((one, other) => rank(one) - rank(other) || other.credit - one.credit);
    if (ordered[0] !== undefined) ordered[0].credit -= usable.reduce((sum, { weight }) => sum + weight, 0);
    return ordered;
  };

  const askOne = async <Result>(member: Member, method: string, params: readonly unknown[]): Promise<Result> => {
    if ((member.missing.get(method) ?? 0) > clock.now()) throw new MethodMissing(`${method} is not available`);
    try {
      const result = (await member.rpc.call(method, params)) as Result;
      Object.assign(restOf(member, method), { failures: 0, until: 0 });
      return result;
    } catch (error) {
      if (error instanceof MethodMissing) member.missing.set(method, clock.now() + MISSING_MS);
      if (error instanceof NodeUnreachable) letRest(restOf(member, method), error);
      throw error;
    }
  };

  const letRest = (rest: Rest, error: NodeUnreachable): void => {
    rest.failures += 1;
    const ms = error instanceof NodeBusy ? error.retryAfterMs : undefined;
    rest.until = clock.now() + (ms ?? Math.min(SECOND * 2 ** (rest.failures - 1), MAX_REST_MS));
  };

  const answering = async <Result>(method: string, params: readonly unknown[]): Promise<Result[]> => {
    const asked = members.filter((one) => one.excluded === null && !one.tracesOnly);
    const settled = await Promise.allSettled(asked.map((member) => askOne<Result>(member, method, params)));
    const results = settled.flatMap((one) => (one.status === 'fulfilled' && one.value !== null ? [one.value] : []));
    if (results.length > 0) return results;
    throw settled.reduce<Error>(
      (worst, one) => (one.status === 'rejected' ? clearest(worst, one.reason as Error) : worst),
      new NodeUnreachable(`No node answers ${method}`),
    );
  };

  /** Asks the nodes in turn, the next one also when one takes long, and resolves with the first accepted result. */
  const call: Node['call'] = <Result>(
    method: string,
    params: readonly unknown[] = [],
    accept?: (result: Result) => void,
  ): Promise<Result> => {
    const waiting = orderFor(method);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    let underWay = 0;
    let failure: Error | undefined;
    let cancel = () => {};
    const askNext = (): void => {
      cancel();
      const member = waiting.shift();
      if (member === undefined) {
        if (underWay === 0) reject(failure ?? new NodeUnreachable(`There is no node to call ${method}`));
        return;
      }
      underWay += 1;
      if (waiting.length > 0) cancel = clock.after(IMPATIENCE_MS, askNext);
      askOne<Result>(member, method, params)
        .then((result) => {
          accept?.(result);
          resolve(result);
        })
        .catch((error: Error) => {
          underWay -= 1;
          if (error instanceof CallEnded) reject(error);
          else {
            failure = failure === undefined ? error : clearest(failure, error);
            askNext();
          }
        });
    };
    askNext();
    return promise.finally(() => {
      waiting.length = 0;
      cancel();
    });
  };

  return {
    call,
    async head() {
      if (agreement < 2 || members.length < 2) {
        return await call<NodeHeader>('eth_getBlockByNumber', ['latest', false], mustBeHeader);
      }
      const heads = await answering<NodeHeader>('eth_getBlockByNumber', ['latest', false]);
      const ordered = heads.filter(isHeader).sort((one, other) => Number(other.number) - Number(one.number));
      const agreed = ordered[Math.min(agreement, ordered.length) - 1];
      if (agreed === undefined) throw new NodeUnreachable("No node's newest block can be read");
      return agreed;
    },
    async confirm({ number, hash }) {
      if (agreement < 2 || members.length < 2) return;
      const headers = (await answering<NodeHeader>('eth_getBlockByNumber', [number, false])).filter(isHeader);
      const agreeing = headers.filter((one) => one.hash.toLowerCase() === hash.toLowerCase()).length;
      if (agreeing >= Math.min(agreement, headers.length)) return;
      throw new NodeUnreachable(`The nodes do not agree about block ${Number(number)}`);
    },
    async identities() {
      const settled = await Promise.allSettled(
        members.map(async (member) => ({ member, identity: await identify(member) })),
      );
      const found = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
      if (found.length === 0) throw (settled[0] as PromiseRejectedResult).reason;
      return found.map(({ member, identity }) => ({
        name: member.name,
        identity,
        exclude(reason) {
          member.excluded = reason;
        },
      }));
    },
    health: () =>
      members.map(({ name, rests, excluded, rate }) => ({
        name,
        isHealthy: rests.calls.until <= clock.now(),
        excluded,
        callsPerSecond: rate(),
      })),
    close() {
      for (const { rpc } of members) rpc.close();
    },
  };

  async function identify(member: Member): Promise<ChainIdentity> {
    const chainId = await askOne<unknown>(member, 'eth_chainId', []);
    if (typeof chainId !== 'string' || !/^0x[0-9a-f]+$/i.test(chainId)) {
      throw new NodeUnreachable("The node's answer to eth_chainId cannot be read");
    }
    const first = await askOne<NodeHeader | null>(member, 'eth_getBlockByNumber', ['0x0', false]).catch(
      (error: Error) => {
        if (error instanceof NodeRefused) return null; // Some nodes keep only the newest blocks.
        throw error;
      },
    );
    return { chainId: String(Number(chainId)), genesis: isHeader(first) ? first.hash : null };
  }
}

function restOf({ rests }: Member, method: string): Rest {
  return isTraceCall(method) ? rests.traces : rests.calls;
}

function isHeader(value: unknown): value is NodeHeader {
  const { number, hash, parentHash } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof number === 'string' &&
    /^0x[0-9a-f]+$/i.test(number) &&
    typeof hash === 'string' &&
    typeof parentHash === 'string'
  );
}

function mustBeHeader(value: unknown): void {
  if (!isHeader(value)) throw new NodeUnreachable("The node's newest block cannot be read");
}

/** Which of two failures says most: a limit may end, a time-out may end, a refusal stays. */
function clearest(one: Error, other: Error): Error {
  const rank = (error: Error) => (error instanceof NodeBusy ? 2 : error instanceof NodeUnreachable ? 1 : 0);
  return rank(other) > rank(one) ? other : one;
}
