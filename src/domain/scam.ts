import type { AddressText, Asset } from './address.ts';
import { DAY } from './clock.ts';
import type { Watcher } from './subscription.ts';
import { looksLikeLink, skeleton } from './text.ts';
import type { KnownToken } from './token.ts';
import type { Transfer } from './transfer.ts';

/** Imitated tokens, look-alike addresses and lures, and what the store looks up so that the router can warn of them. */

const INVITATION = /\b(CLAIM|VISIT|AIRDROP|REDEEM|VOUCHER|REWARDS?)\b/;

export function isLure({ token, tokenName, tokenSymbol }: Transfer): boolean {
  return (
    token !== null &&
    [tokenName, tokenSymbol].some(
      (text) => text !== null && (looksLikeLink(text) || INVITATION.test(skeleton(text, ' '))),
    )
  );
}

export function imitatedBy(token: AddressText, symbol: string | null, known: readonly KnownToken[]): Asset | null {
  const text = symbol === null ? '' : skeleton(symbol);
  if (text === '' || known.some((candidate) => candidate.token === token && candidate.cataloged)) return null;
  const isAlike = (candidate: KnownToken) => candidate.symbol !== null && skeleton(candidate.symbol) === text;
  const alike = known.filter(
    (candidate) =>
      candidate.token !== token && (candidate.cataloged || candidate.token === 'native') && isAlike(candidate),
  );
  return alike.find((candidate) => candidate.token === 'native')?.token ?? alike[0]?.token ?? null;
}

/** How long a transfer makes its parties counterparties. */
export const COUNTERPARTY_MS = 30 * DAY;
/** How many look-alikes of one token or party are compared. */
export const MAX_ALIKE = 5;

export const COUNTERPARTY_REFRESH_MS = DAY;

export interface CatalogEntry {
  network: number;
  token: AddressText;
  cataloged: boolean | null;
  symbol: string | null;
  name: string | null;
  checkedAt: number;
}

export interface TokenKnowledge {
  catalog: CatalogEntry[];
  /** Cataloged tokens whose symbols look like those of the transfers' tokens. */
  genuine: { network: number; skeleton: string; token: AddressText }[];
  nativeSymbols: ReadonlyMap<number, string>;
  /** Addresses that a guild has labeled or watches and that begin and end like one of the parties. */
  named: { guildId: string; address: AddressText; label: string | null }[];
  /** Counterparties of the watched addresses in the last 30 days that begin and end like one of the parties. */
  counterparties: Counterparty[];
}

export interface Counterparty {
  guildId: string;
  address: AddressText;
  counterparty: AddressText;
  seenAt: number;
  /** The watched address paid it, which no stranger can bring about. */
  isPaid: boolean;
}

export interface ObservedTransfer {
  network: number;
  transfer: Transfer;
  watchers: readonly Watcher[];
}

/** Without what repeats an earlier item. Items are compared as JSON. */
export function distinct<Item>(items: readonly Item[]): Item[] {
  const met = new Map<string, Item>();
  for (const item of items) met.set(JSON.stringify(item), item);
  return [...met.values()];
}
