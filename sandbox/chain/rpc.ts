import { createClient, http } from 'viem';

/** Sends a JSON-RPC request over HTTP. */
export type Rpc = <Result>(method: string, params?: readonly unknown[]) => Promise<Result>;

/** Returns a JSON-RPC client over viem's HTTP transport. Its errors are viem's. */
export function rpcOf(rpcUrl: string): Rpc {
  const client = createClient({ transport: http(rpcUrl, { retryCount: 0 }) });
  return (method, params = []) => client.request({ method, params } as never);
}
