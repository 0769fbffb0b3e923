import { SECOND } from '../../src/domain/clock.ts';
import { CallEnded, MethodMissing, NodeBusy, NodeRefused, NodeUnreachable } from './node.ts';

export type RpcResponse = {
  id?: unknown;
  result?: unknown;
  error?: { code?: number; message?: string; data?: unknown };
};

/** Whether a node refuses batches: it sends one error for all calls, which is no rate limit and no server failure. */
export function refusesBatches(status: number, response: unknown): boolean {
  if (Array.isArray(response) || status === 429 || status >= 500) return false;
  const { error } = (response ?? {}) as RpcResponse;
  return error !== undefined && !(errorOf('batch', error) instanceof NodeBusy);
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function resultOf(method: string, response: unknown, http: { status: number; retryAfter: unknown }): unknown {
  const { result, error } = (typeof response === 'object' && response !== null ? response : {}) as RpcResponse;
  if (http.status === 429) {
    throw new NodeBusy(`The node does not respond to ${method} (HTTP 429)`, msIn(http.retryAfter));
  }
  if (typeof error === 'object' && error !== null) throw errorOf(method, error);
  if (http.status === 400) throw new NodeRefused(`${method}: HTTP 400`);
  if (http.status < 200 || http.status > 299) {
    throw new NodeUnreachable(`The node does not respond to ${method} (HTTP ${http.status})`);
  }
  if (result === undefined) throw new NodeUnreachable(`The node's response to ${method} cannot be read`);
  return result;
}

function msIn(retryAfter: unknown): number | undefined {
  const seconds = Number(retryAfter);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3600) * SECOND : undefined;
}

function errorOf(method: string, { code = 0, message = '' }: { code?: number; message?: string }): Error {
  const details = String(message).slice(0, 300);
  const text = `${method}: ${details} (${code})`;
  if (isCallEnded(code, details)) return new CallEnded(text);
  if (isBusy(code, details)) return new NodeBusy(text);
  return isMissing(code, details) ? new MethodMissing(text) : new NodeRefused(text);
}

/** Whether the contract ended the call. Each kind of node words this differently, and a contract words its own reverts. */
function isCallEnded(code: number, details: string): boolean {
  // A timeout is the node's own.
  if (/execution (aborted|time)|timeout|timed out/i.test(details)) return false;
  return (
    [3, -32015].includes(code) ||
    /revert|vm exec|vm exception|evm (error|halt)|opcode|(bad|invalid) ?(jump|instruction)|\bgas\b|outofgas|stack ?(limit|under|over)|write protection|static ?call|access ?violation|return ?data|call ?depth/i.test(
      details,
    )
  );
}

function isBusy(code: number, details: string): boolean {
  // A response that is too large for the provider stays too large.
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
