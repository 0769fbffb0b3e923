import { readFileSync } from 'node:fs';
import { DEFAULT_LANGUAGE, folderOf, LANGUAGES, type Language } from './languages.ts';

/**
 * The name and description of a command, an option or a choice in one language; choices and message commands have no
 * description.
 */
export interface Wording {
  name?: string;
  description?: string;
}

/** The localized fields of a definition, in Discord's form. */
interface Definition {
  name: string;
  description?: string | undefined;
  options?: Definition[] | undefined;
  choices?: { name: string; value: string | number }[] | undefined;
}

const loaded = new Map<Language, Record<string, Wording>>();

/**
 * The wordings of a language's `commands.json` by path: `subscription`, `subscription add`, `subscription add address`,
 * `subscription add direction=incoming`. English is in the definitions themselves.
 */
export function wordingsOf(language: Language): Record<string, Wording> {
  let wordings = loaded.get(language);
  if (!wordings) {
    const file = new URL(`./${folderOf(language)}/commands.json`, import.meta.url);
    wordings = language === DEFAULT_LANGUAGE ? {} : (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Wording>);
    loaded.set(language, wordings);
  }
  return wordings;
}

/** The definition with its names and descriptions in every language that has them. */
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
