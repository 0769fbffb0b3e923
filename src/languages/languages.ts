/** Discord's codes of the languages that the bot speaks, with their own names. */
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

/** A language that the bot speaks. */
export type Language = keyof typeof LANGUAGES;

/** Where the texts of a language are. Latin America has those of Spain; its points and commas are the other way round. */
export const folderOf = (language: Language): string => (language === 'es-419' ? 'es-ES' : language);

/** What is spoken where no other language is known: English, from which the others are translated. */
export const DEFAULT_LANGUAGE: Language = 'en-US';
