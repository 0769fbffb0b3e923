import { ApplicationIntegrationType, InteractionContextType, SlashCommandBuilder } from 'discord.js';
import type { CommandUse, Reply } from '../../src/discord/command.ts';

/**
 * A command for guilds that have the bot. No default permission is set: Discord would hide the command from the manager
 * role. Access is checked when a command is used.
 */
export function define(name: string, description: string): SlashCommandBuilder {
  return new SlashCommandBuilder()
    .setName(name)
    .setDescription(description)
    .setContexts(InteractionContextType.Guild)
    .setIntegrationTypes(ApplicationIntegrationType.GuildInstall);
}

/** A command also for people who installed the app for themselves: in direct messages and guilds without the bot. */
export function defineAnywhere(name: string, description: string): SlashCommandBuilder {
  return define(name, description)
    .setContexts(InteractionContextType.Guild, InteractionContextType.BotDM, InteractionContextType.PrivateChannel)
    .setIntegrationTypes(ApplicationIntegrationType.GuildInstall, ApplicationIntegrationType.UserInstall);
}

type Execute<Context> = (interaction: CommandUse, context: Context) => Promise<Reply>;

/** A command's `execute`, which runs the handler of the chosen subcommand. */
export function bySubcommand<Context>(handlers: Record<string, Execute<Context>>): Execute<Context> {
  return async (interaction, context) => {
    const name = interaction.options.getSubcommand();
    const handler = handlers[name];
    if (!handler) throw new Error(`no subcommand ${name}`);
    return handler(interaction, context);
  };
}
