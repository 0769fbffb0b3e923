/** What the sandbox's chain offers, whichever of the two kinds it is. Amounts are BigInt in the smallest unit. */

/** `0x` and 40 hex digits; those that the chain hands out are EIP-55 checksummed. */
export type Address = `0x${string}`;
/** A transaction hash: `0x` and 64 hex digits. */
export type Hash = `0x${string}`;

/** The people and places of the sandbox; all hold coins and a share of every token. */
export const walletNames = ['Treasury', 'Payroll', 'Alice', 'Bob', 'Carol', 'Market', 'Whale', 'Grants'] as const;
/** One of {@link walletNames}. */
export type WalletName = (typeof walletNames)[number];

/** A known wallet by name, or any address. */
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

/** The names of the ERC-20 contracts. */
export type Erc20Name = 'dollar' | 'bell' | 'hostile' | 'fake';
/** The names of the ERC-721 contracts. */
export type Erc721Name = 'keys' | 'names';

/**
 * One transfer to make. Left out: `amount` is a small plausible one; `token` is the first of its kind; `id` is a fresh
 * one, minted to `from` beforehand (ERC-721) or one of the three that everybody holds (ERC-1155). ERC-1155 with `batch`
 * moves several ids in one TransferBatch. `internal` sends coins through the splitter contract, so that `to` receives
 * them from a contract.
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

/** A running chain: see {@link startChain}. Actions run one after another; each is mined in a block of its own. */
export interface Chain {
  rpcUrl: string;
  kind: 'anvil' | 'scripted';
  /** Why a scripted chain runs although none was asked for, as a sentence; else null. */
  notice: string | null;
  wallets: Readonly<Record<WalletName, Address>>;
  tokens: Readonly<Record<TokenName, Token>>;
  /** The contracts that move things: the splitter is the sender of every internal transfer. */
  contracts: Readonly<Record<'splitter' | 'swap' | 'mover', Address>>;
  transfer(request: TransferRequest): Promise<Mined>;
  /** `count` (1–500) transfers of all kinds between the two, or between everybody and Treasury, in one block. */
  burst(count: number, between?: { from: Party; to: Party }): Promise<Mined[]>;
  /** Pays dollars into the swap contract and gets bell out of it, in one transaction. */
  swap(who: Party, amount?: bigint): Promise<Mined>;
  /** `count` (1–50) NFTs at once, in one transaction. */
  sweep(request: { from: Party; to: Party; count: number }): Promise<Mined>;
  /**
   * Address poisoning: a transfer of dust (or `amount` dollars) to `to` from an address that begins and ends with the
   * same four hex digits as `like`. Answers the address too.
   */
  lookalike(request: { like: Party; to: Party; amount?: bigint }): Promise<Mined & { address: Address }>;
  /** A transfer of the token with the hostile name. */
  hostile(request: { from: Party; to: Party }): Promise<Mined>;
  /** A transfer of the token that copies the dollar's name and symbol. */
  fake(request: { from: Party; to: Party }): Promise<Mined>;
  mint(request: { to: Party; token?: TokenName; amount?: bigint }): Promise<Mined>;
  burn(request: { from: Party; token?: TokenName; amount?: bigint }): Promise<Mined>;
  /** Two equal dollar transfers in one transaction. */
  twins(request: { from: Party; to: Party; amount?: bigint }): Promise<Mined>;
  /** Calls the listener for everything mined by an action or by traffic; answers the way to stop it. */
  onMined(listener: (mined: Mined) => void): () => void;
  /** Ends the chain; no process and no port stay behind. */
  close(): Promise<void>;
}
