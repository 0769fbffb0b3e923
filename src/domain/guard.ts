import type { AddressText, Asset } from './address.ts';
import { DAY } from './clock.ts';
import { looksLikeLink } from './text.ts';
import type { KnownToken } from './token.ts';
import type { Transfer } from './transfer.ts';

/** Capital letters of other scripts (and the tugrik sign in `USD₮`), each above the Latin one that it looks like. */
const OTHERS = 'АВЕЅІЈКМНОРСТУХԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧ₮';
const LATINS = 'ABESIJKMHOPCTYXQWABEZHIKMNOPTYXT';

/** Accents and invisible characters, except blanks of every kind. */
const UNSEEN = /[\p{M}\p{Cf}\p{Co}\p{Cn}\p{Cs}\u115f\u1160\u3164\uffa0\u2800]/gu;

function inCapitals(text: string): string {
  const capitals = text.normalize('NFKD').replace(UNSEEN, '').toUpperCase();
  return capitals.replace(/\P{ASCII}/gu, (letter) => LATINS[OTHERS.indexOf(letter)] ?? letter);
}

const INVITATION = /\b(CLAIM|VISIT|AIRDROP|REDEEM|VOUCHER|REWARDS?)\b/;

export function isLure({ token, tokenName, tokenSymbol }: Transfer): boolean {
  return (
    token !== null &&
    [tokenName, tokenSymbol].some((text) => text !== null && (looksLikeLink(text) || INVITATION.test(inCapitals(text))))
  );
}

/** Equal for symbols that look alike. */
export function skeleton(symbol: string): string {
  return inCapitals(symbol).replace(/\s/gu, '');
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

/** The first and last four digits: what most people compare, and what a look-alike copies. */
export function outerDigitsOf(address: AddressText): string {
  return address.slice(2, 6) + address.slice(-4);
}
