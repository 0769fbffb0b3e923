import type { LimitedNode } from '../limited-node.ts';
import type { Luck } from './operations.ts';

const METHODS = [
  'eth_blockNumber',
  'eth_getBlockByNumber',
  'eth_getBlockReceipts',
  'eth_getTransactionReceipt',
  'eth_getLogs',
  'trace_block',
  'debug_traceBlockByNumber',
  'eth_call',
  'eth_chainId',
] as const;
/** `null`, `empty`, `cut` and `stale` come for half of the calls, the others for all. */
const WAYS = ['null', 'empty', 'cut', 'stale', 'refused', 'status'] as const;

export interface Fault {
  method: (typeof METHODS)[number];
  way: (typeof WAYS)[number];
}

export const faults = (): Fault[] => METHODS.flatMap((method) => WAYS.map((way) => ({ method, way })));

export function spoil(node: LimitedNode, { method, way }: Fault, luck: Luck): void {
  if (way === 'refused' || way === 'status') {
    node.refuse(method, way === 'status' ? luck.pick([429, 500, 503]) : { code: -32000, message: 'header not found' });
    return;
  }
  let earlier: unknown = null;
  node.change(method, (result: unknown) => {
    const stale = earlier;
    earlier = result;
    if (luck.next() < 0.5) return result;
    switch (way) {
      case 'null':
        return null;
      case 'stale':
        return stale;
      case 'empty':
        return Array.isArray(result) ? [] : '0x';
      case 'cut':
        return Array.isArray(result) ? result.slice(1) : result;
    }
  });
}
