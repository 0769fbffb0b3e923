import {
  ApplicationCommandOptionType,
  InteractionType,
  MessageFlags,
  MessageType,
  InteractionResponseType as ResponseType,
} from 'discord.js';
import type { Base } from './base.ts';
import { checkAutocomplete } from './command-rules.ts';
import type { MessageState } from './control.ts';
import { createFieldErrors, errors } from './errors.ts';
import { type Entry, type Interactions, isLoading, type Prepared } from './interactions.ts';
import { checkEdit, checkMessage, checkModal, isEmpty, type Upload } from './message-rules.ts';
import type { Messages } from './messages.ts';
import { apiUser } from './objects.ts';
import type { Json } from './validate.ts';

/** Discord ignores a bot's other flags. */
const CHOOSABLE_FLAGS =
  MessageFlags.Ephemeral |
  MessageFlags.SuppressEmbeds |
  MessageFlags.SuppressNotifications |
  MessageFlags.IsComponentsV2;

export type Replies = ReturnType<typeof createReplies>;

export function createReplies({ world, strict }: Base, interactions: Interactions, messages: Messages) {
  const bot = world.users.get(world.botId)!;

  function post(entry: Entry, body: Json, uploads: readonly Upload[], ownFlags = 0): MessageState {
    const chosen = Number(body.flags ?? 0) & CHOOSABLE_FLAGS;
    const extra = fieldsOf(entry, ownFlags | chosen);
    const visibleTo = chosen & MessageFlags.Ephemeral ? { visibleTo: entry.state.userId } : {};
    const message = messages.create({ channel: entry.channel, author: bot, body, uploads, ...visibleTo, extra });
    interactions.follow(entry, message);
    return message;
  }

  /** The fields that a reply's body does not decide. */
  function fieldsOf({ prepared, channel, state }: Entry, flags: number): Json {
    const { id, kind, reply, responseType } = state;
    const { type, name, source } = prepared;
    const isCommand = type === InteractionType.ApplicationCommand;
    const isMenu = kind === 'message-command' || kind === 'user-command';
    const user = apiUser(world.users.get(state.userId)!);
    return {
      flags,
      application_id: bot.id,
      webhook_id: bot.id,
      ...(isCommand && {
        type: isMenu ? MessageType.ContextMenuCommand : MessageType.ChatInputCommand,
        interaction: { id, type, name, user },
      }),
      ...(source &&
        !source.visibleTo && {
          type: MessageType.Reply,
          message_reference: { type: 0, channel_id: channel.id, message_id: source.id },
        }),
      interaction_metadata: {
        id,
        type,
        user,
        authorizing_integration_owners: { '0': channel.guildId ?? '0' },
        ...(isCommand && { name, command_type: 1 }),
        ...(responseType === ResponseType.DeferredChannelMessageWithSource && {
          original_response_message_id: reply?.id,
        }),
      },
    };
  }

  function complete({ state }: Entry, body: Json, uploads: readonly Upload[]): MessageState {
    const reply = state.reply!;
    return messages.edit(reply, body, uploads, (reply.message.flags ?? 0) & ~MessageFlags.Loading);
  }

  function respond(id: string, token: string, body: Json, uploads: readonly Upload[]): Json {
    const entry = interactions.waiting(id, token);
    const { state, prepared } = entry;
    checkResponse(prepared, body, uploads, strict);
    interactions.acknowledge(entry, body.type);
    const data = body.data ?? {};
    switch (body.type as ResponseType) {
      case ResponseType.ChannelMessageWithSource:
        state.reply = post(entry, data, uploads);
        break;
      case ResponseType.DeferredChannelMessageWithSource:
        state.reply = post(entry, { flags: data.flags }, [], MessageFlags.Loading);
        break;
      case ResponseType.DeferredMessageUpdate:
      case ResponseType.UpdateMessage:
        state.reply = prepared.source!;
        interactions.follow(entry, state.reply);
        if (body.type === ResponseType.UpdateMessage) messages.edit(state.reply, data, uploads);
        break;
      case ResponseType.ApplicationCommandAutocompleteResult:
        state.choices = (data.choices ?? []).filter((choice: Json) => choice !== null);
        break;
      case ResponseType.Modal:
        state.modal = data;
    }
    interactions.changed(entry);
    return callbackResource(entry, body.type);
  }

  /** Completes a loading reply instead of a followup. */
  function followUp(token: string, body: Json, uploads: readonly Upload[]): MessageState {
    const entry = interactions.alive(token);
    if (strict) checkMessage(body, { kind: 'reply', uploads });
    if (isEmpty(body, uploads)) throw errors.emptyMessage();
    if (isLoading(entry)) return complete(entry, body, uploads);
    const message = post(entry, body, uploads);
    entry.state.followups.push(message);
    interactions.changed(entry);
    return message;
  }

  /** `id` may be `@original`. */
  function message(token: string, id: string): MessageState {
    const { reply, followups } = interactions.alive(token).state;
    const found = id === '@original' ? reply : [reply, ...followups].find((followup) => followup?.id === id);
    if (!found || found.deleted) throw errors.unknownMessage();
    return found;
  }

  function editMessage(token: string, id: string, body: Json, uploads: readonly Upload[]): MessageState {
    const entry = interactions.alive(token);
    const edited = message(token, id);
    checkEdit(edited.message, body, { kind: 'reply-edit', uploads }, strict);
    if (edited === entry.state.reply && isLoading(entry)) return complete(entry, body, uploads);
    return messages.edit(edited, body, uploads);
  }

  return { respond, followUp, message, editMessage };
}

