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

/** Well-known chains by the short names that wallets write before an address (EIP-3770), with rotki's and other common ones. */
const CHAINS: readonly (readonly [chainId: number, title: string, ...prefixes: string[]])[] = [
  [1, 'Ethereum', 'eth', 'ethereum', 'mainnet'],
  [10, 'OP Mainnet', 'oeth', 'optimism', 'op'],
  [14, 'Flare', 'flr'],
  [25, 'Cronos', 'cro'],
  [30, 'Rootstock', 'rsk'],
  [40, 'Telos', 'tlosevm', 'tlos'],
  [50, 'XDC', 'xdc'],
  [56, 'BNB Smart Chain', 'bnb', 'bsc', 'binance_sc'],
  [61, 'Ethereum Classic', 'etc'],
  [100, 'Gnosis', 'gno', 'gnosis', 'xdai'],
  [122, 'Fuse', 'fuse'],
  [130, 'Unichain', 'unichain'],
  [137, 'Polygon', 'matic', 'pol', 'polygon', 'polygon_pos'],
  [146, 'Sonic', 'sonic'],
  [250, 'Fantom', 'ftm', 'fantom'],
  [252, 'Fraxtal', 'frax'],
  [324, 'ZKsync Era', 'zksync'],
  [480, 'World Chain', 'wc'],
  [1101, 'Polygon zkEVM', 'zkevm'],
  [1284, 'Moonbeam', 'mbeam'],
  [1285, 'Moonriver', 'mriver'],
  [1329, 'Sei', 'sei'],
  [5000, 'Mantle', 'mantle', 'mnt'],
  [8217, 'Kaia', 'kaia', 'klaytn'],
  [8453, 'Base', 'base'],
  [17000, 'Holesky', 'holesky'],
  [34443, 'Mode', 'mode'],
  [42161, 'Arbitrum One', 'arb1', 'arbitrum', 'arb'],
  [42170, 'Arbitrum Nova', 'arb-nova'],
  [42220, 'Celo', 'celo'],
  [43114, 'Avalanche', 'avax', 'avalanche'],
  [57073, 'Ink', 'ink'],
  [59144, 'Linea', 'linea'],
  [80094, 'Berachain', 'berachain'],
  [81457, 'Blast', 'blast', 'blastmainnet'],
  [84532, 'Base Sepolia', 'basesep', 'base-sepolia'],
  [167000, 'Taiko', 'tko-mainnet'],
  [421614, 'Arbitrum Sepolia', 'arb-sep'],
  [534352, 'Scroll', 'scr', 'scroll'],
  [560048, 'Hoodi', 'hoe'],
  [7777777, 'Zora', 'zora'],
  [11155111, 'Sepolia', 'sep', 'sepolia'],
  [11155420, 'OP Sepolia', 'opsep'],
];

const bare = (name: string): string => name.toLowerCase().replace(/[\s_-]/g, '');
const BY_NAME = new Map(CHAINS.flatMap(([chainId, ...names]) => names.map((one) => [bare(one), chainId] as const)));
const TITLES = new Map(CHAINS.map(([chainId, title]) => [chainId, title]));

export const chainOf = (name: string): number | undefined => BY_NAME.get(bare(name));

export const chainTitle = (chainId: number): string => TITLES.get(chainId) ?? `chain ${chainId}`;
