/** Discord's codes of the languages that the bot supports, with their own names. */
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

/** A language that the bot supports. */
export type Language = keyof typeof LANGUAGES;

/** The folder of a language's texts. Latin America shares those of Spain, with points and commas swapped in numbers. */
export const folderOf = (language: Language): string => (language === 'es-419' ? 'es-ES' : language);

/** The default language: English, from which the others are translated. */
export const DEFAULT_LANGUAGE: Language = 'en-US';
