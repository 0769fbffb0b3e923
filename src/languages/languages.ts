export const LANGUAGES = {
  'en-US': 'English',
  'es-ES': 'Español',
  'es-419': 'Español (Latinoamérica)',
  'pt-BR': 'Português (Brasil)',
  fr: 'Français',
  de: 'Deutsch',
  ja: '日本語',
  'zh-CN': '简体中文',
} as const;

export type Language = keyof typeof LANGUAGES;

/** Latin America shares the texts of Spain, with points and commas swapped in numbers. */
export const folderOf = (language: Language): string => (language === 'es-419' ? 'es-ES' : language);

export const DEFAULT_LANGUAGE: Language = 'en-US';

/** Groups by threes if there are at least `groupedFrom` digits before the decimal sign. */
interface Signs {
  decimal: string;
  group: string;
  groupedFrom: number;
}

/** For few keys: all values are kept. */
export function memoize<K, V>(find: (key: K) => V): (key: K) => V {
  const known = new Map<K, V>();
  return (key) => {
    const found = known.get(key) ?? find(key);
    known.set(key, found);
    return found;
  };
}

const signsOf = memoize((language: Language): Signs => {
  const format = new Intl.NumberFormat(language);
  const parts = format.formatToParts(12_345.6);
  const sign = (wanted: 'decimal' | 'group') => parts.find(({ type }) => type === wanted)!.value;
  // Spain groups five digits, but not four.
  return { decimal: sign('decimal'), group: sign('group'), groupedFrom: format.format(1_000) === '1000' ? 5 : 4 };
});

/**
 * `1234.5` → `1,234.5`, in German `1.234,5`. Every digit is kept: `Intl` itself rounds after a hundred decimals, and
 * treats 309 digits as infinite.
 */
export function writeNumber(digits: string, language: Language): string {
  const { decimal, group, groupedFrom } = signsOf(language);
  const [whole = '0', fraction] = digits.split('.');
  const grouped = whole.length < groupedFrom ? whole : whole.replace(/\B(?=(\d{3})+$)/g, group);
  return fraction === undefined ? grouped : `${grouped}${decimal}${fraction}`;
}

/** From $100 on without cents. */
export function writeDollars(amount: string, language: Language): string {
  const fraction = /^\d{1,2}(\.|$)/.test(amount) ? 2 : 0;
  const format = new Intl.NumberFormat(language, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: fraction,
    maximumFractionDigits: fraction,
  });
  return format.format(amount as `${number}`);
}

/** `≈ $18,400`, and never a zero for less than a cent. */
export const writeWorth = (dollars: string, language: Language): string =>
  /^0\.00\d*[1-9]/.test(dollars)
    ? `<\u00a0${writeDollars('0.01', language)}`
    : `≈\u00a0${writeDollars(dollars, language)}`;

/**
 * `1234,5`, for numbers that people may type again as an option's value, where a German `1.234` would be read as little
 * more than one.
 */
export function writeUngrouped(digits: string, language: Language): string {
  return digits.replace('.', signsOf(language).decimal);
}

/** A German `1.000` is a thousand. */
export function mayBeThousands(amount: string, language: Language): boolean {
  return signsOf(language).group === '.' && /^[1-9]\d{0,2}\.\d{3}$/.test(amount);
}
