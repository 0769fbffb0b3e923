import CHAINS from './chains.json' with { type: 'json' };

/** What the database calls the only network, or the one that came first: what was stored before others came is its. */
export const FIRST_NETWORK = 0;

export interface Network {
  /** In the database: the chain's id, or {@link FIRST_NETWORK}. */
  id: number;
  /** In the file, in CSV files and in metrics; empty for one that the variables describe. */
  name: string;
  /** Empty like the name: the network is never named. */
  title: string;
  /** null: unknown, for one that the variables describe. */
  chainId: number | null;
  /** undefined: as the events call it. */
  nativeSymbol: string | undefined;
  /** Without a slash at its end; undefined: there is no explorer. */
  explorerUrl: string | undefined;
  hasNode: boolean;
}

const bare = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');
/** Title and short names of each: those that wallets write before an address (EIP-3770), rotki's and other common ones. */
const KNOWN = Object.entries(CHAINS).map(([chainId, names]) => ({ chainId: Number(chainId), names }));
const BY_NAME = new Map(KNOWN.flatMap(({ chainId, names }) => names.map((name) => [bare(name), chainId] as const)));
const TITLES = new Map(KNOWN.map(({ chainId, names: [title] }) => [chainId, title!]));

export const chainOf = (name: string): number | undefined => BY_NAME.get(bare(name));

export const chainTitle = (chainId: number): string => TITLES.get(chainId) ?? `chain ${chainId}`;
