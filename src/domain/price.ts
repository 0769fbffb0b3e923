import { inUnits, isBelow } from './amount.ts';
import type { Asset } from './subscription.ts';
import { isItem, type Transfer } from './transfer.ts';

/** What transfers are worth, in US dollars: exact, in units of 10⁻¹⁸ dollars. */

const PLACES = 18;

/** What assets of one chain are worth now. */
export interface ChainPrices {
  /** Dollars for one unit, as decimal text; null: not known. Needs no request. */
  of(asset: Asset, decimals: number | null): string | null;
  /** Asks for those that are not known; resolves with the answers, or after `waitMs`. */
  ask(assets: readonly Asset[], waitMs?: number): Promise<void>;
}

type Priced = Pick<Transfer, 'kind' | 'value' | 'decimals' | 'tokenId' | 'price'>;

/** A number's source text without an exponent: `1.5e-7` → `0.00000015`; null when it is no amount. */
export function plainDecimal(source: string): string | null {
  const [, whole, fraction = '', exponent = '0'] =
    /^(\d{1,40})(?:\.(\d{1,60}))?(?:e([+-]?\d{1,2}))?$/i.exec(source) ?? [];
  if (whole === undefined) return null;
  const places = fraction.length - Number(exponent);
  const digits = whole + fraction + '0'.repeat(Math.max(0, -places));
  return inUnits(digits, Math.max(0, places));
}

/** What this many equal transfers are worth; null when it is not known. */
export function worthOf(transfer: Priced, count = 1): bigint | null {
  const { value, decimals, price } = transfer;
  if (!price || value === null || decimals === null || isItem(transfer)) return null;
  const [whole = '0', fraction = ''] = price.split('.');
  const product = BigInt(value) * BigInt(count) * BigInt(whole + fraction);
  const places = decimals + fraction.length;
  return places > PLACES ? product / 10n ** BigInt(places - PLACES) : product * 10n ** BigInt(PLACES - places);
}

/** Sorts what is worth most first; what has no price comes last. */
export const byWorth = (a: bigint | null, b: bigint | null): number =>
  a === b ? 0 : b === null || (a !== null && a > b) ? -1 : 1;

/** A sum of what transfers are worth, as decimal text. */
export const inDollars = (worth: bigint): string => inUnits(worth.toString(), PLACES);

/** Whether a transfer is known to be worth less than this many dollars. */
export function isWorthLess(minimum: string | null, transfer: Priced): boolean {
  const worth = minimum === null ? null : worthOf(transfer);
  return worth !== null && isBelow(worth.toString(), PLACES, minimum!);
}

/** Whether one price is more than ten times the other. */
export function isFarFrom(one: string, other: string): boolean {
  const exceeds = (low: string, high: string) => {
    const [whole = '0', fraction = ''] = low.split('.');
    return isBelow(`${whole}${fraction}0`, fraction.length, high);
  };
  return exceeds(one, other) || exceeds(other, one);
}
