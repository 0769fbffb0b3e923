import { type Clock, SECOND, systemClock } from '../../src/domain/clock.ts';
import { type ChainIdentity, isHeader, type Member, type NodeOptions, openMember } from './member.ts';
import { isTraceCall } from './methods.ts';
import { CallEnded, type Node, NodeBusy, type NodeHeader, NodeUnreachable } from './node.ts';

/** How the nodes of a chain are used. */
export interface ConnectOptions {
  /** Calls per second to each node; default: no limit until a node responds with 429. */
  perSecond?: number;
  /** Calls that may share one HTTP request; default 1. */
  batch?: number;
  /** How many nodes must agree about the newest block; default 1. Nodes that do not respond are not counted. */
  agreement?: number;
  clock?: Clock;
  onCall?(method: string, result: string, ms: number): void;
}

/** The health of one node; `name` is its host, without path and credentials. */
export interface NodeHealth {
  name: string;
  isHealthy: boolean;
  /** Why it is not used: another chain; null when it is used. */
  excluded: string | null;
  callsPerSecond: number | null;
}

/** The nodes of one chain, used as one. */
export interface Nodes extends Node {
  /** The newest block that enough nodes have. */
  head(): Promise<NodeHeader>;
  /** @throws {NodeUnreachable} while another node names another hash for this block and too few agree. */
  confirm(header: NodeHeader): Promise<void>;
  /** Asks every node which chain it follows. @throws when none responds. */
  identities(): Promise<{ name: string; identity: ChainIdentity; exclude(reason: string | null): void }[]>;
  health(): NodeHealth[];
  close(): void;
}

/** How long one node may take before the next one is asked as well, so that a call that hangs delays nothing. */
const HEDGE_AFTER_MS = 3 * SECOND;

/** A node, and how it stands among the others. */
interface RankedMember extends Member {
  /** Why it is not used: another chain; null when it is used. */
  excluded: string | null;
  /** Smooth weighted round robin: grows by the weight with each call, and the chosen one pays the sum. */
  credit: number;
}

/** Connects to the nodes of a chain; a single URL stands for one node. */
export function connect(nodes: string | readonly NodeOptions[], options: ConnectOptions = {}): Nodes {
  const { clock = systemClock, agreement = 1, perSecond, batch, onCall } = options;
  const given = typeof nodes === 'string' ? [{ url: nodes }] : nodes;
  const memberOptions = {
    clock,
    ...(perSecond === undefined ? {} : { perSecond }),
    ...(batch === undefined ? {} : { batch }),
    ...(onCall === undefined ? {} : { onCall }),
  };
  const members = given.map((one): RankedMember => ({ ...openMember(one, memberOptions), excluded: null, credit: 0 }));

  /** Calls a method at every node that is used; returns the results. @throws when there is none. */
  async function callAll<Result>(method: string, params: readonly unknown[]): Promise<Result[]> {
    const asked = members.filter((one) => one.excluded === null && !one.tracesOnly);
    const settled = await Promise.allSettled(asked.map((member) => member.call<Result>(method, params)));
    const results = settled.flatMap((one) => (one.status === 'fulfilled' && one.value !== null ? [one.value] : []));
    if (results.length > 0) return results;
    throw settled.reduce<Error>(
      (worst, one) => (one.status === 'rejected' ? clearest(worst, one.reason as Error) : worst),
      new NodeUnreachable(`No node responds to ${method}`),
    );
  }

  const call: Node['call'] = (method, params = [], accept) =>
    firstAccepted(orderFor(members, method), { method, params, accept, clock });

  return {
    call,
    async head() {
      if (agreement < 2 || members.length < 2) {
        return await call<NodeHeader>('eth_getBlockByNumber', ['latest', false], mustBeHeader);
      }
      const heads = await callAll<NodeHeader>('eth_getBlockByNumber', ['latest', false]);
      const ordered = heads.filter(isHeader).sort((one, other) => Number(other.number) - Number(one.number));
      const agreed = ordered[Math.min(agreement, ordered.length) - 1];
      if (agreed === undefined) throw new NodeUnreachable("No node's newest block can be read");
      return agreed;
    },
    async confirm({ number, hash }) {
      if (agreement < 2 || members.length < 2) return;
      const headers = (await callAll<NodeHeader>('eth_getBlockByNumber', [number, false])).filter(isHeader);
      const agreeing = headers.filter((one) => one.hash.toLowerCase() === hash.toLowerCase()).length;
      if (agreeing >= Math.min(agreement, headers.length)) return;
      throw new NodeUnreachable(`The nodes do not agree about block ${Number(number)}`);
    },
    async identities() {
      const settled = await Promise.allSettled(
        members.map(async (member) => ({ member, identity: await member.identify() })),
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
      members.map(({ name, excluded, isResting, rate }) => ({
        name,
        isHealthy: !isResting('eth_getBlockByNumber'),
        excluded,
        callsPerSecond: rate(),
      })),
    close() {
      for (const member of members) member.close();
    },
  };
}

/** Orders the nodes for a call, which it counts: resting ones come last, those for traces first. */
function orderFor(members: readonly RankedMember[], method: string): Member[] {
  const isTrace = isTraceCall(method);
  const usable = members.filter((one) => one.excluded === null && (isTrace || !one.tracesOnly));
  for (const member of usable) member.credit += member.weight;
  const rank = (one: RankedMember) => (one.isResting(method) ? 2 : 0) + (isTrace && !one.tracesOnly ? 1 : 0);
  const ordered = usable.sort((one, other) => rank(one) - rank(other) || other.credit - one.credit);
  if (ordered[0] !== undefined) ordered[0].credit -= usable.reduce((sum, { weight }) => sum + weight, 0);
  return ordered;
}

/** Asks one node after another, or several if one takes long, and resolves with the first accepted result. */
function firstAccepted<Result>(
  waiting: Member[],
  ask: {
    method: string;
    params: readonly unknown[];
    accept: ((result: Result) => void) | undefined;
    clock: Clock;
  },
): Promise<Result> {
  const { method, params, accept, clock } = ask;
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  let underWay = 0;
  let failure: Error | undefined;
  let cancel = () => {};

  function askNext(): void {
    cancel();
    const member = waiting.shift();
    if (member === undefined) {
      if (underWay === 0) reject(failure ?? new NodeUnreachable(`There is no node to call ${method}`));
      return;
    }
    underWay++;
    if (waiting.length > 0) cancel = clock.after(HEDGE_AFTER_MS, askNext);
    member
      .call<Result>(method, params)
      .then((result) => {
        accept?.(result);
        resolve(result);
      })
      .catch((error: Error) => {
        underWay--;
        failure = failure === undefined ? error : clearest(failure, error);
        if (error instanceof CallEnded) reject(error);
        else askNext();
      });
  }

  askNext();
  return promise.finally(() => {
    waiting.length = 0;
    cancel();
  });
}

function mustBeHeader(value: unknown): void {
  if (!isHeader(value)) throw new NodeUnreachable("The node's newest block cannot be read");
}

/** Returns the failure that explains more: a limit before a timeout, a timeout before a refusal. */
function clearest(one: Error, other: Error): Error {
  const rank = (error: Error) => (error instanceof NodeBusy ? 2 : error instanceof NodeUnreachable ? 1 : 0);
  return rank(other) > rank(one) ? other : one;
}
