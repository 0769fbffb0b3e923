import { createBatches } from './batches.ts';
import type { Budget } from './budget.ts';
import { createHttp, type HttpOptions } from './http.ts';
import { isHeavyCall, isTraceCall } from './methods.ts';
import { NodeBusy, NodeUnreachable } from './node.ts';

/** One node's JSON-RPC over HTTP. */
export interface Rpc {
  /** @throws {NodeRefused}, {@link NodeBusy}, {@link NodeUnreachable} */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Abandons the calls under way; later ones are refused. */
  close(): void;
}

/** How a node is reached, and how often. */
export interface RpcOptions extends HttpOptions {
  /** Calls that may share one HTTP request; default 1: no batches. */
  batch?: number;
  /** `calls` limits every call, and `traces` those that trace, so that a limit on traces slows down nothing else. */
  budgets: { calls: Budget; traces: Budget };
  /** Called after each call with its result: `ok`, `refused`, `busy` or `unreachable`. */
  onCall?(method: string, result: string, ms: number): void;
}

/** Connects to a node. */
export function connectRpc(options: RpcOptions): Rpc {
  const { clock, budgets, batch = 1, onCall = () => {} } = options;
  const http = createHttp(options);
  const batches = createBatches(http, batch);
  return {
    async call(method, params) {
      const isTrace = isTraceCall(method);
      await budgets.calls.take();
      if (isTrace) await budgets.traces.take();
      http.assertOpen();
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
      http.close();
      batches.close();
      budgets.calls.close();
      budgets.traces.close();
    },
  };
}
