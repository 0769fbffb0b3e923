import {
  type ButtonInteraction,
  type ChatInputCommandInteraction,
  DiscordAPIError,
  type MessageContextMenuCommandInteraction,
  MessageFlags,
  type ModalSubmitInteraction,
  RESTJSONErrorCodes,
  type StringSelectMenuInteraction,
} from 'discord.js';
import { languageOf, translator } from '../languages/index.ts';
import type { ButtonUse, CommandUse, FormUse, MenuUse, MessageUse, Reply } from './command.ts';

/** Interactions that get a reply. */
export type Replying = CommandUse | MessageUse | ButtonUse | MenuUse | FormUse;
/** Interactions before it is known that they are from a guild. */
type Incoming =
  | ChatInputCommandInteraction
  | MessageContextMenuCommandInteraction
  | ButtonInteraction
  | StringSelectMenuInteraction
  | ModalSubmitInteraction;

/**
 * Defers the reply. After a broken connection it tries once more; "already acknowledged" then means that Discord
 * accepted the first try.
 */
export async function acknowledge(interaction: Replying, defer: () => Promise<unknown>): Promise<void> {
  try {
    await defer().catch((error: unknown) => (error instanceof DiscordAPIError ? Promise.reject(error) : defer()));
  } catch (error) {
    const known = error instanceof DiscordAPIError ? error.code : null;
    if (known !== RESTJSONErrorCodes.InteractionHasAlreadyBeenAcknowledged) throw error;
    interaction.deferred = true;
  }
}

/** Replies with one fixed sentence, in private. */
export async function replyWith(
  interaction: Incoming,
  key: 'dispatcher.serverOnly' | 'dispatcher.unknownCommand' | 'dispatcher.oldButton',
): Promise<void> {
  const content = translator(languageOf(interaction.locale, interaction.guildLocale))(key);
  await interaction.reply({ content, flags: MessageFlags.Ephemeral });
}

/** A complete message: parts that the reply leaves out are emptied. */
export function whole({ content, embeds = [], components = [], files = [] }: Reply) {
  const attached = files.map(({ name, data }) => ({ name, attachment: Buffer.from(data) }));
  return { content: content ?? '', embeds, components, ...(attached.length > 0 ? { files: attached } : {}) };
}
