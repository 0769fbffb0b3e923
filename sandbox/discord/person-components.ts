import { ComponentType as Component, InteractionType } from 'discord.js';
import type { InteractionRequest, MessageState } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import type { Prepared } from './interactions.ts';
import { componentsIn } from './message-rules.ts';
import { createResolved, type Place, type Resolved } from './options.ts';
import type { Json } from './validate.ts';

export type RequestOf<K extends InteractionRequest['kind']> = Extract<InteractionRequest, { kind: K }>;

/** @throws {@link NotPossible} unless the person sees the message in the channel. */
export function visible(core: Core, request: InteractionRequest, messageId: string): MessageState {
  const state = core.messages.get(messageId);
  const shown = state && !state.deleted && state.channelId === request.channelId;
  if (!shown || (state.visibleTo !== null && state.visibleTo !== request.userId))
    throw new NotPossible(`User ${request.userId} sees no message ${messageId} in channel ${request.channelId}.`);
  return state;
}

function selected(menu: Json, values: string[], resolved: Resolved, unchecked: boolean): void {
  const min = menu.min_values ?? 1;
  const max = menu.max_values ?? 1;
  if (!unchecked && (values.length < min || values.length > max))
    throw new NotPossible(`The menu takes ${min} to ${max} choices.`);
  const offers: Partial<Record<Component, (value: string) => boolean>> = {
    [Component.StringSelect]: (value) => unchecked || menu.options.some((option: Json) => option.value === value),
    [Component.UserSelect]: resolved.user,
    [Component.RoleSelect]: resolved.role,
    [Component.MentionableSelect]: (value) => resolved.user(value) || resolved.role(value),
    [Component.ChannelSelect]: resolved.channel,
  };
  for (const value of values)
    if (!offers[menu.type as Component]?.(value)) throw new NotPossible(`The menu does not offer "${value}".`);
}

const messageOf = ({ message, guildId }: MessageState): Json => ({
  message: { ...message, ...(guildId && { guild_id: guildId }) },
});

export function component(core: Core, request: RequestOf<'button'> | RequestOf<'select'>, place: Place): Prepared {
  const source = visible(core, request, request.messageId);
  const isMeant = ([{ custom_id, type }]: Json[]): boolean =>
    custom_id === request.customId && (type === Component.Button) === (request.kind === 'button');
  const [found] = [...componentsIn(source.message.components, [])].find(isMeant) ?? [];
  if (!found)
    throw new NotPossible(`Message ${source.id} has no ${request.kind} with the custom id "${request.customId}".`);
  if (found.disabled && !request.unchecked)
    throw new NotPossible(`The ${request.kind} "${request.customId}" is disabled.`);
  const resolved = createResolved(core, place);
  if (request.kind === 'select') selected(found, request.values, resolved, request.unchecked ?? false);
  return {
    type: InteractionType.MessageComponent,
    name: request.customId,
    source,
    payload: {
      ...messageOf(source),
      data: {
        custom_id: found.custom_id,
        component_type: found.type,
        id: found.id,
        ...(request.kind === 'select' && { values: request.values, ...resolved.part }),
      },
    },
  };
}

function input(field: Json, request: RequestOf<'modal'>, resolved: Resolved): Json {
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
  if (!request.unchecked && (needed || short || value.length > (field.max_length ?? 4_000)))
    throw new NotPossible(
      `The form does not take this for "${field.custom_id}": ${needed ? 'it is required' : 'its length is wrong'}.`,
    );
  return { ...base, value };
}

export function modal(core: Core, request: RequestOf<'modal'>, place: Place): Prepared {
  const opener = core.interactions.get(request.interactionId);
  if (!opener?.state.modal || opener.state.userId !== request.userId)
    throw new NotPossible(`Interaction ${request.interactionId} opened no form for user ${request.userId}.`);
  const resolved = createResolved(core, place);
  const form = opener.state.modal as Json;
  const fields: string[] = [...componentsIn(form.components, [])].map(([field]) => field.custom_id).filter(Boolean);
  for (const id of Object.keys(request.values))
    if (!fields.includes(id)) throw new NotPossible(`The form has no field "${id}". It has: ${fields.join(', ')}.`);
  const filled = (field: Json): Json => input(field, request, resolved);
  const components = form.components.map(({ type, id, ...parts }: Json) => ({
    type,
    id: id ?? 1,
    ...(type === Component.ActionRow && { components: parts.components.map(filled) }),
    ...(type === Component.Label && { component: filled(parts.component) }),
  }));
  const { source } = opener.prepared;
  return {
    type: InteractionType.ModalSubmit,
    name: form.custom_id,
    source,
    payload: {
      data: { custom_id: form.custom_id, components, ...resolved.part },
      ...(source && messageOf(source)),
    },
  };
}
