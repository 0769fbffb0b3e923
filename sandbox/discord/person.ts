/** What a person's client does: finds the command or button, checks what it would not let through, fills the payload. */
import {
  type APIApplicationCommand,
  ApplicationCommandType,
  PermissionFlagsBits as Bit,
  ComponentType as Component,
  InteractionContextType as Context,
  InteractionType,
  ApplicationCommandOptionType as Option,
} from 'discord.js';
import type { Prepared } from './answer-rules.ts';
import type { InteractionRequest, MessageState } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import { componentsIn } from './message-rules.ts';
import { apiChannel, apiUser, interactionMember } from './objects.ts';
import { optionValue, type Place, Resolved } from './options.ts';
import { botPermissions, permissionsOf, sees } from './permissions.ts';
import type { Json } from './validate.ts';

type Of<K extends InteractionRequest['kind']> = Extract<InteractionRequest, { kind: K }>;

const CHAT = ApplicationCommandType.ChatInput;

function placeOf(core: Core, request: InteractionRequest): Place {
  const channel = core.world.channels.get(request.channelId);
  if (!channel) throw new NotPossible(`There is no channel ${request.channelId}.`);
  if (!core.world.users.has(request.userId)) throw new NotPossible(`There is no user ${request.userId}.`);
  const guild = core.world.guildOf(channel);
  const member = guild?.members.get(request.userId);
  if (guild && !member) throw new NotPossible(`User ${request.userId} is not a member of ${guild.name}.`);
  if (guild && !guild.present) throw new NotPossible(`The bot is not in ${guild.name}.`);
  if (!sees(core.world, request.userId, channel) && !request.unchecked)
    throw new NotPossible(`User ${request.userId} does not see #${channel.name}.`);
  return { channel, guild, member };
}

/** The part of the payload that says who and where. */
function frame(core: Core, request: InteractionRequest, place: Place): Json {
  const { world } = core;
  const user = world.users.get(request.userId)!;
  const { channel, guild, member } = place;
  const owners = { authorizing_integration_owners: { '0': guild?.id ?? '0' } };
  const shared = {
    ...owners,
    channel_id: channel.id,
    channel: apiChannel(world, channel),
    locale: user.locale,
    app_permissions: botPermissions(world, channel).toString(),
    entitlements: [],
    entitlement_sku_ids: [],
    attachment_size_limit: 10 * 1024 * 1024,
  };
  if (!guild || !member) return { ...shared, user: apiUser(user), context: Context.BotDM };
  const permissions = permissionsOf(world, guild, member, channel).toString();
  return {
    ...shared,
    channel: { ...shared.channel, permissions },
    member: interactionMember(world, guild, member, channel),
    guild_id: guild.id,
    guild_locale: guild.locale,
    guild: { id: guild.id, locale: guild.locale, features: [] },
    context: Context.Guild,
  };
}

