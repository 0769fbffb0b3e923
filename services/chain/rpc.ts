import { Agent, request } from 'undici';
import { type Clock, SECOND } from '../../src/domain/clock.ts';
import { MIB } from '../../src/domain/units.ts';
import { authorizationOf } from '../credentials.ts';
import { createBudget } from './budget.ts';
import { NodeBusy, NodeUnreachable } from './node.ts';
import { parseJson, type RpcResponse, refusesBatches, resultOf } from './responses.ts';

/** The longest response that is read, in bytes: the traces of a full block are tens of megabytes. */
const MAX_BYTES = 256 * MIB;
const MAX_CONNECTIONS = 32;

export interface RpcOptions {
  clock: Clock;
  /** Calls per second; default: no limit until the node refuses calls. */
  perSecond?: number | undefined;
  /** Calls that may share one HTTP request; default 1: no batches. */
  batch?: number | undefined;
  /** Called after each call with its result: `ok`, `refused`, `busy` or `unreachable`. */
  onCall?: ((method: string, result: string, ms: number) => void) | undefined;
}

export function connectRpc(url: string, headers: Readonly<Record<string, string>>, options: RpcOptions) {
  const { clock, perSecond, batch = 1, onCall = () => {} } = options;
  const http = createHttp(url, headers, clock);
  const { single, batched } = createBatches(http, batch);
  // `calls` limits every call, and `traces` those that trace, so that a limit on traces slows down nothing else.
  const calls = createBudget(clock, perSecond);
  const traces = createBudget(clock);
  return {
    async call(method: string, params: readonly unknown[]): Promise<unknown> {
      const isTrace = isTraceCall(method);
      await calls.take();
      if (isTrace) await traces.take();
      http.assertOpen();
      const begun = clock.now();
      let result = 'ok';
      try {
        // A response of many megabytes would hold up all others of its batch.
        return await (isHeavyCall(method) ? single(method, params) : batched(method, params));
      } catch (error) {
        result = error instanceof NodeBusy ? 'busy' : error instanceof NodeUnreachable ? 'unreachable' : 'refused';
        if (error instanceof NodeBusy) (isTrace ? traces : calls).slowDown();
        throw error;
      } finally {
        onCall(method, result, clock.now() - begun);
      }
    },
    close(): void {
      http.close();
      calls.close();
      traces.close();
    },
  };
}

export const isTraceCall = (method: string): boolean => /^(trace|debug)_/.test(method);

const isHeavyCall = (method: string): boolean =>
  /^(trace|debug)_|Receipts$|^eth_getBlockByNumber$|^eth_getLogs$/.test(method);

function timeoutOf(method: string): number {
  if (isTraceCall(method)) return 60 * SECOND;
  return isHeavyCall(method) ? 30 * SECOND : 10 * SECOND;
}

/** Creates the connections to a node. The URL's credentials are sent as a header; they never appear in an error. */
function createHttp(given: string, headers: Readonly<Record<string, string>>, clock: Clock) {
  const url = new URL(given);
  const allHeaders = { 'content-type': 'application/json', ...authorizationOf(url), ...headers };
  url.username = '';
  url.password = '';
  const limits = { connections: MAX_CONNECTIONS, headersTimeout: 0, bodyTimeout: 0, maxResponseSize: MAX_BYTES };
  const agent = new Agent(limits);
  const underWay = new Set<AbortController>();
  let isClosed = false;

  function assertOpen(): void {
    if (isClosed) throw new NodeUnreachable('The connection to the node is closed');
  }

  return {
    assertOpen,
    async post(body: unknown, method: string): Promise<{ status: number; text: string; retryAfter: unknown }> {
      const timeoutMs = timeoutOf(method);
      const controller = new AbortController();
      const { signal } = controller;
      underWay.add(controller);
      const cancel = clock.after(timeoutMs, () => controller.abort());
      try {
        assertOpen();
        const content = { headers: allHeaders, body: JSON.stringify(body) };
        const response = await request(url, { method: 'POST', ...content, dispatcher: agent, signal });
        const text = await response.body.text();
        return { status: response.statusCode, text, retryAfter: response.headers['retry-after'] };
      } catch {
        assertOpen();
        const limit = signal.aborted ? ` within ${timeoutMs} ms` : '';
        throw new NodeUnreachable(`The node does not respond to ${method}${limit}`);
      } finally {
        cancel();
        underWay.delete(controller);
      }
    },
    close(): void {
      isClosed = true;
      for (const controller of underWay) controller.abort();
      void agent.destroy();
    },
  };
}

interface Waiting {
  method: string;
  params: readonly unknown[];
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Sends calls to a node, up to `max` of the same moment in one request, until the node refuses batches. */
function createBatches({ post }: ReturnType<typeof createHttp>, max: number) {
  let size = max;
  const queue: Waiting[] = [];

  async function single(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await post({ jsonrpc: '2.0', id: 1, method, params }, method);
    return resultOf(method, parseJson(response.text), response);
  }

  async function flush(): Promise<void> {
    const calls = queue.splice(0, size);
    if (queue.length > 0) void flush();
    await sendTogether(calls).catch((error: Error) => {
      for (const { reject } of calls) reject(error);
    });
  }

  async function sendTogether(calls: readonly Waiting[]): Promise<void> {
    const body = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
    const response = await post(body, calls[0]!.method);
    const list = parseJson(response.text);
    if (refusesBatches(response.status, list)) {
      size = 1;
      for (const { method, params, resolve, reject } of calls) single(method, params).then(resolve, reject);
      return;
    }
    const byId = new Map(
      Array.isArray(list) ? list.map((response: RpcResponse) => [String(response?.id), response]) : [],
    );
    for (const [id, { method, resolve, reject }] of calls.entries()) {
      try {
        resolve(resultOf(method, Array.isArray(list) ? byId.get(String(id)) : list, response));
      } catch (error) {
        reject(error as Error);
      }
    }
  }

  return {
    single,
    batched(method: string, params: readonly unknown[]): Promise<unknown> {
      if (size === 1) return single(method, params);
      return new Promise((resolve, reject) => {
        queue.push({ method, params, resolve, reject });
        if (queue.length === 1) setImmediate(() => void flush());
      });
    },
  };
}
