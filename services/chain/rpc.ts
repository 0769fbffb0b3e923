import { Agent, request } from 'undici';
import { type Clock, SECOND } from '../../src/domain/clock.ts';
import type { Budget } from './budget.ts';
import { CallEnded, MethodMissing, NodeBusy, NodeRefused, NodeUnreachable } from './node.ts';

/** One node's JSON-RPC over HTTP. */
export interface Rpc {
  /** @throws {NodeRefused}, {@link NodeBusy}, {@link NodeUnreachable} */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Abandons the calls under way; later ones are refused. */
  close(): void;
}

/** How a node is reached. */
export interface RpcOptions {
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Calls that may share one HTTP request; default 1: no batches. */
  batch?: number;
  /** Milliseconds for a whole answer, to its last byte; default by method. */
  timeoutMs?: number;
  clock: Clock;
  /** Of all calls; a limit that the node names for traces slows down only these. */
  budgets: { calls: Budget; traces: Budget };
  /** Called after each call with its result: `ok`, `refused`, `busy` or `unreachable`. */
  onCall?(method: string, result: string, ms: number): void;
}

/** The longest answer that is read, in bytes: the traces of a full block are tens of megabytes. */
const MAX_BYTES = 256 * 1024 * 1024;
const CONNECTIONS = 32;
const CLOSED = 'The connection to the node is closed';

interface Waiting {
  method: string;
  params: readonly unknown[];
  resolve(result: unknown): void;
  reject(error: Error): void;
}

type Answer = { id?: unknown; result?: unknown; error?: { code?: number; message?: string; data?: unknown } };

/** Connects to a node. */
export function connectRpc(options: RpcOptions): Rpc {
  const { clock, budgets, onCall = () => {} } = options;
  // The URL's credentials are sent as a header; they never appear in an error.
  const { url, headers } = target(options);
  const agent = new Agent({ connections: CONNECTIONS, headersTimeout: 0, bodyTimeout: 0 });
  const underWay = new Set<AbortController>();
  let batch = options.batch ?? 1;
  let isClosed = false;
  let queue: Waiting[] = [];

  const post = async (
    body: unknown,
    method: string,
  ): Promise<{ status: number; text: string; retryAfter: unknown }> => {
    const timeoutMs = options.timeoutMs ?? timeoutOf(method);
    const controller = new AbortController();
    underWay.add(controller);
    const cancel = clock.after(timeoutMs, () => controller.abort());
    try {
      const response = await request(url, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        dispatcher: agent,
        signal: controller.signal,
      });
      const text = await textOf(response.body);
      return { status: response.statusCode, text, retryAfter: response.headers['retry-after'] };
    } catch {
      if (isClosed) throw new NodeUnreachable(CLOSED);
      if (controller.signal.aborted) {
        throw new NodeUnreachable(`The node does not answer ${method} within ${timeoutMs} ms`);
      }
      throw new NodeUnreachable(`The node does not answer ${method}`);
    } finally {
      cancel();
      underWay.delete(controller);
    }
  };

  const single = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const answer = await post({ jsonrpc: '2.0', id: 1, method, params }, method);
    return resultOf(method, parsed(answer.text), answer);
  };

  const flush = async (): Promise<void> => {
    const calls = queue.splice(0, batch);
    if (queue.length > 0) void flush();
    const body = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
    const methods = calls.map(({ method }) => method);
    try {
      const answer = await post(body, methods[0]!);
      const list = parsed(answer.text);
      if (refusesBatches(answer.status, list)) {
        batch = 1;
        for (const { method, params, resolve, reject } of calls) single(method, params).then(resolve, reject);
        return;
      }
      const byId = new Map(Array.isArray(list) ? list.map((one: Answer) => [one?.id, one]) : []);
      for (const [id, { method, resolve, reject }] of calls.entries()) {
        try {
          resolve(resultOf(method, byId.get(id) ?? (Array.isArray(list) ? undefined : list), answer));
        } catch (error) {
          reject(error as Error);
        }
      }
    } catch (error) {
      for (const { reject } of calls) reject(error as Error);
    }
  };

  const batched = (method: string, params: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      queue.push({ method, params, resolve, reject });
      if (queue.length === 1) setImmediate(() => void flush());
    });

  return {
    async call(method, params) {
      const isTrace = isTraceCall(method);
      await budgets.calls.take();
      if (isTrace) await budgets.traces.take();
      if (isClosed) throw new NodeUnreachable(CLOSED);
      const begun = clock.now();
      let result = 'ok';
      try {
        // An answer of many megabytes would hold up all others of its batch.
        return await (batch > 1 && !isHeavy(method) ? batched(method, params) : single(method, params));
      } catch (error) {
        result = error instanceof NodeBusy ? 'busy' : error instanceof NodeUnreachable ? 'unreachable' : 'refused';
        if (error instanceof NodeBusy) (isTrace ? budgets.traces : budgets.calls).slowDown();
        throw error;
      } finally {
        onCall(method, result, clock.now() - begun);
      }
    },
    close() {
      isClosed = true;
      for (const controller of underWay) controller.abort();
      for (const { reject } of queue) reject(new NodeUnreachable(CLOSED));
      queue = [];
      void agent.destroy();
    },
  };
}

