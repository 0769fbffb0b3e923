/** Amounts are BigInt in the smallest unit. */

/** Those that the chain returns are EIP-55 checksummed. */
export type Address = `0x${string}`;
export type Hash = `0x${string}`;

export const WALLET_NAMES = ['Treasury', 'Payroll', 'Alice', 'Bob', 'Carol', 'Market', 'Whale', 'Grants'] as const;
export type WalletName = (typeof WALLET_NAMES)[number];

export type Party = WalletName | Address;

/**
 * `hostile` attacks the reader by its name and symbol, `fake` copies those of `dollar`, `names` has ids far beyond
 * 2^53.
 */
export type TokenName = Erc20Name | Erc721Name | 'supplies';

export interface Token {
  address: Address;
  type: 'ERC-20' | 'ERC-721' | 'ERC-1155';
  name: string;
  symbol: string;
  /** 0 for everything but ERC-20. */
  decimals: number;
}

export const COIN_SYMBOL = 'HARBOR';

export type Erc20Name = 'dollar' | 'bell' | 'hostile' | 'fake';
export type Erc721Name = 'keys' | 'names';

/**
 * `internal` sends coins through the splitter contract, so that `to` receives them from a contract. `batch` moves
 * several ids in one TransferBatch. By default `id` is one that `from` holds; an ERC-721 is minted first if there is
 * none.
 */
export type TransferRequest =
  | { kind: 'native' | 'internal'; from: Party; to: Party; amount?: bigint }
  | { kind: 'erc20'; from: Party; to: Party; amount?: bigint; token?: Erc20Name }
  | { kind: 'erc721'; from: Party; to: Party; id?: bigint; token?: Erc721Name }
  | { kind: 'erc1155'; from: Party; to: Party; id?: bigint; amount?: bigint; batch?: boolean };

export interface Mined {
  hash: Hash;
  blockNumber: number;
  /** For people: `Alice sends 12.5 HUSD to Treasury`. */
  summary: string;
}

/** Actions run one after another, each in its own block. */
export interface Chain {
  rpcUrl: string;
  wallets: Readonly<Record<WalletName, Address>>;
  tokens: Readonly<Record<TokenName, Token>>;
  /** The splitter is the sender of every internal transfer. */
  contracts: Readonly<Record<'splitter' | 'swap' | 'mover', Address>>;
  transfer(request: TransferRequest): Promise<Mined>;
  /** Sends 1 to 500 transfers of all kinds in one block, by default between everybody and Treasury. */
  burst(count: number, between?: { from: Party; to: Party }): Promise<Mined[]>;
  swap(who: Party): Promise<Mined>;
  sweep(request: { from: Party; to: Party; count: number }): Promise<Mined>;
  /** Address poisoning: sends dust from an address with the same first and last four hex digits as `like`. */
  lookalike(request: { like: Party; to: Party }): Promise<Mined & { address: Address }>;
  mint(request: { to: Party; token?: TokenName }): Promise<Mined>;
  burn(request: { from: Party; token?: TokenName }): Promise<Mined>;
  identicalTransfers(request: { from: Party; to: Party; amount?: bigint }): Promise<Mined>;
  /** Returns a function that stops the listener. */
  onMined(listener: (mined: Mined) => void): () => void;
  close(): Promise<void>;
}
