import { describe, expect, it } from 'vitest';
import { wordingsOf } from '../../src/languages/index.ts';
import { definitions, TRANSLATED, textsIn } from './files.ts';

const PLURAL = /_(one|other)$/;

describe.each(TRANSLATED)('in %s', (language) => {
  it('has a translation of every text', () => {
    const texts = textsIn(language);
    // A form that is missing (`many`) falls back to `other`.
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    const keys = [...textsIn('en-US').keys()];
    const wanted = keys.filter((key) => {
      const form = PLURAL.exec(key)?.[1];
      const counted = form !== undefined && keys.includes(`${key.replace(PLURAL, '')}_other`);
      return !counted || forms.includes(form as Intl.LDMLPluralRule);
    });
    expect(wanted.filter((key) => !texts.has(key))).toEqual([]);
  });

  it('has a translation of every command, option and choice', () => {
    const wordings = wordingsOf(language);
    const missing = definitions().filter(({ path, description }) => {
      const { name, description: reported } = wordings[path] ?? {};
      return name === undefined || (description !== null && reported === undefined);
    });
    expect(missing.map(({ path }) => path)).toEqual([]);
  });
});
