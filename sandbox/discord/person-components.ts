/** Buttons, menus and forms, as a person's client sends them. */
import { ComponentType as Component, InteractionType } from 'discord.js';
import type { InteractionRequest, MessageState } from './control.ts';
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import { componentsIn } from './message-rules.ts';
import { createResolved, type Place, type Resolved } from './options.ts';
import type { Prepared } from './response-rules.ts';
import type { Json } from './validate.ts';

/** A person's action of one kind. */
export type RequestOf<K extends InteractionRequest['kind']> = Extract<InteractionRequest, { kind: K }>;

/** Returns a message that the person sees in the channel. @throws {@link NotPossible} */
export function visible(core: Core, request: InteractionRequest, messageId: string): MessageState {
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

/** Prepares a click on a button, or a choice in a menu, of a message. */
export function component(core: Core, request: RequestOf<'button'> | RequestOf<'select'>, place: Place): Prepared {
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
  const resolved = createResolved(core, place);
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

/** Prepares the submission of a form that an interaction opened. */
export function modal(core: Core, request: RequestOf<'modal'>, place: Place): Prepared {
  const opened = core.interactions.has(request.interactionId)
    ? core.interactions.state(request.interactionId)
    : undefined;
  if (!opened?.modal || opened.userId !== request.userId)
    throw new NotPossible(`Interaction ${request.interactionId} opened no form for user ${request.userId}.`);
  const resolved = createResolved(core, place);
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