function callbackResource({ state: { id, reply }, prepared, channel }: Entry, type: ResponseType): Json {
  return {
    interaction: {
      id,
      type: prepared.type,
      ...(reply && {
        response_message_id: reply.id,
        response_message_loading: type === ResponseType.DeferredChannelMessageWithSource,
        response_message_ephemeral: reply.visibleTo !== null,
      }),
      channel_id: channel.id,
      ...(channel.guildId && { guild_id: channel.guildId }),
    },
    resource: { type, ...(reply && type !== ResponseType.DeferredMessageUpdate && { message: reply.message }) },
  };
}

const REPLIES = [ResponseType.ChannelMessageWithSource, ResponseType.DeferredChannelMessageWithSource];
const UPDATES = [ResponseType.DeferredMessageUpdate, ResponseType.UpdateMessage];
const ALLOWED: Record<InteractionType, readonly ResponseType[]> = {
  [InteractionType.Ping]: [],
  [InteractionType.ApplicationCommand]: [...REPLIES, ResponseType.Modal],
  [InteractionType.MessageComponent]: [...REPLIES, ...UPDATES, ResponseType.Modal],
  [InteractionType.ApplicationCommandAutocomplete]: [ResponseType.ApplicationCommandAutocompleteResult],
  [InteractionType.ModalSubmit]: REPLIES,
};
const WITH_DATA: readonly ResponseType[] = [
  ResponseType.ChannelMessageWithSource,
  ResponseType.ApplicationCommandAutocompleteResult,
  ResponseType.Modal,
];

function checkResponse(prepared: Prepared, body: Json, uploads: readonly Upload[], strict: boolean): void {
  const found = createFieldErrors();
  const { source } = prepared;
  const fromMessage = prepared.type === InteractionType.ModalSubmit && source !== null;
  const allowed = [...ALLOWED[prepared.type], ...(fromMessage ? UPDATES : [])];
  const type = body?.type as ResponseType | undefined;
  if (type === undefined) found.required(['type']);
  else if (!allowed.includes(type))
    found.add(['type'], 'BASE_TYPE_CHOICES', `Value must be one of {${allowed.join(', ')}}.`);
  else if (WITH_DATA.includes(type) && (body.data === undefined || body.data === null)) found.required(['data']);
  found.throwIfAny();
  const data = body.data ?? {};
  if (strict) {
    if (type === ResponseType.ChannelMessageWithSource) checkMessage(data, { kind: 'reply', base: ['data'], uploads });
    if (type === ResponseType.UpdateMessage && source)
      checkMessage(data, { kind: 'reply-edit', base: ['data'], uploads, edited: source.message });
    if (type === ResponseType.ApplicationCommandAutocompleteResult)
      checkAutocomplete(data, prepared.optionType ?? ApplicationCommandOptionType.String);
    if (type === ResponseType.Modal) checkModal(data);
  }
  if (type === ResponseType.ChannelMessageWithSource && isEmpty(data, uploads)) throw errors.emptyMessage();
  if (type === ResponseType.UpdateMessage && source?.deleted) throw errors.unknownMessage();
}
