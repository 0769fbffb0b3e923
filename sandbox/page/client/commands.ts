/** The bot's commands as Discord offers them to a person, and how their options are typed and sent. */
import {
  type APIApplicationCommand,
  type APIApplicationCommandOption,
  ApplicationCommandType,
  ApplicationCommandOptionType as Option,
  PermissionFlagsBits,
} from 'discord-api-types/v10';
import type { FileInput, GuildState, OptionInput } from '../../discord/control.ts';
import { channelsFor, localeOf, model, nameOf, permissionsOf } from './model.ts';
import { ui } from './screen.ts';

/** As people type it: without subcommands, or with one. */
export interface Command {
  /** In English, without the slash: `subscription add`. */
  path: string;
  /** In the person's language. */
  label: string;
  description: string;
  options: CommandOption[];
}

/** Its texts are in the person's language; `name` is the one that the bot receives. */
export type CommandOption = APIApplicationCommandOption & { label: string };

export function commandsFor(guild: GuildState, userId: string): Command[] {
  const locale = localeOf(userId);
  const found = offered(guild, userId, ApplicationCommandType.ChatInput).flatMap((command) =>
    leaves({ ...localized(command, locale), path: command.name }, command.options ?? [], locale),
  );
  return found.sort((a, b) => a.path.localeCompare(b.path));
}

export function messageCommandsFor(guild: GuildState, userId: string): { name: string; label: string }[] {
  return offered(guild, userId, ApplicationCommandType.Message).map((command) => ({
    name: command.name,
    label: localized(command, localeOf(userId)).label,
  }));
}

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

const localized = (of: APIApplicationCommand | APIApplicationCommandOption, locale: string) => ({
  label: of.name_localizations?.[locale as 'de'] ?? of.name,
  description: of.description_localizations?.[locale as 'de'] ?? of.description,
});

function inLanguage(option: APIApplicationCommandOption, locale: string): CommandOption {
  const translated = { ...option, ...localized(option, locale) };
  if (!('choices' in translated) || !translated.choices) return translated;
  const choices = translated.choices.map((choice) => ({
    ...choice,
    name: choice.name_localizations?.[locale as 'de'] ?? choice.name,
  }));
  return { ...translated, choices } as CommandOption;
}

/** `picked` is the value behind the text if it was chosen from a list. */
export interface Field {
  option: CommandOption;
  text: string;
  picked: { text: string; value: OptionInput } | undefined;
}

/** Commands that start with the typed text come first. */
export function commandsLike(commands: readonly Command[], typed: string): Command[] {
  const wanted = typed.toLowerCase().trimStart();
  const starts = ({ path, label }: Command): boolean => [path, label].some((name) => name.startsWith(wanted));
  return commands
    .filter(({ path, label }) => path.includes(wanted) || label.includes(wanted))
    .sort((a, b) => Number(starts(b)) - Number(starts(a)));
}

/** The command must be followed by a space. */
export function findTyped(commands: readonly Command[], typed: string): { command: Command; rest: string } | undefined {
  const fitting = commands.flatMap((command) =>
    [command.path, command.label].flatMap((name) => (typed.startsWith(`${name} `) ? [{ command, name }] : [])),
  );
  const found = fitting.sort((a, b) => b.name.length - a.name.length)[0];
  return found && { command: found.command, rest: typed.slice(found.name.length + 1) };
}

/** `rest` is the text after a command: `address:0x… label:Treasury`. */
export function readOptions({ options }: Command, rest: string): Map<string, string> {
  const written = new Map<string, string>();
  if (rest.trim() === '') return written;
  const known = new Map(options.flatMap(({ name, label }) => [[label, name] as const, [name, name] as const]));
  const names = [...known.keys()].join('|');
  const parts = names === '' ? [rest] : rest.split(new RegExp(`(?:^|\\s)(${names}):\\s*`));
  const first = options[0];
  if (parts[0]?.trim() && first) written.set(first.name, parts[0].trim());
  for (let at = 1; at < parts.length; at += 2) written.set(known.get(parts[at]!)!, (parts[at + 1] ?? '').trim());
  return written;
}

export type Offer = [label: string, value: OptionInput, detail: string];

/** The choices that Discord itself offers, without asking the bot. */
export function offers(option: CommandOption, guild: GuildState): Offer[] {
  const people = guild.members.map(({ userId }): Offer => [`@${nameOf(userId, guild)}`, userId, 'member']);
  const roles = guild.roles.map(({ id, name }): Offer => [`@${name.replace(/^@/, '')}`, id, 'role']);
  switch (option.type) {
    case Option.Boolean:
      return [true, false].map((value) => [value ? 'True' : 'False', value, '']);
    case Option.Channel: {
      const types = option.channel_types ?? [];
      return channelsFor(guild, ui.userId)
        .filter(({ type }) => types.length === 0 || types.includes(type as never))
        .map(({ id, name }) => [`#${name}`, id, '']);
    }
    case Option.User:
      return people;
    case Option.Role:
      return roles;
    case Option.Mentionable:
      return [...people, ...roles];
    default:
      return 'choices' in option ? (option.choices ?? []).map(({ name, value }) => [name, value, '']) : [];
  }
}

export async function readFile(file: File): Promise<FileInput> {
  let binary = '';
  for (const byte of new Uint8Array(await file.arrayBuffer())) binary += String.fromCharCode(byte);
  return { filename: file.name, base64: btoa(binary), ...(file.type && { contentType: file.type }) };
}

/** The values by option, or the first option that cannot be sent and the reason. */
export function readValues(
  fields: readonly Field[],
  guild: GuildState,
): { values: Record<string, OptionInput> } | { fault: string; option: CommandOption } {
  for (const field of fields) {
    const { option } = field;
    const value = optionValue(field, guild);
    if (value instanceof Error) return { fault: value.message, option };
    if (value === undefined && option.required)
      return { fault: `${option.label} is required: ${option.description}.`, option };
  }
  return { values: valuesSoFar(fields, guild) };
}

export function valuesSoFar(fields: readonly Field[], guild: GuildState): Record<string, OptionInput> {
  const values: Record<string, OptionInput> = {};
  for (const field of fields) {
    const value = optionValue(field, guild);
    if (value !== undefined && !(value instanceof Error)) values[field.option.name] = value;
  }
  return values;
}

/** undefined if it is empty, an error if it is not valid. */
function optionValue({ option, text: typed, picked }: Field, guild: GuildState): OptionInput | undefined | Error {
  if (picked) return picked.value;
  const written = typed.trim();
  if (written === '') return undefined;
  const offered = offers(option, guild);
  const meant = offered.find(([label, value]) =>
    [label, typeof value === 'object' ? '' : String(value), label.slice(1)].some(
      (choice) => choice.toLowerCase() === written.toLowerCase(),
    ),
  );
  if (meant) return meant[1];
  if (option.type === Option.String && offered.length === 0) return written;
  if (option.type === Option.Integer || option.type === Option.Number) {
    return Number.isFinite(Number(written)) ? Number(written) : new Error(`${option.label} must be a number.`);
  }
  return new Error(`Choose "${option.label}" from the list.`);
}
