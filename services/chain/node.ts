import { BaseError, createClient, type Hex, HttpRequestError, http, RpcRequestError } from 'viem';

/** A connection to a node's JSON-RPC; calls are not retried here. */
export interface Node {
  /**
   * @throws {NodeRefused} when the node answers with an error, {@link NodeBusy} when it holds calls back for a while,
   * {@link NodeUnreachable} when it does not answer.
   */
  call<Result>(method: string, params?: readonly unknown[]): Promise<Result>;
}

/** The node answered, with an error: the method is unknown, a call was reverted, a block does not exist. */
export class NodeRefused extends Error {}

/** The contract that was called ended the call itself: it reverted, or ran out of gas, stack or sense. */
export class CallEnded extends NodeRefused {}

/** The node did not answer, or not with JSON-RPC. The URL is not part of the message: it may hold a key. */
export class NodeUnreachable extends Error {}

/** The node answers nobody, or not us, for a while: a rate or a quota is used up. It says nothing of what was asked. */
export class NodeBusy extends NodeUnreachable {}

/** The longest answer that is read, in bytes: the traces of a full block are tens of megabytes. */
const maxResponseBodySize = 256 * 1024 * 1024;

const closed = 'The connection to the node is closed';

/** Connects to a node over HTTP; `timeout` in ms, for a whole answer to its last byte. `close` gives up what is asked. */
export function connect(rpcUrl: string, timeout = 30_000): Node & { close(): void } {
  const client = createClient({ transport: http(rpcUrl, { retryCount: 0, maxResponseBodySize }) });
  const asking = new Set<AbortController>();
  let isClosed = false;
  return {
    async call(method, params = []) {
      if (isClosed) throw new NodeUnreachable(closed);
      const controller = new AbortController();
      const { signal } = controller;
      const timer = setTimeout(() => controller.abort(), timeout);
      asking.add(controller);
      try {
        const result = await client.request({ method, params } as never, { signal });
        if (result !== undefined) return result;
      } catch (error) {
        if (isClosed) throw new NodeUnreachable(closed);
        if (signal.aborted) throw new NodeUnreachable(`The node does not answer ${method} within ${timeout} ms`);
        throw explained(error, method);
      } finally {
        clearTimeout(timer);
        asking.delete(controller);
      }
      throw new NodeUnreachable(`The node's answer to ${method} cannot be read`);
    },
    close() {
      isClosed = true;
      for (const controller of asking) controller.abort();
    },
  };
}

function explained(error: unknown, method: string): Error {
  if (!(error instanceof BaseError)) return new NodeUnreachable(`The node's answer to ${method} cannot be read`);
  const answered = error.walk((cause) => cause instanceof RpcRequestError);
  if (answered instanceof RpcRequestError) {
    const said = `${method}: ${answered.details} (${answered.code})`;
    if (isCallEnded(answered)) return new CallEnded(said);
    return isBusy(answered) ? new NodeBusy(said) : new NodeRefused(said);
  }
  const http = error.walk((cause) => cause instanceof HttpRequestError);
  const status = http instanceof HttpRequestError ? http.status : undefined;
  // Providers also refuse a method that is not in the plan with an HTTP status.
  if (status !== undefined && [400, 403, 404, 405, 501].includes(status)) {
    return new NodeRefused(`${method}: HTTP ${status}`);
  }
  const said = `The node does not answer ${method}${status === undefined ? '' : ` (HTTP ${status})`}`;
  return status === 429 ? new NodeBusy(said) : new NodeUnreachable(said);
}

/** Every kind of node has its own words for it. The text of a revert is the contract's own. */
function isCallEnded({ code, details }: RpcRequestError): boolean {
  return (
    [3, -32015].includes(code) ||
    /revert|vm exec|vm exception|evm (error|halt)|opcode|(bad|invalid) ?(jump|instruction)|\bgas\b|outofgas|stack ?(limit|under|over)|write protection|static ?call|access ?violation|return ?data|call ?depth|execution (aborted|time)/i.test(
      details,
    )
  );
}

/** Providers write a used-up rate in many ways. An answer that is too large for the provider is so tomorrow as well. */
function isBusy({ code, details }: RpcRequestError): boolean {
  if (/\bsize\b|too large|more than \d+ results/i.test(details)) return false;
  return (
    [429, -32005, -32007, -32029].includes(code) ||
    /too many requests|rate.?limit|requests? per|limit (exceeded|reached)|throttl|quota|capacity|compute units/i.test(
      details,
    )
  );
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
  parentHash: Hex;
  timestamp: Hex;
  /** A filter that says which topics the block's logs may have; some chains leave it out. */
  logsBloom?: Hex;
  transactions: NodeTransaction[];
}

/**
 * Whether what a node tells of a transaction happened in this block, not in another one that holds it too: a cluster's
 * nodes may disagree. What does not say where it happened is believed.
 */
export function isOf({ hash, transactions }: NodeBlock, { blockHash }: { blockHash?: Hex | null }): boolean {
  // On odd chains the transactions of a block name it by another hash than it does itself.
  const own = [hash, transactions[0]?.blockHash].map((one) => one?.toLowerCase());
  return !blockHash || own.includes(blockHash.toLowerCase());
}

/** An event of a contract as nodes write it. */
export interface NodeLog {
  address: Hex;
  topics: Hex[];
  data: Hex;
  transactionHash: Hex;
  logIndex: Hex;
  /** true: of a block that is no longer part of the chain. */
  removed?: boolean;
}

/** A receipt as nodes write it. */
export interface NodeReceipt {
  transactionHash: Hex;
  blockHash?: Hex;
  status?: Hex;
  gasUsed: Hex;
  effectiveGasPrice?: Hex;
  /** Of a transaction with blobs. */
  blobGasUsed?: Hex;
  blobGasPrice?: Hex;
  contractAddress: Hex | null;
  logs: NodeLog[];
}
