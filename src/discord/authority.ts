import { type BaseInteraction, PermissionFlagsBits } from 'discord.js';
import type { GuildSettings } from '../domain/guild.ts';
import type { Replying } from './answer.ts';
import type { Access, AutocompleteUse, Command, CommandUse } from './command.ts';

/**
 * Whether the member may configure the bot here: Manage Server (Administrator and the owner have it), or the guild's
 * manager role.
 */
export function mayManage(interaction: Replying | AutocompleteUse, { managerRole }: GuildSettings): boolean {
  // Discord always sends these; stand-ins may not.
  if (interaction.memberPermissions?.has(PermissionFlagsBits.ManageGuild)) return true;
  if (managerRole === null || managerRole === interaction.guildId) return false;
  // As they were sent: the library shows only roles that it was told of, which takes a moment after a start.
  const { roles, _roles = roles } = interaction.member as { roles: unknown; _roles?: unknown };
  return Array.isArray(_roles) && _roles.includes(managerRole);
}

/** What the command, or its subcommand, asks of a member. */
export function accessOf({ access }: Pick<Command, 'access'>, interaction: CommandUse | AutocompleteUse): Access {
  if (typeof access === 'string') return access;
  return access[interaction.options.getSubcommand(false) ?? ''] ?? 'manage';
}

/** Discord names who installed the app; without this guild among them the bot is not a member here. */
export function installedHere({ authorizingIntegrationOwners }: BaseInteraction): boolean {
  const { guildId, userId } = authorizingIntegrationOwners;
  return userId === null || guildId !== null;
}
