import { SECOND } from '../../src/domain/clock.ts';

/** Whether a method traces. */
export const isTraceCall = (method: string): boolean => /^(trace|debug)_/.test(method);

/** Whether a method's response may take long or have many megabytes. */
export const isHeavyCall = (method: string): boolean =>
  /^(trace|debug)_|Receipts$|^eth_getBlockByNumber$|^eth_getLogs$/.test(method);

/** Milliseconds that a method's whole response may take. */
export function timeoutOf(method: string): number {
  if (isTraceCall(method)) return 60 * SECOND;
  return isHeavyCall(method) ? 30 * SECOND : 10 * SECOND;
}
