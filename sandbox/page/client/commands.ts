/** The bot's commands as Discord offers them to a person, in the person's language. */
import {
  type APIApplicationCommand,
  type APIApplicationCommandOption,
  ApplicationCommandType,
  ApplicationCommandOptionType as Option,
  PermissionFlagsBits,
} from 'discord-api-types/v10';
import type { GuildState } from '../../discord/control.ts';
import { localeOf, model, permissionsOf } from './model.ts';

/** A slash command as people type it: one without subcommands, or one subcommand. */
export interface Command {
  /** Without the slash, in English: `subscription add`. */
  path: string;
  /** The path in the person's language. */
  label: string;
  description: string;
  options: CommandOption[];
}

/** An option whose texts are in the person's language. `name` is the one that the bot receives. */
export type CommandOption = APIApplicationCommandOption & { label: string };

/** Returns the slash commands that Discord offers a person in a server, by name. */
export function commandsFor(guild: GuildState, userId: string): Command[] {
  const locale = localeOf(userId);
  const found = offered(guild, userId, ApplicationCommandType.ChatInput).flatMap((command) =>
    leaves({ ...localized(command, locale), path: command.name }, command.options ?? [], locale),
  );
  return found.sort((a, b) => a.path.localeCompare(b.path));
}

/** Returns the commands that Discord offers a person in a message's menu: their names, and their labels to show. */
export function messageCommandsFor(guild: GuildState, userId: string): { name: string; label: string }[] {
  return offered(guild, userId, ApplicationCommandType.Message).map((command) => ({
    name: command.name,
    label: localized(command, localeOf(userId)).label,
  }));
}

/** Whether the bot has a command of this name for messages. */
export const isMessageCommand = (name: string): boolean =>
  (model?.discord.commands ?? []).some(({ commands }) =>
    commands.some((command) => command.type === ApplicationCommandType.Message && command.name === name),
  );

function offered(guild: GuildState, userId: string, kind: ApplicationCommandType): APIApplicationCommand[] {
  if (!guild.present || !guild.available) return [];
  const { Administrator, UseApplicationCommands } = PermissionFlagsBits;
  const permissions = permissionsOf(guild, userId);
  const everything = guild.ownerId === userId || (permissions & Administrator) !== 0n;
  return (model?.discord.commands ?? [])
    .filter(({ guildId }) => guildId === null || guildId === guild.id)
    .flatMap(({ commands }) => commands)
    .filter(({ type, default_member_permissions: needed }) => {
      const bits = BigInt(needed ?? 0) | UseApplicationCommands;
      return type === kind && (everything || (needed !== '0' && (permissions & bits) === bits));
    });
}

function leaves(
  { path, label, description }: Omit<Command, 'options'>,
  options: APIApplicationCommandOption[],
  locale: string,
): Command[] {
  const deeper = options.filter(({ type }) => type === Option.Subcommand || type === Option.SubcommandGroup);
  if (deeper.length === 0) {
    return [{ path, label, description, options: options.map((option) => inLanguage(option, locale)) }];
  }
  return deeper.flatMap((option) => {
    const inner = localized(option, locale);
    const found = { ...inner, path: `${path} ${option.name}`, label: `${label} ${inner.label}` };
    return leaves(found, ('options' in option ? option.options : undefined) ?? [], locale);
  });
}

/** Returns a definition's texts in a language. */
function localized(of: Pick<APIApplicationCommandOption, 'name' | 'description'> & Localized, locale: string) {
  return {
    label: of.name_localizations?.[locale] ?? of.name,
    description: of.description_localizations?.[locale] ?? of.description,
  };
}

interface Localized {
  name_localizations?: Record<string, string | null> | null | undefined;
  description_localizations?: Record<string, string | null> | null | undefined;
}

function inLanguage(option: APIApplicationCommandOption, locale: string): CommandOption {
  const translated = { ...option, ...localized(option, locale) };
  if (!('choices' in translated) || !translated.choices) return translated;
  const choices = translated.choices.map((choice) => ({
    ...choice,
    name: choice.name_localizations?.[locale as 'de'] ?? choice.name,
  }));
  return { ...translated, choices } as CommandOption;
}
