/** The sandbox's chain. Amounts are BigInt in the smallest unit. */

/** `0x` and 40 hex digits. Those that the chain returns are EIP-55 checksummed. */
export type Address = `0x${string}`;
/** A transaction hash: `0x` and 64 hex digits. */
export type Hash = `0x${string}`;

/** The wallets of the sandbox. All hold coins and some of every token. */
export const WALLET_NAMES = ['Treasury', 'Payroll', 'Alice', 'Bob', 'Carol', 'Market', 'Whale', 'Grants'] as const;
/** One of {@link WALLET_NAMES}. */
export type WalletName = (typeof WALLET_NAMES)[number];

/** A wallet by name, or any address. */
export type Party = WalletName | Address;

/**
 * The contracts of the sandbox: `dollar` (ERC-20, 6 decimals), `bell` (ERC-20, 18 decimals), `hostile` (ERC-20 whose
 * name and symbol attack the reader), `fake` (ERC-20 that copies `dollar`'s name and symbol), `keys` (ERC-721),
 * `names` (ERC-721 with ids far beyond 2^53), `supplies` (ERC-1155).
 */
export type TokenName = 'dollar' | 'bell' | 'hostile' | 'fake' | 'keys' | 'names' | 'supplies';

/** A deployed token contract. */
export interface Token {
  address: Address;
  type: 'ERC-20' | 'ERC-721' | 'ERC-1155';
  name: string;
  symbol: string;
  /** 0 for everything but ERC-20. */
  decimals: number;
}

/** The symbol of the chain's coin. */
export const COIN_SYMBOL = 'HARBOR';

/** The names of the ERC-20 contracts. */
export type Erc20Name = 'dollar' | 'bell' | 'hostile' | 'fake';
/** The names of the ERC-721 contracts. */
export type Erc721Name = 'keys' | 'names';

/**
 * One transfer to send. Defaults: `amount` is a small one, `token` is the first of its kind, `id` is one that `from` holds
 * (ERC-721; minted first if there is none) or one of the three that every wallet holds (ERC-1155). With `batch`, an
 * ERC-1155 transfer moves several ids in one TransferBatch. `internal` sends coins through the splitter contract, so `to`
 * receives them from a contract.
 */
export type TransferRequest =
  | { kind: 'native' | 'internal'; from: Party; to: Party; amount?: bigint }
  | { kind: 'erc20'; from: Party; to: Party; amount?: bigint; token?: Erc20Name }
  | { kind: 'erc721'; from: Party; to: Party; id?: bigint; token?: Erc721Name }
  | { kind: 'erc1155'; from: Party; to: Party; id?: bigint; amount?: bigint; batch?: boolean };

/** One mined transaction. */
export interface Mined {
  hash: Hash;
  blockNumber: number;
  /** One sentence for people, e.g. `Alice sends 12.5 HUSD to Treasury`. */
  summary: string;
}

/** A running chain: see {@link startChain}. Actions run one after another, each in its own block. */
export interface Chain {
  rpcUrl: string;
  wallets: Readonly<Record<WalletName, Address>>;
  tokens: Readonly<Record<TokenName, Token>>;
  /** The contracts that move coins and tokens. The splitter is the sender of every internal transfer. */
  contracts: Readonly<Record<'splitter' | 'swap' | 'mover', Address>>;
  transfer(request: TransferRequest): Promise<Mined>;
  /** Sends `count` (1–500) transfers of all kinds in one block, between the two, or between everybody and Treasury. */
  burst(count: number, between?: { from: Party; to: Party }): Promise<Mined[]>;
  /** Swaps dollars for bell in one transaction. */
  swap(who: Party, amount?: bigint): Promise<Mined>;
  /** Sends `count` (1–50) NFTs in one transaction. */
  sweep(request: { from: Party; to: Party; count: number }): Promise<Mined>;
  /**
   * Address poisoning: sends dust to `to` from an address with the same first and last four hex digits as `like`. Also
   * returns that address.
   */
  lookalike(request: { like: Party; to: Party }): Promise<Mined & { address: Address }>;
  mint(request: { to: Party; token?: TokenName }): Promise<Mined>;
  burn(request: { from: Party; token?: TokenName }): Promise<Mined>;
  /** Sends two identical dollar transfers in one transaction. */
  identicalTransfers(request: { from: Party; to: Party; amount?: bigint }): Promise<Mined>;
  /** Calls the listener for every transaction of an action. Returns a function that stops that. */
  onMined(listener: (mined: Mined) => void): () => void;
  /** Stops the chain and frees its process and port. */
  close(): Promise<void>;
}
