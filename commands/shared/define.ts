import { ApplicationIntegrationType, InteractionContextType, SlashCommandBuilder } from 'discord.js';

/**
 * A command for guilds that have the bot. No default permission is set: Discord would hide the command from the
 * manager role; who may use what is checked when it is used.
 */
export function define(name: string, description: string): SlashCommandBuilder {
  return new SlashCommandBuilder()
    .setName(name)
    .setDescription(description)
    .setContexts(InteractionContextType.Guild)
    .setIntegrationTypes(ApplicationIntegrationType.GuildInstall);
}
