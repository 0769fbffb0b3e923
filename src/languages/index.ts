import { readdirSync, readFileSync } from 'node:fs';
import { createInstance, type i18n, type TFunction } from 'i18next';
import type { English } from './english.ts';

/** Discord's codes of the languages that the bot speaks, with their own names. */
export const LANGUAGES = {
  'en-US': 'English',
  'es-ES': 'Español',
  'pt-BR': 'Português (Brasil)',
  fr: 'Français',
  de: 'Deutsch',
  ja: '日本語',
  'zh-CN': '简体中文',
} as const;

/** A language that the bot speaks. */
export type Language = keyof typeof LANGUAGES;

/** Gives the text of a key (`token.supply`) in one language; values are put in as they are, so they must be safe. */
export type Translate = TFunction;

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: English };
    returnNull: false;
  }
}

export const DEFAULT_LANGUAGE: Language = 'en-US';

/** Every text of a language: one file a namespace, `token.json` holds what begins with `token.`. */
export function textsOf(language: Language): Record<string, object> {
  const folder = new URL(`./${language}/`, import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(
    files.map((name) => [
      name.slice(0, -'.json'.length),
      JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as object,
    ]),
  );
}

const instances = new Map<Language, i18n>();

/** The texts of a language; read from disk when it is first asked for. */
export function translator(language: Language): Translate {
  let instance = instances.get(language);
  if (!instance) {
    instance = createInstance();
    void instance.init({
      lng: language,
      fallbackLng: DEFAULT_LANGUAGE,
      resources: Object.fromEntries([DEFAULT_LANGUAGE, language].map((one) => [one, { translation: textsOf(one) }])),
      initAsync: false,
      // Values are chain text made safe for Discord by their authors; nothing in them is looked up.
      interpolation: { escapeValue: false, skipOnVariables: true },
      returnNull: false,
    });
    instances.set(language, instance);
  }
  return instance.t;
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
