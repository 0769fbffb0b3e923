import * as Value from 'ox/Value';

/** An exact amount in the token's units: `1234500000`, 6 → `1234.5`. With unknown decimals the raw units. */
export function inUnits(value: string, decimals: number | null): string {
  return decimals === null ? value : Value.format(BigInt(value), decimals);
}

/** Whether `text` is an amount as people type it: `250`, `0.5`. */
export function isAmount(text: string): boolean {
  return /^\d{1,60}(\.\d{1,60})?$/.test(text);
}

/** Whether `value` (smallest unit) is below `minimum` (in units); exact, however many digits either has. */
export function isBelow(value: string, decimals: number, minimum: string): boolean {
  const [whole = '0', fraction = ''] = minimum.split('.');
  const places = Math.max(decimals, fraction.length);
  const scaled = (text: string, by: number) => BigInt(text + '0'.repeat(by));
  return scaled(value, places - decimals) < scaled(whole + fraction, places - fraction.length);
}

/** `1.5e+21` and `7.0` as plain digits; null when it is not a whole number. */
export function wholeDigits(source: string): string | null {
  const match = /^(\d+)(?:\.(\d+))?(?:e\+?(\d{1,2}))?$/i.exec(source);
  if (!match) return null;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const shift = Number(exponent);
  const kept = fraction.replace(/0+$/, '');
  if (kept.length > shift) return null;
  return (whole + kept.padEnd(shift, '0')).replace(/^0+(?=\d)/, '');
}
