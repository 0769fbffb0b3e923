import { createBatches } from './batches.ts';
import type { Budget } from './budget.ts';
import { isHeavyCall, isTraceCall } from './methods.ts';
import { NodeBusy, NodeUnreachable } from './node.ts';
import { createPost, type PostOptions } from './post.ts';

/** One node's JSON-RPC over HTTP. */
export interface Rpc {
  /** @throws {NodeRefused}, {@link NodeBusy}, {@link NodeUnreachable} */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Abandons the calls under way; later ones are refused. */
  close(): void;
}

/** How a node is reached, and how often. */
export interface RpcOptions extends PostOptions {
  /** Calls that may share one HTTP request; default 1: no batches. */
  batch?: number;
  /** Of all calls, and of traces: a limit that the node names for traces slows down only these. Closed with the node. */
  budgets: { calls: Budget; traces: Budget };
  /** Called after each call with its result: `ok`, `refused`, `busy` or `unreachable`. */
  onCall?(method: string, result: string, ms: number): void;
}

/** Connects to a node. */
export function connectRpc(options: RpcOptions): Rpc {
  const { clock, budgets, batch = 1, onCall = () => {} } = options;
  const post = createPost(options);
  const batches = createBatches(post, batch);
  return {
    async call(method, params) {
      const isTrace = isTraceCall(method);
      await budgets.calls.take();
      if (isTrace) await budgets.traces.take();
      post.assertOpen();
      const begun = clock.now();
      let result = 'ok';
      try {
        // A response of many megabytes would hold up all others of its batch.
        return await (isHeavyCall(method) ? batches.single(method, params) : batches.batched(method, params));
      } catch (error) {
        result = error instanceof NodeBusy ? 'busy' : error instanceof NodeUnreachable ? 'unreachable' : 'refused';
        if (error instanceof NodeBusy) (isTrace ? budgets.traces : budgets.calls).slowDown();
        throw error;
      } finally {
        onCall(method, result, clock.now() - begun);
      }
    },
    close() {
      post.close();
      batches.close();
      budgets.calls.close();
      budgets.traces.close();
    },
  };
}
