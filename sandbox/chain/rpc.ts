import { createClient, http } from 'viem';

export type Rpc = <Result>(method: string, params?: readonly unknown[]) => Promise<Result>;

export function rpcOf(rpcUrl: string): Rpc {
  const client = createClient({ transport: http(rpcUrl, { retryCount: 0 }) });
  return (method, params = []) => client.request({ method, params } as never);
}
