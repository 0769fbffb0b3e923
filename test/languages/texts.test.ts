import { describe, expect, it } from 'vitest';
import { LANGUAGES, type Language, textsOf, translator, wordingsOf } from '../../src/languages/index.ts';
import { definitions, TRANSLATED, textsIn } from './files.ts';

const english = textsIn('en-US');
const PLURAL = /_(zero|one|two|few|many|other)$/;
const COUNTED = /_(one|other)$/;

/** The English text for a language's key; undefined when English has no such key. */
function originalOf(language: Language, key: string): string | undefined {
  const form = PLURAL.exec(key)?.[1];
  const base = key.replace(PLURAL, '');
  if (form === undefined || !english.has(`${base}_other`)) return english.get(key);
  const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
  if (!forms.includes(form as Intl.LDMLPluralRule)) return undefined;
  // In French and Portuguese "one" is also for nothing at all, so it needs the number.
  const alone = form === 'one' && new Intl.PluralRules(language).select(0) !== 'one';
  return english.get(alone ? key : `${base}_other`);
}

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([match]) => match).sort();
const CODE = /`[^`]*`/g;

/** The parts that a translation must keep: placeholders, warnings, symbols, and code except for names of options. */
function fixedIn(text: string, optionNames: ReadonlySet<string>): string[] {
  // `duration` is an option, `duration: off` one with its value.
  const code = all(text, CODE)
    .map((span) => {
      const [name = '', ...value] = span.slice(1, -1).split(':');
      return optionNames.has(name) ? ['`option', ...value].join(':') : span;
    })
    .sort();
  const prose = text.replaceAll(CODE, '').replaceAll(/\{\{[^}]*\}\}/g, '');
  return [
    ...all(text, /\{\{[^}]*\}\}/g),
    ...code,
    ...all(text, /(?<=^|[\s`(])\/[a-z]+/g),
    ...all(prose, /\*+|__|~~|\|\||^-# |^#+ |^> |\n|<[^>]*>|\]\([^)]*\)|\p{Extended_Pictographic}|[◀▶↗]/gmu),
  ];
}

describe.each(TRANSLATED)('the texts in %s', (language) => {
  const texts = textsIn(language);

  it('has a translation of every text', () => {
    // A form that is missing (`many`) falls back to `other`.
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    const keys = [...english.keys()];
    const wanted = keys.filter((key) => {
      const form = COUNTED.exec(key)?.[1];
      const counted = form !== undefined && keys.includes(`${key.replace(COUNTED, '')}_other`);
      return !counted || forms.includes(form as Intl.LDMLPluralRule);
    });
    expect(wanted.filter((key) => !texts.has(key))).toEqual([]);
  });

  it('translates only existing texts, in the plural forms of the language', () => {
    expect([...texts.keys()].filter((key) => originalOf(language, key) === undefined)).toEqual([]);
  });

  it('keeps the values, commands, warnings and line breaks of each text', () => {
    const options = definitions().filter(({ kind }) => kind === 'option');
    const wordings = wordingsOf(language);
    const names = new Set(options.flatMap(({ path, name }) => [name, wordings[path]?.name ?? name]));
    const differing = [...texts].flatMap(([key, text]) => {
      const original = originalOf(language, key) ?? '';
      const [wanted, found] = [fixedIn(original, names), fixedIn(text, names)];
      return JSON.stringify(wanted) === JSON.stringify(found) ? [] : [{ key, wanted, found }];
    });
    expect(differing).toEqual([]);
  });

  it('leaves no text empty or in English', () => {
    const sentence = /[a-z]{3,} [a-z]{2,} [a-z]{3,} [a-z]{2,}/i;
    const same = [...texts].filter(([key, text]) => !text.trim() || (sentence.test(text) && text === english.get(key)));
    expect(same).toEqual([]);
  });

  it('names commands as Discord shows them', () => {
    const { noAccess } = textsOf(language).dispatcher as { noAccess: string };
    const { setup, 'setup server': server } = wordingsOf(language);
    expect(noAccess).toContain(`\`/${setup?.name ?? 'setup'} ${server?.name ?? 'server'}\``);
  });
});

it.each(Object.keys(LANGUAGES) as Language[])(
  'names the buttons of a webhook as they are labeled, in %s',
  (language) => {
    const texts = textsIn(language);
    const labels = [...texts].flatMap(([key, text]) => (/^webhook\.(create|add)\.button/.test(key) ? [text] : []));
    const bold = ['setup.project.nextSteps', 'setup.project.nextWatch', 'webhook.create.doneText'].flatMap((key) =>
      [...texts.get(key)!.matchAll(/\*\*(.+?)\*\*/g)].map(([, name]) => name!),
    );
    expect(bold).toHaveLength(4);
    expect(bold.filter((name) => !labels.some((label) => label.startsWith(name)))).toEqual([]);
  },
);

it('uses the same language for a number without its own plural form', () => {
  expect(translator('fr')('provider.categories', { count: 1_000_000 })).toBe('1\u202f000\u202f000 catégories');
  expect(translator('fr')('provider.categories', { count: 0 })).toBe('0 catégorie');
});
