/** The bot's responses to interactions: the acknowledgment, the reply and its edits, followups. */
import { MessageFlags, InteractionResponseType as ResponseType } from 'discord.js';
import type { MessageState } from './control.ts';
import { type Entry, isLoading } from './entries.ts';
import { errors } from './errors.ts';
import type { Interactions } from './interactions.ts';
import { checkMessage, isEmpty, type Upload } from './message-rules.ts';
import type { Messages } from './messages.ts';
import { createReplyMessages, type ReplyMessages } from './reply-messages.ts';
import { checkResponse } from './response-rules.ts';
import type { Json } from './validate.ts';
import type { World } from './world.ts';

interface RepliesOptions {
  world: World;
  interactions: Interactions;
  messages: Messages;
  strict: boolean;
}

/** The bot's responses to interactions. */
export type Replies = ReturnType<typeof createReplies>;

/** Creates the part that applies the bot's responses and creates their messages. */
export function createReplies(options: RepliesOptions) {
  const written = createReplyMessages(options.world, options.interactions, options.messages);
  return { respond: createCallback(options, written), ...createFollowUps(options, written) };
}

/** Creates the function that handles `POST /interactions/{id}/{token}/callback`. */
function createCallback({ interactions, messages, strict }: RepliesOptions, { post, setOriginal }: ReplyMessages) {
  return function respond(id: string, token: string, body: Json, uploads: readonly Upload[]): Json {
    const entry = interactions.waiting(id, token);
    checkResponse(entry.prepared, body, uploads, strict);
    interactions.acknowledge(entry, body.type);
    const data = body.data ?? {};
    switch (body.type as ResponseType) {
      case ResponseType.ChannelMessageWithSource:
        setOriginal(entry, post(entry, data, uploads, 0, data.flags));
        break;
      case ResponseType.DeferredChannelMessageWithSource:
        setOriginal(entry, post(entry, {}, [], MessageFlags.Loading, data.flags));
        break;
      case ResponseType.DeferredMessageUpdate:
        setOriginal(entry, entry.prepared.source!);
        break;
      case ResponseType.UpdateMessage:
        setOriginal(entry, entry.prepared.source!);
        messages.edit(entry.original!, data, uploads);
        break;
      case ResponseType.ApplicationCommandAutocompleteResult:
        entry.choices = (data.choices ?? []).filter((choice: Json) => choice !== null);
        break;
      case ResponseType.Modal:
        entry.modal = data;
        break;
      case ResponseType.Pong:
      case ResponseType.PremiumRequired:
      case ResponseType.LaunchActivity:
        break;
    }
    interactions.changed(entry);
    return callbackResource(entry, body.type);
  };
}

/** Creates the functions that handle `/webhooks/{application}/{token}`. */
function createFollowUps({ interactions, messages, strict }: RepliesOptions, { post, complete }: ReplyMessages) {
  /** Sends a followup, or completes a loading reply. */
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

  return { followUp, message, editMessage, deleteMessage };
}

/** The types of responses that have a message. */
const REPLYING: readonly ResponseType[] = [
  ResponseType.ChannelMessageWithSource,
  ResponseType.DeferredChannelMessageWithSource,
  ResponseType.DeferredMessageUpdate,
  ResponseType.UpdateMessage,
];

/** Returns the body of a callback's response. */
function callbackResource(entry: Entry, type: ResponseType): Json {
  const message = REPLYING.includes(type) ? entry.original : null;
  return {
    interaction: {
      id: entry.id,
      type: entry.prepared.type,
      ...(message && {
        response_message_id: message.id,
        response_message_loading: type === ResponseType.DeferredChannelMessageWithSource,
        response_message_ephemeral: message.visibleTo !== null,
      }),
      channel_id: entry.channel.id,
      ...(entry.channel.guildId && { guild_id: entry.channel.guildId }),
    },
    resource: { type, ...(message && type !== ResponseType.DeferredMessageUpdate && { message: message.message }) },
  };
}
