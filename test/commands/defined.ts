import { ApplicationCommandOptionType as Type } from 'discord.js';
import { commands } from '../../commands/index.ts';
import type { Access } from '../../src/discord/command.ts';

export interface Option {
  name: string;
  type: number;
  required?: boolean;
  autocomplete?: boolean;
  choices?: { value: string }[];
  options?: Option[];
}

export const defined: ReadonlyMap<string, { access: Access; options: Option[] }> = new Map(
  commands.flatMap((command) => {
    if ('kind' in command) return [];
    const { name, options = [] } = command.data as { name: string; options?: Option[] };
    const { access } = command;
    const needs = (subcommand: string) => (typeof access === 'string' ? access : (access[subcommand] ?? 'manage'));
    const subs = options.filter(({ type }) => type === Type.Subcommand);
    return subs.length === 0
      ? [[name, { access: needs(''), options }] as const]
      : subs.map((sub) => [`${name} ${sub.name}`, { access: needs(sub.name), options: sub.options ?? [] }] as const);
  }),
);
