import { readdirSync, readFileSync } from 'node:fs';
import { createInstance, type TFunction } from 'i18next';
import type { English } from './english.ts';
import { DEFAULT_LANGUAGE, folderOf, LANGUAGES, type Language, memoize, writeNumber } from './languages.ts';

export { LANGUAGES, type Language };

/** Values are inserted unescaped, so they must be safe. */
export type Translate = TFunction;

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: English };
    returnNull: false;
  }
}

const DEFINITIONS = 'commands.json';
/** A slash command named in a text, with the word that follows it: `/setup server`, `/why`. */
const MENTION = /(?<=^|[\s`(])\/([a-z]+(?: [a-z]+)?)/g;

/**
 * `token.json` contains the keys that begin with `token.`. The files name commands in English (`/setup server`); the
 * returned texts use the names that people of this language see.
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

export const translator = memoize((language: Language): Translate => {
  const instance = createInstance();
  void instance.init({
    lng: language,
    fallbackLng: DEFAULT_LANGUAGE,
    resources: Object.fromEntries(
      [DEFAULT_LANGUAGE, language].map((language) => [language, { translation: textsOf(language) }]),
    ),
    initAsync: false,
    // Callers have made the values safe for Discord; i18next must not interpolate them.
    interpolation: { escapeValue: false, skipOnVariables: true },
    returnNull: false,
  });
  instance.services.formatter?.add('number', (value: number) => writeNumber(String(value), language));
  return remembering(instance.t);
});

/** Caches texts without values: an alert has ten of them, and looking them up would double the time to render it. */
function remembering(t: Translate): Translate {
  const look = t as unknown as (key: string, values?: object) => string;
  const textOf = memoize((key: string) => look(key));
  return ((key: string, values?: object) =>
    values === undefined ? textOf(key) : look(key, values)) as unknown as Translate;
}

/** By language if the country differs. */
export function languageOf(...locales: (string | null | undefined)[]): Language {
  const known = Object.keys(LANGUAGES) as Language[];
  for (const locale of locales) {
    // Traditional Chinese is not Simplified Chinese.
    if (!locale || locale === 'zh-TW') continue;
    const main = locale.split('-')[0];
    const found =
      known.find((language) => language === locale) ?? known.find((language) => language.split('-')[0] === main);
    if (found) return found;
  }
  return DEFAULT_LANGUAGE;
}

/** For a guild's language as Discord names it. */
export const translationFor = memoize((locale: string | null): { language: Language; t: Translate } => {
  const language = languageOf(locale);
  return { language, t: translator(language) };
});

/** Choices and message commands have no description. */
export interface Wording {
  name?: string;
  description?: string;
}

interface Definition {
  name: string;
  description?: string | undefined;
  options?: Definition[] | undefined;
  choices?: { name: string; value: string | number }[] | undefined;
}

/**
 * The wordings of a language's `commands.json` by path: `subscription`, `subscription add`, `subscription add address`,
 * `subscription add direction=incoming`. English is in the definitions themselves.
 */
export const wordingsOf = memoize((language: Language): Record<string, Wording> => {
  const file = new URL(`./${folderOf(language)}/${DEFINITIONS}`, import.meta.url);
  return language === DEFAULT_LANGUAGE ? {} : (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Wording>);
});

export function localize<T extends Definition>(definition: T, path = definition.name): T {
  const { options, choices } = definition;
  return {
    ...definition,
    ...localizations(path, 'name'),
    ...(definition.description && localizations(path, 'description')),
    ...(options && { options: options.map((option) => localize(option, `${path} ${option.name}`)) }),
    ...(choices && {
      choices: choices.map((choice) => ({ ...choice, ...localizations(`${path}=${choice.value}`, 'name') })),
    }),
  };
}

function localizations(path: string, field: keyof Wording): object {
  const found = (Object.keys(LANGUAGES) as Language[]).flatMap((language) => {
    const text = wordingsOf(language)[path]?.[field];
    return text === undefined ? [] : [[language, text]];
  });
  return found.length > 0 ? { [`${field}_localizations`]: Object.fromEntries(found) } : {};
}

/** The name of an option or a choice in a language: `subscription add direction` → `richtung`. */
export const nameIn = (language: Language, path: string): string =>
  wordingsOf(language)[path]?.name ?? path.split(/[ =]/).at(-1)!;

/** A command's path as people of a language type it: `subscription add` → `abo hinzufügen`. */
export function pathIn(language: Language, path: string): string {
  const wordings = wordingsOf(language);
  const words = path.split(' ');
  return words.map((word, index) => wordings[words.slice(0, index + 1).join(' ')]?.name ?? word).join(' ');
}
