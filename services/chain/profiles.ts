import type { Hex } from 'viem';
import type { TraceHabits } from './traces.ts';

export interface Profile {
  traces: TraceHabits;
  /** true: a development chain, which may start over under the same id. */
  isDevelopment: boolean;
  /** true: logs may belong to a transaction that the block does not list, and be missing from its Bloom filter. */
  hasUnlistedLogs: boolean;
  /**
   * A contract whose Transfer logs are the coin's own movements: only these count, because transactions and traces
   * repeat them. Null on chains without one.
   */
  coinContract: Hex | null;
  /** A contract that logs every movement of the coin. Only its logs show those of transactions that nodes do not trace. */
  untracedCoins: Hex | null;
  /** A contract that logs the coins which a bridge creates without a transaction. */
  bridgedCoins: Hex | null;
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
  traces: {},
  isDevelopment: false,
  hasUnlistedLogs: false,
  coinContract: null,
  untracedCoins: null,
  bridgedCoins: null,
  feeCollectors: [],
  wrappers: [],
  withdrawals: 'coins',
};

const ETHEREUM: Partial<Profile> = { withdrawals: 'proven coins' };
/** Withdrawals on Gnosis pay the staked token, GNO. */
const GNOSIS: Partial<Profile> = { withdrawals: 'other' };
const DEVELOPMENT: Partial<Profile> = { isDevelopment: true };
const OP_STACK: Partial<Profile> = { wrappers: ['0x4200000000000000000000000000000000000006'] };
const ARBITRUM: Partial<Profile> = { traces: { first: 'debug_traceBlockByNumber' } };
const ZKSYNC: Partial<Profile> = {
  coinContract: '0x000000000000000000000000000000000000800a',
  feeCollectors: ['0x0000000000000000000000000000000000008001'],
};
const POLYGON: Partial<Profile> = {
  hasUnlistedLogs: true,
  untracedCoins: '0x0000000000000000000000000000000000001010',
  traces: { hasUnlisted: true },
};

const FAMILIES: readonly [Partial<Profile>, readonly number[]][] = [
  [DEVELOPMENT, [1337, 31337]],
  [ETHEREUM, [17000, 560048, 11155111]],
  [GNOSIS, [10200]],
  [ARBITRUM, [42161, 42170, 421614]],
  [ZKSYNC, [232, 300, 324, 388, 2741, 11124, 50104, 61166, 531050104]],
  [{ ...ZKSYNC, isDevelopment: true }, [260, 270]],
  [POLYGON, [80002]],
  [
    OP_STACK,
    [
      10, 130, 204, 288, 291, 360, 478, 480, 690, 919, 1135, 1301, 1750, 1868, 1923, 1946, 2192, 4202, 4801, 5330, 5611,
      7560, 8008, 8453, 33979, 34443, 57073, 60808, 81224, 84532, 763373, 7777777, 11155420, 888888888, 999999999,
    ],
  ],
];

const PROFILES: Readonly<Record<string, Partial<Profile>>> = {
  ...Object.fromEntries(FAMILIES.flatMap(([profile, ids]) => ids.map((id) => [id, profile]))),
  '1': { ...ETHEREUM, wrappers: ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2'] },
  '56': { wrappers: ['0xbb4cdb9cbd36b01bd1cbaebf2de08d9173bc095c'] },
  '100': {
    ...GNOSIS,
    bridgedCoins: '0x481c034c6d9441db23ea48de68bcae812c5d39ba',
    wrappers: ['0xe91d153e0b41518a2ce8dd3d7944fa863463a97d'],
  },
  '137': { ...POLYGON, wrappers: ['0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270'] },
  '252': { ...OP_STACK, wrappers: ['0xfc00000000000000000000000000000000000006'] },
  '999': { hasUnlistedLogs: true },
  '43114': { wrappers: ['0xb31f66aa3c1e785363f0875a1b74e27b85fd66c7'] },
};

/** `chainId` is decimal. */
export function profileOf(chainId: string): Profile {
  return { ...ORDINARY, ...PROFILES[chainId] };
}
