import type { Hex } from 'viem';
import type { TraceHabits } from './traces.ts';

/** The peculiarities of a chain, by its chain id. */
export interface Profile {
  name: string;
  traces: TraceHabits;
  /** true: a development chain, which may start over under the same id. */
  isDevelopment: boolean;
  /** true: logs may belong to a transaction that the block does not list. */
  hasUnlistedLogs: boolean;
  /**
   * A contract whose Transfer logs are the coin's own movements: only these count, because transactions and traces
   * repeat them. Null on chains without one.
   */
  coinContract: Hex | null;
  /** Where fees go in such logs: these are not payments. */
  feeCollectors: readonly Hex[];
  /** Contracts that write Deposit and Withdrawal, and no Transfer, when coins are wrapped. */
  wrappers: readonly Hex[];
  /**
   * Whether the consensus layer's payments in a block are coins (`other`: they are another asset), and whether their root
   * proves them. On other chains the same field may hold another root.
   */
  withdrawals: 'coins' | 'proven coins' | 'other';
}

const ORDINARY: Profile = {
  name: 'ordinary',
  traces: {},
  isDevelopment: false,
  hasUnlistedLogs: false,
  coinContract: null,
  feeCollectors: [],
  wrappers: [],
  withdrawals: 'coins',
};

const ETHEREUM: Partial<Profile> = { name: 'ethereum', withdrawals: 'proven coins' };
/** Withdrawals on Gnosis pay the staked token, GNO. */
const GNOSIS: Partial<Profile> = { name: 'gnosis', withdrawals: 'other' };
const DEVELOPMENT: Partial<Profile> = { name: 'development', isDevelopment: true };
const OP_STACK: Partial<Profile> = { name: 'op-stack', wrappers: ['0x4200000000000000000000000000000000000006'] };
/** Moves of the chain itself around a transaction; others are fees that come and go. */
const ARBITRUM: Partial<Profile> = {
  name: 'arbitrum',
  traces: { first: 'debug_traceBlockByNumber', payingPurposes: ['deposit', 'escrow', 'withdraw', 'refund'] },
};
const ZKSYNC: Partial<Profile> = {
  name: 'zksync',
  coinContract: '0x000000000000000000000000000000000000800a',
  feeCollectors: ['0x0000000000000000000000000000000000008001'],
};
const POLYGON: Partial<Profile> = { name: 'polygon', hasUnlistedLogs: true, traces: { hasUnlisted: true } };

const PROFILES: Readonly<Record<string, Partial<Profile>>> = {
  '1': { ...ETHEREUM, wrappers: ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'] },
  '10': OP_STACK,
  '56': { name: 'bsc', wrappers: ['0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c'] },
  '100': { ...GNOSIS, wrappers: ['0xe91d153e0b41518a2ce8dd3d7944fa863463a97d'] },
  '130': OP_STACK,
  '137': { ...POLYGON, wrappers: ['0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270'] },
  '252': OP_STACK,
  '300': ZKSYNC,
  '324': ZKSYNC,
  '480': OP_STACK,
  '1135': OP_STACK,
  '1337': DEVELOPMENT,
  '8453': OP_STACK,
  '10200': GNOSIS,
  '17000': ETHEREUM,
  '31337': DEVELOPMENT,
  '34443': OP_STACK,
  '42161': ARBITRUM,
  '42170': ARBITRUM,
  '43114': { name: 'avalanche', wrappers: ['0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7'] },
  '80002': POLYGON,
  '84532': OP_STACK,
  '421614': ARBITRUM,
  '560048': ETHEREUM,
  '7777777': OP_STACK,
  '11155111': ETHEREUM,
  '11155420': OP_STACK,
};

/** Returns the profile of a chain; `chainId` in decimal. */
export function profileOf(chainId: string): Profile {
  return { ...ORDINARY, ...PROFILES[chainId] };
}
