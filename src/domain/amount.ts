/**
 * `1234500000`, 6 → `1234.5`; the raw units if the decimals are unknown. Not by a library: the database's threads
 * import this, and a library would take 9 ms of the start of each.
 */
export function inUnits(value: string, decimals: number | null): string {
  if (decimals === null) return value;
  const [, sign = '', digits = ''] = /^(-?)(.*)$/.exec(BigInt(value).toString())!;
  const padded = digits.padStart(decimals + 1, '0');
  const point = padded.length - decimals;
  const fraction = padded.slice(point).replace(/0+$/, '');
  return `${sign}${padded.slice(0, point)}${fraction && `.${fraction}`}`;
}

export const FEE_DIGITS = 3;
/** *Details* has all of a balance’s digits. */
export const BALANCE_DIGITS = 8;

/** The whole part is never cut. */
export function rounded(amount: string, digits: number): string {
  const [whole = '0', fraction = ''] = amount.split('.');
  const places = whole === '0' ? fraction.search(/[1-9]/) + digits : digits - whole.length;
  if (fraction.length <= places) return amount;
  const scaled = BigInt(whole + fraction);
  const unit = 10n ** BigInt(fraction.length - Math.max(0, places));
  return inUnits(((scaled + unit / 2n) / unit).toString(), Math.max(0, places));
}

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

/** `value` is in the smallest unit, `minimum` in units. */
export function isBelow(value: string, decimals: number, minimum: string): boolean {
  const [whole = '0', fraction = ''] = minimum.split('.');
  const places = Math.max(decimals, fraction.length);
  const scaled = (text: string, by: number) => BigInt(text + '0'.repeat(by));
  return scaled(value, places - decimals) < scaled(whole + fraction, places - fraction.length);
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
