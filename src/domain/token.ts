import type { AddressText } from './address.ts';
import type { Asset } from './subscription.ts';
import type { UpstreamFailure } from './upstream.ts';

/** A token that a guild may mean by its symbol. Names come from the chain: hostile text. */
export interface KnownToken {
  token: Asset;
  symbol: string | null;
  /** The explorer's catalogue has it. */
  cataloged: boolean;
  /** It moved at one of the guild's watched addresses lately. */
  seen: boolean;
}

/** A token as the explorer describes it; null where it does not know. */
export interface Token {
  address: AddressText;
  name: string | null;
  symbol: string | null;
  /** `ERC-20`, `ERC-721`, or whatever comes. */
  type: string | null;
  decimals: number | null;
  /** Decimal text in the smallest unit; as the explorer printed it (`1e+27`) where that had rounded it. */
  totalSupply: string | null;
  cataloged: boolean | null;
}

/** What a look-up gave. `invalid`: the explorer does not take the address for one. */
export type TokenAnswer =
  | { status: 'found'; token: Token }
  | { status: 'not-found' }
  | { status: 'invalid' }
  | UpstreamFailure;
