/** What the measured services and their made-up node both know. */

/** The chain and its node; times in milliseconds. */
export interface NodeShape {
  latencyMs: number;
  traceMs: number;
  /** Time between two blocks; 0: they come only with `mine`. */
  blockMs: number;
  /** Transactions a block, half payments and half ERC-20. */
  transfers: number;
  /** Share of the transactions that pay a watched address. */
  watched: number;
  /** false: the node has no eth_getBlockReceipts, as many do. */
  hasBlockReceipts: boolean;
}

/** Where watched transfers go; there are {@link WATCHED} of them. */
export const watchedAddress = (index: number): string => `0x${'a'.repeat(32)}${index.toString(16).padStart(8, '0')}`;
export const WATCHED = 100;

/** What the node has done so far. */
export interface NodeState {
  height: number;
  calls: number;
  /** When its block at `height` appeared, in milliseconds since 1970. */
  since: number;
}
