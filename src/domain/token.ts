import type { AddressText, Asset } from './address.ts';
import type { UpstreamFailure } from './upstream.ts';

/** Names are from the chain: hostile text. */
export interface KnownToken {
  token: Asset;
  network: number;
  symbol: string | null;
  cataloged: boolean;
  /** It recently moved at one of the guild's watched addresses. */
  seen: boolean;
}

/** Tokens whose names may be trusted. `only`: a network. */
export function catalogedAmong(known: readonly KnownToken[], only: number | null = null): ReadonlySet<AddressText> {
  const here = known.filter(({ network }) => only === null || network === only);
  return new Set(here.flatMap(({ token, cataloged }) => (cataloged && token !== 'native' ? [token] : [])));
}

/** Latest decisions that are read to find tokens. */
export const MAX_TOKEN_DECISIONS = 2_000;
/** Cataloged tokens in addition. */
export const MAX_LISTED = 1_000;

export interface Token {
  address: AddressText;
  name: string | null;
  symbol: string | null;
  /** `ERC-20`, `ERC-721`, or any other text. */
  type: string | null;
  decimals: number | null;
  /** Decimal text in the smallest unit; as the explorer printed it (`1e+27`) if it was rounded. */
  totalSupply: string | null;
  cataloged: boolean | null;
}

/** `invalid`: the explorer does not accept the address. */
export type TokenResult =
  | { status: 'found'; token: Token }
  | { status: 'not-found' }
  | { status: 'invalid' }
  | UpstreamFailure;
