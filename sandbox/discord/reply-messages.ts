/** The messages of an interaction: its reply and its followups. */
import { InteractionResponseType, InteractionType, MessageFlags, MessageType } from 'discord.js';
import type { MessageState } from './control.ts';
import type { Entry } from './entries.ts';
import type { Interactions } from './interactions.ts';
import type { Upload } from './message-rules.ts';
import type { Messages } from './messages.ts';
import { apiUser } from './objects.ts';
import type { Json } from './validate.ts';
import type { World } from './world.ts';

/** The flags that the bot may choose for a reply. */
const CHOOSABLE_FLAGS =
  MessageFlags.Ephemeral |
  MessageFlags.SuppressEmbeds |
  MessageFlags.SuppressNotifications |
  MessageFlags.IsComponentsV2;

/** See {@link createReplyMessages}. */
export type ReplyMessages = ReturnType<typeof createReplyMessages>;

/** Creates the part that writes the messages of interactions. */
export function createReplyMessages(world: World, interactions: Interactions, messages: Messages) {
  /** Creates a message with `ownFlags` and those of `botFlags` that the bot may choose. */
  function post(
    entry: Entry,
    body: Json,
    uploads: readonly Upload[],
    ownFlags: number,
    botFlags: unknown,
  ): MessageState {
    const { user, channel } = entry;
    const chosen = Number(botFlags ?? 0) & CHOOSABLE_FLAGS;
    const ephemeral = (chosen & MessageFlags.Ephemeral) !== 0;
    return messages.create({
      channel,
      author: world.users.get(world.botId)!,
      body,
      uploads,
      ...(ephemeral && { visibleTo: user.id }),
      extra: replyFields(entry, world.botId, ownFlags | chosen),
    });
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

  return { post, setOriginal, complete };
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
      ...(entry.responseType === InteractionResponseType.DeferredChannelMessageWithSource && {
        original_response_message_id: entry.original?.id,
      }),
    },
  };
}
