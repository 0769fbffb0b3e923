import { BaseError, createClient, type Hex, HttpRequestError, http, RpcRequestError } from 'viem';

/** A connection to a node's JSON-RPC; calls are not retried here. */
export interface Node {
  /** @throws {NodeRefused} when the node answers with an error, {@link NodeUnreachable} when it does not answer. */
  call<Result>(method: string, params?: readonly unknown[]): Promise<Result>;
}

/** The node answered, with an error: the method is unknown, a call was reverted, a block does not exist. */
export class NodeRefused extends Error {}

/** The node did not answer, or not with JSON-RPC. The URL is not part of the message: it may hold a key. */
export class NodeUnreachable extends Error {}

/** Connects to a node over HTTP; `timeout` in ms. */
export function connect(rpcUrl: string, timeout = 20_000): Node {
  const client = createClient({ transport: http(rpcUrl, { retryCount: 0, timeout }) });
  return {
    async call(method, params = []) {
      try {
        return await client.request({ method, params } as never);
      } catch (error) {
        throw explained(error, method);
      }
    },
  };
}

function explained(error: unknown, method: string): Error {
  if (!(error instanceof BaseError)) return new NodeUnreachable(`The node's answer to ${method} cannot be read`);
  const answered = error.walk((cause) => cause instanceof RpcRequestError);
  if (answered instanceof RpcRequestError) return new NodeRefused(`${method}: ${answered.details} (${answered.code})`);
  const http = error.walk((cause) => cause instanceof HttpRequestError);
  const status = http instanceof HttpRequestError ? http.status : undefined;
  // Providers also refuse a method that is not in the plan with an HTTP status.
  if (status !== undefined && [400, 403, 404, 405, 501].includes(status)) {
    return new NodeRefused(`${method}: HTTP ${status}`);
  }
  return new NodeUnreachable(`The node does not answer ${method}${status === undefined ? '' : ` (HTTP ${status})`}`);
}

/** A transaction as nodes write it; only what is used here. */
export interface NodeTransaction {
  hash: Hex;
  from: Hex;
  /** null for a deployment. */
  to: Hex | null;
  value: Hex;
  nonce: Hex;
  gas: Hex;
  gasPrice?: Hex;
  blockHash: Hex | null;
  blockNumber: Hex | null;
}

/** A block with its transactions as nodes write it; only what is used here. */
export interface NodeBlock {
  number: Hex;
  hash: Hex;
  timestamp: Hex;
  transactions: NodeTransaction[];
}

/** An event of a contract as nodes write it. */
export interface NodeLog {
  address: Hex;
  topics: Hex[];
  data: Hex;
  transactionHash: Hex;
  logIndex: Hex;
}

/** A receipt as nodes write it. */
export interface NodeReceipt {
  transactionHash: Hex;
  status?: Hex;
  gasUsed: Hex;
  effectiveGasPrice?: Hex;
  contractAddress: Hex | null;
  logs: NodeLog[];
}
