import type { Language } from './languages.ts';

/** A language's separators; it groups by threes if there are at least this many digits before the decimal sign. */
interface Signs {
  decimal: string;
  group: string;
  groupedFrom: number;
}

const known = new Map<Language, Signs>();

function signsOf(language: Language): Signs {
  let signs = known.get(language);
  if (!signs) {
    const format = new Intl.NumberFormat(language);
    const parts = format.formatToParts(12_345.6);
    const sign = (wanted: 'decimal' | 'group') => parts.find(({ type }) => type === wanted)!.value;
    // Spain groups five digits, but not four.
    signs = { decimal: sign('decimal'), group: sign('group'), groupedFrom: format.format(1_000) === '1000' ? 5 : 4 };
    known.set(language, signs);
  }
  return signs;
}

/**
 * A number for people, from its digits: `1234.5` → `1,234.5`, in German `1.234,5`. Every digit is kept: `Intl` itself
 * rounds after a hundred decimals, and treats 309 digits as infinite.
 */
export function writeNumber(digits: string, language: Language): string {
  const { decimal, group, groupedFrom } = signsOf(language);
  const [whole = '0', fraction] = digits.split('.');
  const grouped = whole.length < groupedFrom ? whole : whole.replace(/\B(?=(\d{3})+$)/g, group);
  return fraction === undefined ? grouped : `${grouped}${decimal}${fraction}`;
}

/**
 * A number without separators between thousands: `1234,5`. For numbers that people may type again as an option's value,
 * where a German `1.234` would be read as little more than one.
 */
export function writeUngrouped(digits: string, language: Language): string {
  return digits.replace('.', signsOf(language).decimal);
}

/** Whether people of this language may use a dot between thousands: a German `1.000` is a thousand. */
export function mayBeThousands(amount: string, language: Language): boolean {
  return signsOf(language).group === '.' && /^[1-9]\d{0,2}\.\d{3}$/.test(amount);
}
