import { type APIModalInteractionResponseCallbackData, MessageFlags } from 'discord.js';
import type { Boundary } from './boundary.ts';
import type { Access, ButtonUse, CommandUse, InteractionContext, MenuUse } from './command.ts';
import { whole } from './reply.ts';

/** Opens a form, or replies why it cannot. */
export async function openForm<Services extends object>(
  { run }: Boundary<Services>,
  used: CommandUse | MenuUse | ButtonUse,
  access: Access,
  formOf: (context: Services & InteractionContext) => Promise<APIModalInteractionResponseCallbackData>,
): Promise<void> {
  const opened = await run(used, access, false, async (context) => {
    await used.showModal(await formOf(context));
    return {};
  });
  if (opened.failed) await used.reply({ ...whole(opened.shown), flags: MessageFlags.Ephemeral });
}