function target({ url: given, headers = {} }: RpcOptions): { url: string; headers: Record<string, string> } {
  const url = new URL(given);
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const authorization = credentials === ':' ? {} : { authorization: `Basic ${btoa(credentials)}` };
  url.username = '';
  url.password = '';
  return { url: url.href, headers: { 'content-type': 'application/json', ...authorization, ...headers } };
}

/** Whether a method traces. */
export const isTraceCall = (method: string): boolean => /^(trace|debug)_/.test(method);

/** A single answer to a whole batch, other than a rate limit or a failing server: the node does not take batches. */
function refusesBatches(status: number, answer: unknown): boolean {
  if (Array.isArray(answer) || status === 429 || status >= 500) return false;
  const { error } = (answer ?? {}) as Answer;
  return error !== undefined && !(explained('batch', error) instanceof NodeBusy);
}

const isHeavy = (method: string): boolean =>
  /^(trace|debug)_|Receipts$|^eth_getBlockByNumber$|^eth_getLogs$/.test(method);

function timeoutOf(method: string): number {
  if (isTraceCall(method)) return 60 * SECOND;
  return isHeavy(method) ? 30 * SECOND : 10 * SECOND;
}

async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error('too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function resultOf(method: string, answer: unknown, http: { status: number; retryAfter: unknown }): unknown {
  const { result, error } = (typeof answer === 'object' && answer !== null ? answer : {}) as Answer;
  if (http.status === 429) throw new NodeBusy(`The node does not answer ${method} (HTTP 429)`, msIn(http.retryAfter));
  if (typeof error === 'object' && error !== null) throw explained(method, error);
  // Providers also refuse a method that is not in the plan with an HTTP status.
  if ([403, 404, 405, 501].includes(http.status)) throw new MethodMissing(`${method}: HTTP ${http.status}`);
  if (http.status === 400) throw new NodeRefused(`${method}: HTTP 400`);
  if (http.status < 200 || http.status > 299) {
    throw new NodeUnreachable(`The node does not answer ${method} (HTTP ${http.status})`);
  }
  if (result === undefined) throw new NodeUnreachable(`The node's answer to ${method} cannot be read`);
  return result;
}

function msIn(retryAfter: unknown): number | undefined {
  const seconds = Number(retryAfter);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3600) * SECOND : undefined;
}

function explained(method: string, { code = 0, message = '' }: { code?: number; message?: string }): Error {
  const details = String(message).slice(0, 300);
  const text = `${method}: ${details} (${code})`;
  if (isCallEnded(code, details)) return new CallEnded(text);
  if (isBusy(code, details)) return new NodeBusy(text);
  return isMissing(code, details) ? new MethodMissing(text) : new NodeRefused(text);
}

/** Every kind of node words this differently. The text of a revert is the contract's own. A time-out is no end. */
function isCallEnded(code: number, details: string): boolean {
  if (/execution (aborted|time)|timeout|timed out/i.test(details)) return false;
  return (
    [3, -32015].includes(code) ||
    /revert|vm exec|vm exception|evm (error|halt)|opcode|(bad|invalid) ?(jump|instruction)|\bgas\b|outofgas|stack ?(limit|under|over)|write protection|static ?call|access ?violation|return ?data|call ?depth/i.test(
      details,
    )
  );
}

/** Providers word a used-up rate in many ways. An answer too large for the provider stays too large. */
function isBusy(code: number, details: string): boolean {
  if (/\bsize\b|too large|more than \d+ results/i.test(details)) return false;
  return (
    [429, -32005, -32007, -32029].includes(code) ||
    /too many requests|rate.?limit|requests? per|limit (exceeded|reached)|throttl|quota|capacity|compute units/i.test(
      details,
    )
  );
}

function isMissing(code: number, details: string): boolean {
  return (
    code === -32601 ||
    /method .*(not|un)\s?(found|available|supported|exist|enabled|known)|unknown method/i.test(details)
  );
}
