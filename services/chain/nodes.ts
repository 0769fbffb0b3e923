import { type Clock, SECOND, systemClock } from '../../src/domain/clock.ts';
import { type Member, type NodeOptions, openMember } from './member.ts';
import { CallEnded, isHeader, type Node, NodeBusy, type NodeHeader, NodeUnreachable } from './node.ts';
import { isTraceCall, type RpcOptions } from './rpc.ts';

export interface ConnectOptions extends Partial<RpcOptions> {
  /** How many nodes must agree about the newest block; default 1. Nodes that do not respond are not counted. */
  agreement?: number | undefined;
}

export type NodeHealth = ReturnType<Nodes['health']>[number];

export type Nodes = ReturnType<typeof connect>;

/** How long one node may take before the next one is asked as well, so that a call that hangs delays nothing. */
const HEDGE_AFTER_MS = 3 * SECOND;

export function connect(nodes: string | readonly NodeOptions[], options: ConnectOptions = {}) {
  const { clock = systemClock, agreement = 1 } = options;
  const given = typeof nodes === 'string' ? [{ url: nodes }] : nodes;
  const members = given.map((node) => openMember(node, { ...options, clock }));

  async function callAll<Result>(method: string, params: readonly unknown[]): Promise<Result[]> {
    const asked = members.filter((member) => member.excluded === null && !member.tracesOnly);
    const settled = await Promise.allSettled(asked.map((member) => member.call<Result>(method, params)));
    const results = settled.flatMap((result) =>
      result.status === 'fulfilled' && result.value !== null ? [result.value] : [],
    );
    if (results.length > 0) return results;
    const failures = settled.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
    throw failures.reduce(clearest, new NodeUnreachable(`No node responds to ${method}`));
  }

  const call: Node['call'] = (method, params = [], accept) =>
    firstAccepted(orderFor(members, method), clock, method, params, accept);

  return {
    call,
    async head(): Promise<NodeHeader> {
      if (agreement < 2 || members.length < 2) {
        return await call<NodeHeader>('eth_getBlockByNumber', ['latest', false], (newest: unknown) => {
          if (!isHeader(newest)) throw new NodeUnreachable("The node's newest block cannot be read");
        });
      }
      const heads = await callAll<NodeHeader>('eth_getBlockByNumber', ['latest', false]);
      const ordered = heads.filter(isHeader).sort((a, b) => Number(b.number) - Number(a.number));
      const agreed = ordered[Math.min(agreement, ordered.length) - 1];
      if (agreed === undefined) throw new NodeUnreachable("No node's newest block can be read");
      return agreed;
    },
    /** @throws {NodeUnreachable} while another node names another hash for this block and too few agree. */
    async confirm({ number, hash }: NodeHeader): Promise<void> {
      if (agreement < 2 || members.length < 2) return;
      const headers = (await callAll<NodeHeader>('eth_getBlockByNumber', [number, false])).filter(isHeader);
      const agreeing = headers.filter((header) => header.hash.toLowerCase() === hash.toLowerCase()).length;
      if (agreeing >= Math.min(agreement, headers.length)) return;
      throw new NodeUnreachable(`The nodes do not agree about block ${Number(number)}`);
    },
    async identities() {
      const settled = await Promise.allSettled(
        members.map(async (member) => ({
          name: member.name,
          identity: await member.identify(),
          exclude(reason: string | null): void {
            member.excluded = reason;
          },
        })),
      );
      const found = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      if (found.length === 0) throw (settled[0] as PromiseRejectedResult).reason;
      return found;
    },
    health: () =>
      members.map(({ name, excluded, isResting }) => ({
        name,
        isHealthy: !isResting('eth_getBlockByNumber'),
        excluded,
      })),
    close(): void {
      for (const member of members) member.close();
    },
  };
}

/** Orders the nodes for a call, which it counts: resting ones come last, those for traces first. */
function orderFor(members: readonly Member[], method: string): Member[] {
  const isTrace = isTraceCall(method);
  const usable = members.filter((member) => member.excluded === null && (isTrace || !member.tracesOnly));
  for (const member of usable) member.credit += member.weight;
  const rank = (member: Member) => (member.isResting(method) ? 2 : 0) + (isTrace && !member.tracesOnly ? 1 : 0);
  const ordered = usable.sort((a, b) => rank(a) - rank(b) || b.credit - a.credit);
  if (ordered[0] !== undefined) ordered[0].credit -= usable.reduce((sum, { weight }) => sum + weight, 0);
  return ordered;
}

function firstAccepted<Result>(
  waiting: Member[],
  clock: Clock,
  method: string,
  params: readonly unknown[],
  accept?: (result: Result) => void,
): Promise<Result> {
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

/** Returns the failure that explains more: a limit before a timeout, a timeout before a refusal. */
function clearest(a: Error, b: Error): Error {
  const rank = (error: Error) => (error instanceof NodeBusy ? 2 : error instanceof NodeUnreachable ? 1 : 0);
  return rank(b) > rank(a) ? b : a;
}
