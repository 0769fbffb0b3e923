import { type ChatInputCommandInteraction, type MessageContextMenuCommandInteraction, MessageFlags } from 'discord.js';
import { type Clock, inTime } from '../domain/clock.ts';
import { accessOf, installedHere } from './authority.ts';
import type { Boundary, Outcome } from './boundary.ts';
import type { AnyCommand, CommandUse, InteractionContext, MessageUse } from './command.ts';
import { acknowledge, replyWith, whole } from './reply.ts';

/** How long a public command may run before its reply is deferred; Discord allows 3 s. */
const DEFER_AFTER_MS = 1_000;

/** Returns the handlers of slash commands and of the commands in a message's menu. */
export function commandHandlers<Services extends object>(
  byName: ReadonlyMap<string, AnyCommand<Services & InteractionContext>>,
  { run, show, openForm }: Boundary<Services>,
  after: Clock['after'],
) {
  async function command(interaction: ChatInputCommandInteraction): Promise<void> {
    const found = byName.get(interaction.commandName);
    const isAnywhere = found && !('kind' in found) && found.anywhere;
    if (!isAnywhere && (!interaction.inGuild() || !installedHere(interaction))) {
      return replyWith(interaction, 'dispatcher.serverOnly');
    }
    if (!found || 'kind' in found) return replyWith(interaction, 'dispatcher.unknownCommand');
    // Outside of a guild, `context.isOutside` keeps the command from reading the guild's ID.
    const used = interaction as CommandUse;
    const access = accessOf(found, used);
    const formOf = found.opens?.[used.options.getSubcommand(false) ?? ''];
    if (formOf) return openForm(used, access, (context) => formOf(used, context));
    const work = (isPublic: boolean) => run(used, access, isPublic, (context) => found.execute(used, context));
    if (found.public) return publicly(used, work(true));
    await acknowledge(used, () => used.deferReply({ flags: MessageFlags.Ephemeral }));
    await show(used, (await work(false)).shown);
  }

  /**
   * Replies in the channel, but shows a refusal only to the person. A deferred reply cannot change between public and
   * private, so the command gets a moment before it is deferred.
   */
  async function publicly(used: CommandUse, work: Promise<Outcome>): Promise<void> {
    const early = await inTime(work, DEFER_AFTER_MS, { after });
    const refusal = ({ shown }: Outcome) => ({ ...whole(shown), flags: MessageFlags.Ephemeral }) as const;
    if (early?.failed) return acknowledge(used, () => used.reply(refusal(early)));
    await acknowledge(used, () => used.deferReply());
    const reply = early ?? (await work);
    if (!reply.failed) return show(used, reply.shown);
    const isTakenBack = await used.deleteReply().then(
      () => true,
      () => false,
    );
    // A public refusal is better than none.
    await (isTakenBack ? used.followUp(refusal(reply)) : show(used, reply.shown));
  }

  async function messageCommand(interaction: MessageContextMenuCommandInteraction): Promise<void> {
    const found = byName.get(interaction.commandName);
    if (!interaction.inGuild() || !installedHere(interaction)) return replyWith(interaction, 'dispatcher.serverOnly');
    if (!found || !('kind' in found)) return replyWith(interaction, 'dispatcher.unknownCommand');
    const used: MessageUse = interaction;
    await acknowledge(used, () => used.deferReply({ flags: MessageFlags.Ephemeral }));
    const reply = await run(used, found.access, false, (context) => found.execute(used, context));
    await show(used, reply.shown);
  }

  return { command, messageCommand };
}