function findCommand(
  core: Core,
  request: InteractionRequest,
  place: Place,
  type: ApplicationCommandType,
  name: string,
): APIApplicationCommand {
  const command = core.commands.find(place.guild?.id ?? null, type, name);
  if (!command) {
    const known = [...core.commands.list(place.guild?.id ?? null), ...core.commands.list(null)].map((one) => one.name);
    throw new NotPossible(`The bot has no command "${name}" here. It registered: ${known.join(', ') || 'nothing'}.`);
  }
  if (request.unchecked) return command;
  const { guild, member, channel } = place;
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

/** The option list that a full name leads to, and how its values are wrapped on the way back. */
function descend(
  command: APIApplicationCommand,
  words: string[],
): { options: Json[]; wrap: (values: Json[]) => Json[] } {
  let options: Json[] = command.options ?? [];
  const steps: Json[] = [];
  for (const word of words) {
    const next = options.find(
      ({ name, type }) => name === word && (type === Option.Subcommand || type === Option.SubcommandGroup),
    );
    if (!next) throw new NotPossible(`/${command.name} has no subcommand "${words.join(' ')}".`);
    steps.push(next);
    options = next.options ?? [];
  }
  if (options.some(({ type }) => type === Option.Subcommand || type === Option.SubcommandGroup))
    throw new NotPossible(`/${command.name} needs a subcommand: ${options.map(({ name }) => name).join(', ')}.`);
  const wrap = (values: Json[]): Json[] =>
    steps.reduceRight((inner, step) => [{ name: step.name, type: step.type, options: inner }], values);
  return { options, wrap };
}

function slash(core: Core, request: Of<'command'> | Of<'autocomplete'>, place: Place): Prepared {
  const [first = '', ...rest] = request.name.replace(/^\//, '').trim().split(/\s+/);
  const command = findCommand(core, request, place, CHAT, first);
  const { options, wrap } = descend(command, rest);
  const resolved = new Resolved(core, place);
  const given = request.options ?? {};
  for (const name of Object.keys(given))
    if (!options.some((option) => option.name === name))
      throw new NotPossible(`/${request.name} has no option "${name}".`);
  const focused = request.kind === 'autocomplete' ? options.find(({ name }) => name === request.focused) : undefined;
  if (request.kind === 'autocomplete' && !focused?.autocomplete)
    throw new NotPossible(`/${request.name} has no option "${request.focused}" with autocomplete.`);
  const values: Json[] = [];
  for (const option of options) {
    const value = given[option.name];
    if (option === focused) {
      values.push({
        name: option.name,
        type: option.type,
        value: typeof value === 'object' ? '' : String(value ?? ''),
        focused: true,
      });
    } else if (value !== undefined) {
      values.push({
        name: option.name,
        type: option.type,
        value: optionValue(option, value, resolved, request.unchecked ?? false),
      });
    } else if (option.required && request.kind === 'command' && !request.unchecked) {
      throw new NotPossible(`/${request.name} needs the option "${option.name}".`);
    }
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

function contextMenu(core: Core, request: Of<'message-command'> | Of<'user-command'>, place: Place): Prepared {
  const onMessage = request.kind === 'message-command';
  const type = onMessage ? ApplicationCommandType.Message : ApplicationCommandType.User;
  const command = findCommand(core, request, place, type, request.name);
  const resolved = new Resolved(core, place);
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

function visible(core: Core, request: InteractionRequest, messageId: string): MessageState {
  const state = core.messages.get(messageId);
  const shown = state && !state.deleted && state.channelId === request.channelId;
  if (!shown || (state.visibleTo !== null && state.visibleTo !== request.userId))
    throw new NotPossible(`User ${request.userId} sees no message ${messageId} in channel ${request.channelId}.`);
  return state;
}

function selected(component: Json, values: string[], resolved: Resolved, unchecked: boolean): void {
  if (!unchecked && (values.length < (component.min_values ?? 1) || values.length > (component.max_values ?? 1)))
    throw new NotPossible(`The menu takes ${component.min_values ?? 1} to ${component.max_values ?? 1} choices.`);
  for (const value of values) {
    const user = component.type === Component.UserSelect || component.type === Component.MentionableSelect;
    const role = component.type === Component.RoleSelect || component.type === Component.MentionableSelect;
    const ok =
      component.type === Component.StringSelect
        ? unchecked || component.options.some((option: Json) => option.value === value)
        : (user && resolved.user(value)) ||
          (role && resolved.role(value)) ||
          (component.type === Component.ChannelSelect && resolved.channel(value));
    if (!ok) throw new NotPossible(`The menu does not offer "${value}".`);
  }
}

function component(core: Core, request: Of<'button'> | Of<'select'>, place: Place): Prepared {
  const source = visible(core, request, request.messageId);
  const found = [...componentsIn(source.message.components, [])]
    .map(([one]) => one)
    .find(
      (one) => one.custom_id === request.customId && (one.type === Component.Button) === (request.kind === 'button'),
    );
  if (!found)
    throw new NotPossible(`Message ${source.id} has no ${request.kind} with the custom id "${request.customId}".`);
  if (found.disabled && !request.unchecked)
    throw new NotPossible(`The ${request.kind} "${request.customId}" is disabled.`);
  const resolved = new Resolved(core, place);
  if (request.kind === 'select') selected(found, request.values, resolved, request.unchecked ?? false);
  return {
    type: InteractionType.MessageComponent,
    name: request.customId,
    source,
    payload: {
      message: { ...source.message, ...(source.guildId && { guild_id: source.guildId }) },
      data: {
        custom_id: found.custom_id,
        component_type: found.type,
        id: found.id,
        ...(request.kind === 'select' && { values: request.values, ...resolved.part }),
      },
    },
  };
}

function input(field: Json, request: Of<'modal'>, resolved: Resolved): Json {
  const given = request.values[field.custom_id];
  const base = { type: field.type, id: field.id ?? 1, custom_id: field.custom_id };
  if (field.type !== Component.TextInput) {
    const values = given === undefined ? [] : [given].flat();
    if (field.options || field.type !== Component.StringSelect)
      selected(field, values, resolved, request.unchecked ?? false);
    return { ...base, values };
  }
  const value = given === undefined ? (field.value ?? '') : String(given);
  const needed = (field.required ?? true) && value === '';
  const short = value !== '' && value.length < (field.min_length ?? 0);
  if (!request.unchecked && (needed || short || value.length > (field.max_length ?? 4000)))
    throw new NotPossible(
      `The form does not take this for "${field.custom_id}": ${needed ? 'it is required' : 'its length is wrong'}.`,
    );
  return { ...base, value };
}

function modal(core: Core, request: Of<'modal'>, place: Place): Prepared {
  const opened = core.interactions.has(request.interactionId)
    ? core.interactions.state(request.interactionId)
    : undefined;
  if (!opened?.modal || opened.userId !== request.userId)
    throw new NotPossible(`Interaction ${request.interactionId} opened no form for user ${request.userId}.`);
  const resolved = new Resolved(core, place);
  const form = opened.modal as Json;
  const fields: string[] = [...componentsIn(form.components, [])].map(([one]) => one.custom_id).filter(Boolean);
  for (const id of Object.keys(request.values))
    if (!fields.includes(id)) throw new NotPossible(`The form has no field "${id}". It has: ${fields.join(', ')}.`);
  const components = form.components.map((one: Json) => {
    if (one.type === Component.ActionRow)
      return {
        type: one.type,
        id: one.id ?? 1,
        components: one.components.map((field: Json) => input(field, request, resolved)),
      };
    if (one.type === Component.Label)
      return { type: one.type, id: one.id ?? 1, component: input(one.component, request, resolved) };
    return { type: one.type, id: one.id ?? 1 };
  });
  const source = core.interactions.sourceOf(request.interactionId);
  return {
    type: InteractionType.ModalSubmit,
    name: form.custom_id,
    source,
    payload: {
      data: { custom_id: form.custom_id, components, ...resolved.part },
      ...(source && { message: { ...source.message, ...(source.guildId && { guild_id: source.guildId }) } }),
    },
  };
}

/** Turns what a person does into what the bot is sent. Throws {@link NotPossible}. */
export function prepare(core: Core, request: InteractionRequest): Prepared {
  const place = placeOf(core, request);
  const make = (): Prepared => {
    switch (request.kind) {
      case 'command':
      case 'autocomplete':
        return slash(core, request, place);
      case 'message-command':
      case 'user-command':
        return contextMenu(core, request, place);
      case 'button':
      case 'select':
        return component(core, request, place);
      case 'modal':
        return modal(core, request, place);
    }
  };
  const prepared = make();
  if (!prepared) throw new NotPossible(`There is no kind of interaction "${(request as Json).kind}".`);
  return { ...prepared, payload: { ...frame(core, request, place), ...prepared.payload } };
}
