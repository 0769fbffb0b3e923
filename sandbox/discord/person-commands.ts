import {
  type APIApplicationCommand,
  ApplicationCommandType,
  PermissionFlagsBits as Bit,
  InteractionContextType as Context,
  InteractionType,
  ApplicationCommandOptionType as Option,
} from 'discord.js';
import type { InteractionRequest } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import type { Prepared } from './interactions.ts';
import { createResolved, optionValue, type Place } from './options.ts';
import { permissionsOf } from './permissions.ts';
import { type RequestOf, visible } from './person-components.ts';
import type { Json } from './validate.ts';

function findCommand(
  core: Core,
  request: InteractionRequest,
  { guild, member, channel }: Place,
  type: ApplicationCommandType,
  name: string,
): APIApplicationCommand {
  const scope = guild?.id ?? null;
  const command = core.commands.find(scope, type, name);
  if (!command) {
    const known = [...core.commands.list(scope), ...core.commands.list(null)].map((command) => command.name);
    throw new NotPossible(`The bot has no command "${name}" here. Registered: ${known.join(', ') || 'none'}.`);
  }
  if (request.unchecked) return command;
  if (!guild || !member) {
    if (command.guild_id || command.dm_permission === false)
      throw new NotPossible(`/${name} is not offered in direct messages.`);
    return command;
  }
  if (command.contexts && !command.contexts.includes(Context.Guild))
    throw new NotPossible(`/${name} is not offered in servers.`);
  const allowed = permissionsOf(core.world, guild, member, channel);
  const needed = BigInt(command.default_member_permissions ?? 0) | Bit.UseApplicationCommands;
  const closed = command.default_member_permissions === '0' && !(allowed & Bit.Administrator);
  if (closed || (allowed & needed) !== needed)
    throw new NotPossible(
      `/${name} is not offered to user ${request.userId} in #${channel.name}: a permission is missing (unchecked: true sends it anyway).`,
    );
  return command;
}

const isNested = ({ type }: Json): boolean => type === Option.Subcommand || type === Option.SubcommandGroup;

/** `words` are the group and the subcommand. `wrap` nests values for the payload. */
function descend(command: APIApplicationCommand, words: string[]) {
  let options: Json[] = command.options ?? [];
  const steps: Json[] = [];
  for (const word of words) {
    const next = options.find((option) => option.name === word && isNested(option));
    if (!next) throw new NotPossible(`/${command.name} has no subcommand "${words.join(' ')}".`);
    steps.push(next);
    options = next.options ?? [];
  }
  if (options.some(isNested))
    throw new NotPossible(`/${command.name} needs a subcommand: ${options.map(({ name }) => name).join(', ')}.`);
  const wrap = (values: Json[]): Json[] =>
    steps.reduceRight((inner, step) => [{ name: step.name, type: step.type, options: inner }], values);
  return { options, wrap };
}

export function slash(core: Core, request: RequestOf<'command'> | RequestOf<'autocomplete'>, place: Place): Prepared {
  const [first = '', ...rest] = request.name.replace(/^\//, '').trim().split(/\s+/);
  const command = findCommand(core, request, place, ApplicationCommandType.ChatInput, first);
  const { options, wrap } = descend(command, rest);
  const resolved = createResolved(core, place);
  const given = request.options ?? {};
  for (const name of Object.keys(given))
    if (!options.some((option) => option.name === name))
      throw new NotPossible(`/${request.name} has no option "${name}".`);
  const focused = request.kind === 'autocomplete' ? options.find(({ name }) => name === request.focused) : undefined;
  if (request.kind === 'autocomplete' && !focused?.autocomplete)
    throw new NotPossible(`/${request.name} has no option "${request.focused}" with autocomplete.`);
  const values: Json[] = [];
  for (const option of options) {
    const { name, type, required } = option;
    const value = given[name];
    if (option === focused)
      values.push({ name, type, value: typeof value === 'object' ? '' : String(value ?? ''), focused: true });
    else if (value !== undefined)
      values.push({ name, type, value: optionValue(option, value, resolved, request.unchecked ?? false) });
    else if (required && request.kind === 'command' && !request.unchecked)
      throw new NotPossible(`/${request.name} needs the option "${name}".`);
  }
  return {
    type: focused ? InteractionType.ApplicationCommandAutocomplete : InteractionType.ApplicationCommand,
    name: [first, ...rest].join(' '),
    source: null,
    ...(focused && { optionType: focused.type }),
    payload: { data: { ...commandData(command), options: wrap(values), ...resolved.part } },
  };
}

function commandData(command: APIApplicationCommand): Json {
  return {
    id: command.id,
    name: command.name,
    type: command.type,
    ...(command.guild_id && { guild_id: command.guild_id }),
  };
}

export function contextMenu(
  core: Core,
  request: RequestOf<'message-command'> | RequestOf<'user-command'>,
  place: Place,
): Prepared {
  const onMessage = request.kind === 'message-command';
  const type = onMessage ? ApplicationCommandType.Message : ApplicationCommandType.User;
  const command = findCommand(core, request, place, type, request.name);
  const resolved = createResolved(core, place);
  if (onMessage) resolved.message(visible(core, request, request.messageId));
  else if (!resolved.user(request.targetId)) throw new NotPossible(`There is no user ${request.targetId}.`);
  const target = onMessage ? request.messageId : request.targetId;
  return {
    type: InteractionType.ApplicationCommand,
    name: request.name,
    source: null,
    payload: { data: { ...commandData(command), target_id: target, ...resolved.part } },
  };
}
