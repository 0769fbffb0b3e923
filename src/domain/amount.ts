import { inUnits } from './transfer.ts';

/** Amounts as people type them and services send them. */

export function isAmount(text: string): boolean {
  return /^\d{1,60}(\.\d{1,60})?$/.test(text);
}

const POWERS: Record<string, number> = { k: 3, m: 6, b: 9 };

/** `1k`, `1.5M` and `1_000` in plain digits; null: it is no amount. */
export function typedAmount(text: string): string | null {
  const [, grouped = '', suffix = ''] = /^(\d+(?:_\d{3})*(?:\.\d+)?)(?: ?([kmb]))?$/i.exec(text) ?? [];
  const amount = grouped.replaceAll('_', '');
  if (!isAmount(amount)) return null;
  return suffix === '' ? amount : plainDecimal(`${amount}e${POWERS[suffix.toLowerCase()]}`);
}

/** Also with an unclear amount, such as `1,000 HUSD`. */
export function amountOfToken(text: string): { amount: string; token: string } | null {
  const halves = text.trim().split(/\s+/u);
  // `0x…` and a name like `1INCH` are tokens; `$` is none.
  const isNumber = (half: string) => typedAmount(half) !== null || /^\d{1,60},\d{1,60}$/.test(half);
  const [token, ...tokens] = halves.filter((half) => !isNumber(half));
  const [amount, ...amounts] = halves.filter(isNumber);
  if (token === undefined || amount === undefined || tokens.length + amounts.length > 0) return null;
  return /^(us)?\$$/i.test(token) ? null : { amount, token };
}

/** `1.5e-7` → `0.00000015`; null: it is no amount. */
export function plainDecimal(source: string): string | null {
  const [, whole, fraction = '', exponent = '0'] =
    /^(\d{1,100})(?:\.(\d{1,100}))?(?:e([+-]?\d{1,2}))?$/i.exec(source) ?? [];
  if (whole === undefined) return null;
  const places = fraction.length - Number(exponent);
  const digits = whole + fraction + '0'.repeat(Math.max(0, -places));
  return inUnits(digits, Math.max(0, places));
}

/** `1.5e+21` and `7.0` as plain digits; null when it is not a whole number. */
export function wholeDigits(source: string): string | null {
  const plain = plainDecimal(source);
  return plain?.includes('.') ? null : plain;
}
