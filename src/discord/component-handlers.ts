import {
  type APIModalInteractionResponseCallbackData,
  type ButtonInteraction,
  MessageFlags,
  type ModalSubmitInteraction,
  type StringSelectMenuInteraction,
} from 'discord.js';
import type { Boundary } from './boundary.ts';
import type { AnyCommand, ButtonUse, FormButton, FormMenu, FormUse, InteractionContext, MenuUse } from './command.ts';
import { acknowledge, replyWith } from './reply.ts';

/** Returns the handlers of buttons and menus, and of submitted forms. */
export function componentHandlers<Services extends object>(
  byName: ReadonlyMap<string, AnyCommand<Services & InteractionContext>>,
  { run, openForm, showResult }: Boundary<Services>,
) {
  async function component(interaction: ButtonInteraction | StringSelectMenuInteraction): Promise<void> {
    const [name = '', action = '', ...args] = interaction.customId.split(':');
    const command = byName.get(name);
    const found = interaction.isButton() ? own(command?.buttons, action) : own(command?.menus, action);
    const isAnywhere = found && 'anywhere' in found && found.anywhere;
    if (!isAnywhere && !interaction.inGuild()) return replyWith(interaction, 'dispatcher.serverOnly');
    if (!found) return replyWith(interaction, 'dispatcher.oldButton');
    // Outside of a guild, `context.isOutside` keeps the handler from reading the guild's ID.
    const used = interaction as ButtonUse | MenuUse;
    if ('form' in found) return openForm(used, found.access, (context) => formOf(found, used, args, context));
    const updates = found.response === 'update' && isOwn(used);
    await acknowledge(used, () => (updates ? used.deferUpdate() : used.deferReply({ flags: MessageFlags.Ephemeral })));
    const isPublic = updates && !used.message.flags.has(MessageFlags.Ephemeral);
    const reply = await run(used, found.access, isPublic, (context) =>
      'press' in found
        ? found.press(used as ButtonUse, args, context)
        : found.choose(used as MenuUse, args, (used as MenuUse).values, context),
    );
    await showResult(used, reply, updates);
  }

  async function form(interaction: ModalSubmitInteraction): Promise<void> {
    const [name = '', action = '', ...args] = interaction.customId.split(':');
    const command = byName.get(name);
    const found = command && 'forms' in command ? own(command.forms, action) : undefined;
    if (!interaction.inGuild()) return replyWith(interaction, 'dispatcher.serverOnly');
    if (!found) return replyWith(interaction, 'dispatcher.oldButton');
    const used: FormUse = interaction;
    const updates = found.response === 'update' && used.isFromMessage() && isOwn(used);
    await acknowledge(used, () =>
      updates && used.isFromMessage() ? used.deferUpdate() : used.deferReply({ flags: MessageFlags.Ephemeral }),
    );
    const reply = await run(used, found.access, false, (context) => found.submit(used, args, context));
    await showResult(used, reply, updates);
  }

  return { component, form };
}

/** Looks up own properties only: a custom ID may contain `constructor`, which every object inherits. */
function own<T>(record: Record<string, T> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** The form that a button or a menu opens. */
function formOf<Context>(
  found: FormButton<Context> | FormMenu<Context>,
  used: ButtonUse | MenuUse,
  args: string[],
  context: Context,
): Promise<APIModalInteractionResponseCallbackData> {
  return used.isButton()
    ? (found as FormButton<Context>).form(used, args, context)
    : (found as FormMenu<Context>).form(used, args, used.values, context);
}

/** Whether the message with the button is the reply to this person's own command; unknown counts as own. */
function isOwn(interaction: ButtonUse | MenuUse | FormUse): boolean {
  const asker = interaction.message?.interactionMetadata?.user.id;
  return asker === undefined || asker === interaction.user.id;
}
