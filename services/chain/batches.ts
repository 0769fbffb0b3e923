import { CLOSED, type Http } from './http.ts';
import { NodeUnreachable } from './node.ts';
import { parseJson, type RpcResponse, refusesBatches, resultOf } from './responses.ts';

interface Waiting {
  method: string;
  params: readonly unknown[];
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** Sends calls to a node, up to `max` of the same moment in one request, until the node refuses batches. */
export function createBatches({ post }: Http, max: number) {
  let size = max;
  const queue: Waiting[] = [];

  async function single(method: string, params: readonly unknown[]): Promise<unknown> {
    const response = await post({ jsonrpc: '2.0', id: 1, method, params }, method);
    return resultOf(method, parseJson(response.text), response);
  }

  async function flush(): Promise<void> {
    const calls = queue.splice(0, size);
    if (queue.length > 0) void flush();
    if (calls.length === 0) return;
    try {
      await sendTogether(calls);
    } catch (error) {
      for (const { reject } of calls) reject(error as Error);
    }
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
    const byId = new Map(Array.isArray(list) ? list.map((one: RpcResponse) => [one?.id, one]) : []);
    for (const [id, { method, resolve, reject }] of calls.entries()) {
      try {
        resolve(resultOf(method, byId.get(id) ?? (Array.isArray(list) ? undefined : list), response));
      } catch (error) {
        reject(error as Error);
      }
    }
  }

  return {
    /** Sends a call in a request of its own. */
    single,
    /** Sends a call with the others of this moment. */
    batched(method: string, params: readonly unknown[]): Promise<unknown> {
      if (size === 1) return single(method, params);
      return new Promise((resolve, reject) => {
        queue.push({ method, params, resolve, reject });
        if (queue.length === 1) setImmediate(() => void flush());
      });
    },
    /** Refuses the calls that wait. */
    close(): void {
      for (const { reject } of queue.splice(0)) reject(new NodeUnreachable(CLOSED));
    },
  };
}
