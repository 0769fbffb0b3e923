import { createClient, type Hex, http } from 'viem';
import type { Address, Hash } from './types.ts';

/** A transaction to send: a payment, a call with data, or (without `to`) a deployment. */
export interface Call {
  from: Address;
  to?: Address;
  /** Coins in wei; default 0. */
  value?: bigint;
  data?: Hex;
}

/** The result of a {@link Call}. `created` is the address of a deployed contract. */
export interface Receipt {
  hash: Hash;
  blockNumber: number;
  created: Address | null;
}

/** What each kind of chain provides. Everything else is the same code over both. */
export interface Driver {
  kind: 'anvil' | 'scripted';
  rpcUrl: string;
  /** At least ten addresses with coins. */
  accounts: readonly Address[];
  /** Mines all calls in one block, in this order. Any address may be the sender. @throws when one of them fails. */
  send(calls: readonly Call[]): Promise<Receipt[]>;
  setCoins(address: Address, wei: bigint): Promise<void>;
  close(): Promise<void>;
}

/** Sends a JSON-RPC request over HTTP. */
export type Rpc = <Result>(method: string, params?: readonly unknown[]) => Promise<Result>;

/** Returns a JSON-RPC client over viem's HTTP transport. Its errors are viem's. */
export function rpcOf(rpcUrl: string): Rpc {
  const client = createClient({ transport: http(rpcUrl, { retryCount: 0 }) });
  return (method, params = []) => client.request({ method, params } as never);
}
