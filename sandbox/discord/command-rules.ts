/** Discord's rules for command definitions and autocomplete choices, beyond its published schemas. */
import { ApplicationCommandType, Locale, ApplicationCommandOptionType as Type } from 'discord.js';
import { createFieldErrors, errors, type FieldErrors, type Path, repeatedIn, wrong } from './errors.ts';
import { conforms, type Json } from './validate.ts';

const NAME = /^[-_'\p{L}\p{N}\p{sc=Deva}\p{sc=Thai}]{1,32}$/u;
const MAX_TEXT = 8_000;
/** Per type, globally and in each server. */
export const MAX_COMMANDS: Record<number, number> = {
  [ApplicationCommandType.ChatInput]: 100,
  [ApplicationCommandType.User]: 15,
  [ApplicationCommandType.Message]: 15,
};
const MAX_VALUE = 100;
const LOCALES: readonly string[] = Object.values(Locale);
const NESTED: readonly number[] = [Type.Subcommand, Type.SubcommandGroup];
const COMPLETABLE: readonly number[] = [Type.String, Type.Integer, Type.Number];

function checkName(name: string, path: Path, found: FieldErrors): void {
  if (!NAME.test(name) || name !== name.toLowerCase()) found.add(path, ...wrong.invalidName);
}

function checkLocales(of: Json, path: Path, found: FieldErrors): void {
  for (const field of ['name_localizations', 'description_localizations'])
    for (const locale of Object.keys(of[field] ?? {})) {
      if (!LOCALES.includes(locale))
        found.add([...path, field], 'DICT_TYPE_KEY', `Locale '${locale}' is not one of the supported ones.`);
      else if (field === 'name_localizations' && of.options !== null)
        checkName(of[field][locale], [...path, field, locale], found);
    }
}

function checkValues(choices: Json[], path: Path, found: FieldErrors): void {
  for (const [index, choice] of choices.entries()) {
    if (typeof choice?.name === 'string' && choice.name.trim() === '')
      found.add([...path, index, 'name'], 'BASE_TYPE_BAD_LENGTH', `Must be between 1 and ${MAX_VALUE} in length.`);
    if (choice?.value === '') found.required([...path, index, 'value']);
    else if (typeof choice?.value === 'string' && choice.value.length > MAX_VALUE)
      found.add([...path, index, 'value'], 'BASE_TYPE_MAX_LENGTH', `Must be ${MAX_VALUE} or fewer in length.`);
  }
}

function checkChoices(option: Json, path: Path, found: FieldErrors): void {
  const { choices } = option;
  if (option.autocomplete && choices?.length) found.add(path, ...wrong.choicesAndAutocomplete);
  if (option.autocomplete && !COMPLETABLE.includes(option.type))
    found.add([...path, 'autocomplete'], ...wrong.cannotAutocomplete);
  checkValues(choices ?? [], [...path, 'choices'], found);
  for (const index of repeatedIn((choices ?? []).map(({ name }: Json) => name)))
    found.add([...path, 'choices', index, 'name'], ...wrong.repeatedChoice);
  for (const [low, high] of [
    ['min_value', 'max_value'],
    ['min_length', 'max_length'],
  ] as const)
    if (typeof option[low] === 'number' && typeof option[high] === 'number' && option[low] > option[high])
      found.add([...path, low], 'APPLICATION_COMMAND_OPTIONS_MIN_MAX', `${low} must not be greater than ${high}.`);
}

function checkOptions(options: Json[], path: Path, depth: number, found: FieldErrors): void {
  for (const index of repeatedIn(options.map(({ name }) => name)))
    found.add([...path, index, 'name'], ...wrong.repeatedOption);
  let optional = false;
  for (const [index, option] of options.entries()) {
    const at = [...path, index];
    checkName(option.name, [...at, 'name'], found);
    checkLocales(option, at, found);
    if (!option.description?.trim()) found.required([...at, 'description']);
    const nested = NESTED.includes(option.type);
    if (nested !== NESTED.includes(options[0].type)) found.add(at, ...wrong.mixedOptions);
    if (nested && (depth > 1 || (depth > 0 && option.type === Type.SubcommandGroup)))
      found.add([...at, 'type'], 'UNION_TYPE_CHOICES', 'Sub-commands cannot be nested this deep.');
    if (!nested && optional && option.required) found.add([...at, 'required'], ...wrong.requiredIsLate);
    if (!option.required) optional = true;
    if (option.type === Type.SubcommandGroup && !option.options?.length) found.required([...at, 'options']);
    checkChoices(option, at, found);
    checkOptions(option.options ?? [], [...at, 'options'], depth + 1, found);
  }
}

/** Only the longest language of each text counts. */
function textOf(of: Json): number {
  const longest = (text: unknown, localized: object | null | undefined): number =>
    Math.max(...[text ?? '', ...Object.values(localized ?? {})].map((translated) => String(translated).length));
  return [...(of.options ?? []), ...(of.choices ?? [])].reduce(
    (sum: number, inner: Json) => sum + textOf(inner),
    longest(of.name, of.name_localizations) +
      longest(of.description, of.description_localizations) +
      longest(of.value, null),
  );
}

function checkOne(command: Json, path: Path, found: FieldErrors): void {
  const slash = (command.type ?? ApplicationCommandType.ChatInput) === ApplicationCommandType.ChatInput;
  if (slash) {
    if (command.name !== undefined) checkName(command.name, [...path, 'name'], found);
    if (!command.description?.trim()) found.required([...path, 'description']);
    checkOptions(command.options ?? [], [...path, 'options'], 0, found);
  } else {
    if (command.description) found.add([...path, 'description'], ...wrong.menuHasDescription);
    if (command.options?.length) found.add([...path, 'options'], ...wrong.menuHasOptions);
  }
  for (const field of ['contexts', 'integration_types']) found.distinct([...path, field], command[field]);
  checkLocales(slash ? command : { ...command, options: null }, path, found);
  if (textOf(command) > MAX_TEXT)
    found.add(path, 'APPLICATION_COMMAND_TOO_LARGE', `Command exceeds maximum size (${MAX_TEXT})`);
}

/** An edit is checked as a whole (`merged`). */
export function checkCommand(body: Json, merged: Json = body): void {
  const found = createFieldErrors();
  if (conforms(merged === body ? 'command' : 'command-edit', body, found)) checkOne(merged, [], found);
  found.throwIfAny();
}

export function checkCommands(body: Json): void {
  const found = createFieldErrors();
  if (!Array.isArray(body)) found.add([], 'LIST_TYPE_CONVERT', 'Only iterables may be used in a ListType');
  found.throwIfAny();
  for (const [type, max] of Object.entries(MAX_COMMANDS))
    if (body.filter((command: Json) => (command?.type ?? 1) === Number(type)).length > max)
      throw errors.tooManyCommands(max);
  for (const [index, command] of body.entries())
    if (conforms('commands-item', command, found, [index])) checkOne(command, [index], found);
  for (const index of repeatedIn(body.map((command: Json) => `${command?.type ?? 1}:${command?.name}`)))
    found.add([index, 'name'], ...wrong.repeatedCommand);
  found.throwIfAny();
}

export function checkAutocomplete(data: Json, type: number): void {
  const found = createFieldErrors();
  const kind = type === Type.Integer ? 'integer-choices' : type === Type.Number ? 'number-choices' : 'string-choices';
  if (conforms(kind, data, found, ['data'])) checkValues(data.choices ?? [], ['data', 'choices'], found);
  found.throwIfAny();
}
