import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LANGUAGES, type Language, translator } from '../../src/languages/index.ts';
import { writeNumber, writeUngrouped } from '../../src/languages/languages.ts';

const languages = Object.keys(LANGUAGES) as Language[];

it.each<[Language, string, string, string, string]>([
  ['en-US', '1,234.5', '12,345', '1,234,567.891', '0.000000000000000001'],
  ['es-ES', '1234,5', '12.345', '1.234.567,891', '0,000000000000000001'],
  ['es-419', '1,234.5', '12,345', '1,234,567.891', '0.000000000000000001'],
  ['pt-BR', '1.234,5', '12.345', '1.234.567,891', '0,000000000000000001'],
  ['fr', '1\u202f234,5', '12\u202f345', '1\u202f234\u202f567,891', '0,000000000000000001'],
  ['de', '1.234,5', '12.345', '1.234.567,891', '0,000000000000000001'],
  ['ja', '1,234.5', '12,345', '1,234,567.891', '0.000000000000000001'],
  ['zh-CN', '1,234.5', '12,345', '1,234,567.891', '0.000000000000000001'],
])('writes a number in %s in its readers’ format: %s', (language, ...written) => {
  const digits = ['1234.5', '12345', '1234567.891', '0.000000000000000001'];
  expect(digits.map((one) => writeNumber(one, language))).toEqual(written);
});

it.each(languages)('keeps every digit of a number in %s and groups it as Intl does', (language) => {
  const decimals = fc.stringMatching(/^\d{1,255}$/);
  const whole = fc.bigInt({ min: 0n, max: 10n ** 400n });
  fc.assert(
    fc.property(whole, fc.option(decimals), (before, after) => {
      const exact = new Intl.NumberFormat(language).format(before);
      const written = writeNumber(after === null ? `${before}` : `${before}.${after}`, language);
      expect(written.slice(0, exact.length)).toBe(exact);
      expect(written.slice(exact.length)).toMatch(after === null ? /^$/ : new RegExp(`^[.,]${after}$`));
    }),
  );
});

it('writes a number that may be typed again without separators between thousands', () => {
  const written = languages.map((language) => writeUngrouped('1234567.0500', language));
  expect(new Set(written)).toEqual(new Set(['1234567.0500', '1234567,0500']));
  expect(writeUngrouped('1234', 'de')).toBe('1234');
});

it('writes counts in texts like the amounts next to them', () => {
  for (const language of languages)
    for (const count of [999, 1_000, 12_345, 1_234_567])
      expect(translator(language)('setup.check.unseen', { count })).toContain(writeNumber(String(count), language));
});
