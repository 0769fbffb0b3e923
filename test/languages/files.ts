import { readdirSync, readFileSync } from 'node:fs';
import { commands } from '../../commands/index.ts';
import { LANGUAGES, type Language } from '../../src/languages/index.ts';
import { folderOf } from '../../src/languages/languages.ts';

export const TRANSLATED = (Object.keys(LANGUAGES) as Language[]).filter((language) => language !== 'en-US');

/** Every text in a language's files as it is written there, by its key: `token.supply`. */
export function textsIn(language: Language): Map<string, string> {
  const folder = new URL(`../../src/languages/${folderOf(language)}/`, import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== 'commands.json');
  return new Map(
    files.flatMap((name) => {
      const content: unknown = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
      return [...leaves(content, name.slice(0, -'.json'.length))];
    }),
  );
}

function* leaves(value: unknown, key: string): Generator<[string, string]> {
  if (typeof value === 'string') yield [key, value];
  else for (const [name, inner] of Object.entries(value as object)) yield* leaves(inner, `${key}.${name}`);
}

/** A command, an option or a choice by its path, with what it is called in English. */
export interface Defined {
  path: string;
  /** The path of what it is a part of; empty for commands. */
  parent: string;
  kind: 'command' | 'message command' | 'subcommand' | 'option' | 'choice';
  name: string;
  description: string | null;
}

interface Definition {
  name: string;
  type?: number;
  description?: string;
  options?: Definition[];
  choices?: { name: string; value: string | number }[];
}

export function definitions(): Defined[] {
  return commands.flatMap((command) => {
    const data = command.data as Definition;
    return [...walk(data, '', 'kind' in command ? 'message command' : 'command')];
  });
}

function* walk(one: Definition, parent: string, kind: Defined['kind']): Generator<Defined> {
  const path = parent ? `${parent} ${one.name}` : one.name;
  yield { path, parent, kind, name: one.name, description: one.description ?? null };
  for (const { name, value } of one.choices ?? []) {
    yield { path: `${path}=${value}`, parent: `${path}=`, kind: 'choice', name, description: null };
  }
  for (const option of one.options ?? []) yield* walk(option, path, option.type === 1 ? 'subcommand' : 'option');
}
