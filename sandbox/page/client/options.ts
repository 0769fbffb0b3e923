/** The options of slash commands: how they are typed, their suggestions, and the values that are sent. */
import { ApplicationCommandOptionType as Option } from 'discord-api-types/v10';
import type { FileInput, GuildState, OptionInput } from '../../discord/control.ts';
import type { Command, CommandOption } from './commands.ts';
import { channelsFor, nameOf } from './model.ts';
import { ui } from './screen.ts';

/** An option on the line. `picked` is the value behind the text, if it was chosen from a list. */
export interface Field {
  option: CommandOption;
  text: string;
  picked: { text: string; value: OptionInput } | undefined;
}

/** Returns the commands whose name contains the typed text. Those that start with it come first. */
export function commandsLike(commands: readonly Command[], typed: string): Command[] {
  const wanted = typed.toLowerCase().trimStart();
  const starts = ({ path, label }: Command): boolean => [path, label].some((name) => name.startsWith(wanted));
  return commands
    .filter(({ path, label }) => path.includes(wanted) || label.includes(wanted))
    .sort((a, b) => Number(starts(b)) - Number(starts(a)));
}

/** Returns the command that was typed or pasted in full, with a space after it. */
export function findTyped(commands: readonly Command[], typed: string): { command: Command; rest: string } | undefined {
  const fitting = commands.flatMap((command) =>
    [command.path, command.label].flatMap((name) => (typed.startsWith(`${name} `) ? [{ command, name }] : [])),
  );
  const found = fitting.sort((a, b) => b.name.length - a.name.length)[0];
  return found && { command: found.command, rest: typed.slice(found.name.length + 1) };
}

/** Returns the values by option in the text after a command: `address:0x… label:Treasury`. */
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

/** Returns what Discord itself offers for an option: choices, channels, people, roles. */
export function offers(
  option: CommandOption,
  guild: GuildState,
): [label: string, value: OptionInput, detail: string][] {
  const people = (): [string, string, string][] =>
    guild.members.map(({ userId }) => [`@${nameOf(userId, guild)}`, userId, 'member']);
  const roles = (): [string, string, string][] =>
    guild.roles.map(({ id, name }) => [`@${name.replace(/^@/, '')}`, id, 'role']);
  switch (option.type) {
    case Option.Boolean:
      return [
        ['True', true, ''],
        ['False', false, ''],
      ];
    case Option.Channel: {
      const types = option.channel_types ?? [];
      return channelsFor(guild, ui.userId)
        .filter(({ type }) => types.length === 0 || types.includes(type as never))
        .map(({ id, name }) => [`#${name}`, id, '']);
    }
    case Option.User:
      return people();
    case Option.Role:
      return roles();
    case Option.Mentionable:
      return [...people(), ...roles()];
    default:
      return 'choices' in option ? (option.choices ?? []).map(({ name, value }) => [name, value, '']) : [];
  }
}

/** Returns a chosen file as it is sent. */
export async function readFile(file: File): Promise<FileInput> {
  let binary = '';
  for (const byte of new Uint8Array(await file.arrayBuffer())) binary += String.fromCharCode(byte);
  return { filename: file.name, base64: btoa(binary), ...(file.type && { contentType: file.type }) };
}

/** Returns the values by option, or the first option that cannot be sent and the reason. */
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

/** Returns the values of the options that can be sent. */
export function valuesSoFar(fields: readonly Field[], guild: GuildState): Record<string, OptionInput> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = optionValue(field, guild);
      return value === undefined || value instanceof Error ? [] : [[field.option.name, value] as const];
    }),
  );
}

/** Returns the option's value, undefined if it is empty, or an error if it is not valid. */
function optionValue({ option, text: typed, picked }: Field, guild: GuildState): OptionInput | undefined | Error {
  if (picked) return picked.value;
  const written = typed.trim();
  if (written === '') return undefined;
  const offered = offers(option, guild);
  const meant = offered.find(([label, value]) =>
    [label, typeof value === 'object' ? '' : String(value), label.slice(1)].some(
      (one) => one.toLowerCase() === written.toLowerCase(),
    ),
  );
  if (meant) return meant[1];
  if (option.type === Option.String && offered.length === 0) return written;
  if (option.type === Option.Integer || option.type === Option.Number) {
    return Number.isFinite(Number(written)) ? Number(written) : new Error(`${option.label} must be a number.`);
  }
  return new Error(`Choose "${option.label}" from the list.`);
}
