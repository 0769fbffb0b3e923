import { readdirSync, readFileSync } from 'node:fs';
import { createInstance, type i18n, type TFunction } from 'i18next';
import { pathIn } from './definitions.ts';
import type { English } from './english.ts';
import { DEFAULT_LANGUAGE, folderOf, LANGUAGES, type Language } from './languages.ts';
import { writeNumber } from './number.ts';

export { DEFAULT_LANGUAGE, LANGUAGES, type Language };

/** Gives the text of a key (`token.supply`) in one language; values are put in as they are, so they must be safe. */
export type Translate = TFunction;

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: English };
    returnNull: false;
  }
}

/** The definitions' wordings; {@link pathIn} and `localize` read them. */
const DEFINITIONS = 'commands.json';
/** A slash command named in a text, with the word that follows it: `/setup server`, `/why`. */
const MENTION = /(?<=^|[\s`(])\/([a-z]+(?: [a-z]+)?)/g;

/**
 * Every text of a language: one file a namespace, `token.json` holds what begins with `token.`. The files name commands
 * in English (`/setup server`); what is returned has the names that people of this language see.
 */
export function textsOf(language: Language): Record<string, object> {
  const folder = new URL(`./${folderOf(language)}/`, import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== DEFINITIONS);
  const named = (_key: string, value: unknown) =>
    typeof value === 'string'
      ? value.replaceAll(MENTION, (_mention, path: string) => `/${pathIn(language, path)}`)
      : value;
  return Object.fromEntries(
    files.map((name) => [
      name.slice(0, -'.json'.length),
      JSON.parse(readFileSync(new URL(name, folder), 'utf8'), named) as object,
    ]),
  );
}

const translators = new Map<Language, Translate>();

/** The texts of a language; read from disk when it is first asked for. */
export function translator(language: Language): Translate {
  let known = translators.get(language);
  if (!known) {
    known = remembering(open(language).t);
    translators.set(language, known);
  }
  return known;
}

function open(language: Language): i18n {
  const instance = createInstance();
  void instance.init({
    lng: language,
    fallbackLng: DEFAULT_LANGUAGE,
    resources: Object.fromEntries([DEFAULT_LANGUAGE, language].map((one) => [one, { translation: textsOf(one) }])),
    initAsync: false,
    // Values are chain text made safe for Discord by their authors; nothing in them is looked up.
    interpolation: { escapeValue: false, skipOnVariables: true },
    returnNull: false,
  });
  instance.services.formatter?.add('number', (value: number) => writeNumber(String(value), language));
  return instance;
}

/** Looks each text without values up once: a line has ten of them, and a look-up takes as long as all else that it needs. */
function remembering(t: Translate): Translate {
  const texts = new Map<string, string>();
  const look = t as unknown as (key: string, values?: object) => string;
  return ((key: string, values?: object) => {
    if (values !== undefined) return look(key, values);
    const known = texts.get(key) ?? look(key);
    texts.set(key, known);
    return known;
  }) as unknown as Translate;
}

/** The first of these locales that the bot speaks, by language where the country differs; else English. */
export function languageOf(...locales: (string | null | undefined)[]): Language {
  const known = Object.keys(LANGUAGES) as Language[];
  for (const locale of locales) {
    // Traditional Chinese is not Simplified Chinese.
    if (!locale || locale === 'zh-TW') continue;
    const main = locale.split('-')[0];
    const found = known.find((language) => language === locale) ?? known.find((one) => one.split('-')[0] === main);
    if (found) return found;
  }
  return DEFAULT_LANGUAGE;
}
