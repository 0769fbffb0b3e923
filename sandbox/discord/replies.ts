/** The bot's responses to interactions: the acknowledgement, the reply and its edits, followups. */
import { InteractionResponseType as Answer, InteractionType, MessageFlags, MessageType } from 'discord.js';
import { checkAnswer } from './answer-rules.ts';
import type { MessageState } from './control.ts';
import { type Entry, isLoading } from './entries.ts';
import { errors } from './errors.ts';
import type { Interactions } from './interactions.ts';
import { checkMessage, isEmpty, type Upload } from './message-rules.ts';
import type { Messages } from './messages.ts';
import { apiUser } from './objects.ts';
import type { Json } from './validate.ts';
import type { World } from './world.ts';

/** The flags that the bot may choose for a reply. */
const WANTED_FLAGS =
  MessageFlags.Ephemeral |
  MessageFlags.SuppressEmbeds |
  MessageFlags.SuppressNotifications |
  MessageFlags.IsComponentsV2;

/** The bot's responses to interactions. */
export type Replies = ReturnType<typeof createReplies>;

/** Creates the part that applies the bot's responses and creates their messages. */
export function createReplies({
  world,
  interactions,
  messages,
  strict,
}: {
  world: World;
  interactions: Interactions;
  messages: Messages;
  strict: boolean;
}) {
  /** Handles `POST /interactions/{id}/{token}/callback`. */
  function respond(id: string, token: string, body: Json, uploads: readonly Upload[]): Json {
    const entry = interactions.waiting(id, token);
    checkAnswer(entry.prepared, body, uploads, strict);
    interactions.acknowledge(entry, body.type);
    const data = body.data ?? {};
    switch (body.type as Answer) {
      case Answer.ChannelMessageWithSource:
        setOriginal(entry, post(entry, data, uploads, 0, data.flags));
        break;
      case Answer.DeferredChannelMessageWithSource:
        setOriginal(entry, post(entry, {}, [], MessageFlags.Loading, data.flags));
        break;
      case Answer.DeferredMessageUpdate:
        setOriginal(entry, entry.prepared.source!);
        break;
      case Answer.UpdateMessage:
        setOriginal(entry, entry.prepared.source!);
        messages.edit(entry.original!, data, uploads);
        break;
      case Answer.ApplicationCommandAutocompleteResult:
        entry.choices = (data.choices ?? []).filter((choice: Json) => choice !== null);
        break;
      case Answer.Modal:
        entry.modal = data;
        break;
      case Answer.Pong:
      case Answer.PremiumRequired:
      case Answer.LaunchActivity:
        break;
    }
    interactions.changed(entry);
    return callbackResource(entry, body.type);
  }

  /** Handles `POST /webhooks/{application}/{token}`: a followup, or the completion of a loading reply. */
  function followUp(token: string, body: Json, uploads: readonly Upload[]): MessageState {
    const entry = interactions.alive(token);
    if (strict) checkMessage(body, { kind: 'reply', uploads });
    if (isEmpty(body, uploads)) throw errors.emptyMessage();
    if (isLoading(entry)) return complete(entry, body, uploads);
    const message = post(entry, body, uploads, 0, body.flags);
    entry.followups.push(message);
    interactions.follow(entry, message);
    interactions.changed(entry);
    return message;
  }

  /** Returns a message of this interaction by id or `@original`. */
  function message(token: string, id: string): MessageState {
    const entry = interactions.alive(token);
    const found =
      id === '@original' ? entry.original : [entry.original, ...entry.followups].find((one) => one?.id === id);
    if (!found || found.deleted) throw errors.unknownMessage();
    return found;
  }

  function editMessage(token: string, id: string, body: Json, uploads: readonly Upload[]): MessageState {
    const entry = interactions.alive(token);
    const state = message(token, id);
    const { flags, attachments } = state.message;
    if (strict)
      checkMessage(body, {
        kind: 'reply-edit',
        uploads,
        existing: attachments.map((file) => file.id),
        flags: flags ?? 0,
      });
    if (
      isEmpty({ ...state.message, message_reference: null, ...body }, uploads) &&
      (body.attachments ?? attachments).length === 0
    )
      throw errors.emptyMessage();
    if (state === entry.original && isLoading(entry)) return complete(entry, body, uploads);
    return messages.edit(state, body, uploads);
  }

  function deleteMessage(token: string, id: string): void {
    messages.remove(message(token, id));
  }

  function setOriginal(entry: Entry, message: MessageState): void {
    entry.original = message;
    interactions.follow(entry, message);
  }

  /** Completes the reply that shows "thinking…". */
  function complete(entry: Entry, body: Json, uploads: readonly Upload[]): MessageState {
    const original = entry.original!;
    return messages.edit(original, body, uploads, (original.message.flags ?? 0) & ~MessageFlags.Loading);
  }

  /** Creates a message with the flags of its state, and those that the bot wants where it may. */
  function post(entry: Entry, body: Json, uploads: readonly Upload[], state: number, wanted: unknown): MessageState {
    const { user, channel } = entry;
    const ephemeral = (Number(wanted ?? 0) & MessageFlags.Ephemeral) !== 0;
    return messages.create({
      channel,
      author: world.users.get(world.botId)!,
      body,
      uploads,
      ...(ephemeral && { visibleTo: user.id }),
      extra: replyFields(entry, world.botId, state | (Number(wanted ?? 0) & WANTED_FLAGS)),
    });
  }

  return { respond, followUp, message, editMessage, deleteMessage };
}

/** Returns the fields of a reply that its body does not decide. */
function replyFields(entry: Entry, botId: string, flags: number): Json {
  const { prepared, user, channel } = entry;
  const command = prepared.type === InteractionType.ApplicationCommand;
  const context = entry.kind === 'message-command' || entry.kind === 'user-command';
  return {
    flags,
    application_id: botId,
    webhook_id: botId,
    ...(command && {
      type: context ? MessageType.ContextMenuCommand : MessageType.ChatInputCommand,
      interaction: { id: entry.id, type: prepared.type, name: prepared.name, user: apiUser(user) },
    }),
    ...(prepared.source &&
      !prepared.source.visibleTo && {
        type: MessageType.Reply,
        message_reference: { type: 0, channel_id: channel.id, message_id: prepared.source.id },
      }),
    interaction_metadata: {
      id: entry.id,
      type: prepared.type,
      user: apiUser(user),
      authorizing_integration_owners: { '0': channel.guildId ?? '0' },
      ...(command && { name: prepared.name, command_type: 1 }),
      ...(entry.responseType === 5 && { original_response_message_id: entry.original?.id }),
    },
  };
}

function callbackResource(entry: Entry, type: number): Json {
  const message = [4, 5, 6, 7].includes(type) ? entry.original : null;
  return {
    interaction: {
      id: entry.id,
      type: entry.prepared.type,
      ...(message && {
        response_message_id: message.id,
        response_message_loading: type === 5,
        response_message_ephemeral: message.visibleTo !== null,
      }),
      channel_id: entry.channel.id,
      ...(entry.channel.guildId && { guild_id: entry.channel.guildId }),
    },
    resource: { type, ...(message && type !== 6 && { message: message.message }) },
  };
}
