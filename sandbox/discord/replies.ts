/** The bot's responses to interactions: the acknowledgement, the reply and its edits, followups. */
import { InteractionResponseType as Answer, InteractionType, MessageFlags, MessageType } from 'discord.js';
import { checkAnswer } from './answer-rules.ts';
import type { MessageState } from './control.ts';
import { errors } from './errors.ts';
import { type Entry, type Interactions, isLoading } from './interactions.ts';
import { checkMessage, isEmpty, type Upload } from './message-rules.ts';
import type { Messages } from './messages.ts';
import { apiUser } from './objects.ts';
import type { Json } from './validate.ts';
import type { World } from './world.ts';

/** Applies the bot's responses and creates their messages. */
export class Replies {
  private readonly world: World;
  private readonly interactions: Interactions;
  private readonly messages: Messages;
  private readonly strict: boolean;

  constructor(parts: { world: World; interactions: Interactions; messages: Messages; strict: boolean }) {
    this.world = parts.world;
    this.interactions = parts.interactions;
    this.messages = parts.messages;
    this.strict = parts.strict;
  }

  /** Handles `POST /interactions/{id}/{token}/callback`. */
  respond(id: string, token: string, body: Json, uploads: readonly Upload[]): Json {
    const entry = this.interactions.waiting(id, token);
    checkAnswer(entry.prepared, body, uploads, this.strict);
    this.interactions.acknowledge(entry, body.type);
    const data = body.data ?? {};
    switch (body.type as Answer) {
      case Answer.ChannelMessageWithSource:
        this.setOriginal(entry, this.post(entry, data, uploads, 0, data.flags));
        break;
      case Answer.DeferredChannelMessageWithSource:
        this.setOriginal(entry, this.post(entry, {}, [], MessageFlags.Loading, data.flags));
        break;
      case Answer.DeferredMessageUpdate:
        this.setOriginal(entry, entry.prepared.source!);
        break;
      case Answer.UpdateMessage:
        this.setOriginal(entry, entry.prepared.source!);
        this.messages.edit(entry.original!, data, uploads);
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
    this.interactions.changed(entry);
    return this.callbackResource(entry, body.type);
  }

  /** Handles `POST /webhooks/{application}/{token}`: a followup, or the completion of a loading reply. */
  followUp(token: string, body: Json, uploads: readonly Upload[]): MessageState {
    const entry = this.interactions.alive(token);
    if (this.strict) checkMessage(body, { kind: 'reply', uploads });
    if (isEmpty(body, uploads)) throw errors.emptyMessage();
    if (isLoading(entry)) return this.complete(entry, body, uploads);
    const message = this.post(entry, body, uploads, 0, body.flags);
    entry.followups.push(message);
    this.interactions.follow(entry, message);
    this.interactions.changed(entry);
    return message;
  }

  /** Returns a message of this interaction by id or `@original`. */
  message(token: string, id: string): MessageState {
    const entry = this.interactions.alive(token);
    const found =
      id === '@original' ? entry.original : [entry.original, ...entry.followups].find((one) => one?.id === id);
    if (!found || found.deleted) throw errors.unknownMessage();
    return found;
  }

  editMessage(token: string, id: string, body: Json, uploads: readonly Upload[]): MessageState {
    const entry = this.interactions.alive(token);
    const state = this.message(token, id);
    const { flags, attachments } = state.message;
    if (this.strict)
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
    if (state === entry.original && isLoading(entry)) return this.complete(entry, body, uploads);
    return this.messages.edit(state, body, uploads);
  }

  deleteMessage(token: string, id: string): void {
    this.messages.remove(this.message(token, id));
  }

  private setOriginal(entry: Entry, message: MessageState): void {
    entry.original = message;
    this.interactions.follow(entry, message);
  }

  /** Completes the reply that shows "thinking…". */
  private complete(entry: Entry, body: Json, uploads: readonly Upload[]): MessageState {
    const original = entry.original!;
    return this.messages.edit(original, body, uploads, (original.message.flags ?? 0) & ~MessageFlags.Loading);
  }

  private post(entry: Entry, body: Json, uploads: readonly Upload[], state: number, wanted: unknown): MessageState {
    const { prepared, user, channel } = entry;
    const ephemeral = (Number(wanted ?? 0) & MessageFlags.Ephemeral) !== 0;
    const flags =
      state |
      (Number(wanted ?? 0) &
        (MessageFlags.Ephemeral |
          MessageFlags.SuppressEmbeds |
          MessageFlags.SuppressNotifications |
          MessageFlags.IsComponentsV2));
    const command = prepared.type === InteractionType.ApplicationCommand;
    const context = entry.kind === 'message-command' || entry.kind === 'user-command';
    return this.messages.create({
      channel,
      author: this.world.users.get(this.world.botId)!,
      body,
      uploads,
      ...(ephemeral && { visibleTo: user.id }),
      extra: {
        flags,
        application_id: this.world.botId,
        webhook_id: this.world.botId,
        ...(command && { type: context ? MessageType.ContextMenuCommand : MessageType.ChatInputCommand }),
        ...(command && {
          interaction: { id: entry.id, type: prepared.type, name: prepared.name, user: apiUser(user) },
        }),
        ...(entry.prepared.source &&
          !entry.prepared.source.visibleTo && {
            type: MessageType.Reply,
            message_reference: { type: 0, channel_id: channel.id, message_id: entry.prepared.source.id },
          }),
        interaction_metadata: {
          id: entry.id,
          type: prepared.type,
          user: apiUser(user),
          authorizing_integration_owners: { '0': channel.guildId ?? '0' },
          ...(command && { name: prepared.name, command_type: 1 }),
          ...(entry.responseType === 5 && { original_response_message_id: entry.original?.id }),
        },
      },
    });
  }

  private callbackResource(entry: Entry, type: number): Json {
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
}
