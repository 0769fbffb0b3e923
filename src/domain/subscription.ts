import type { AddressText } from './address.ts';

/** Which way a transfer must go, seen from the watched address. */
export type DirectionFilter = 'any' | 'incoming' | 'outgoing';
/** Which kinds of transfer are told; `nft` covers ERC-721 and ERC-1155. */
export type KindFilter = 'any' | 'native' | 'erc20' | 'nft';

/** One address that one channel watches. */
export interface Subscription {
  id: number;
  guildId: string;
  channelId: string;
  address: AddressText;
  label: string | null;
  direction: DirectionFilter;
  kind: KindFilter;
  /** Decimal text in the token's units (`0.5`), null for no minimum. */
  minimum: string | null;
  /** Only transfers of this token. */
  token: AddressText | null;
  /** Role to mention. */
  mention: string | null;
  paused: boolean;
  /** Milliseconds; muted until then. */
  mutedUntil: number | null;
  createdBy: string;
  createdAt: number;
  /** When the last matching event was routed; null = "no event yet". */
  lastEventAt: number | null;
}

/** How a transfer looks from a watched address. `self` is a transfer from an address to itself. */
export type Perspective = 'incoming' | 'outgoing' | 'self' | 'token';
