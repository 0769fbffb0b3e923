import { type BaseInteraction, PermissionFlagsBits } from 'discord.js';
import type { GuildSettings } from '../domain/guild.ts';
import type { Access, AutocompleteUse, Command, CommandUse } from './command.ts';
import type { Replying } from './reply.ts';

/**
 * Whether the member may configure the bot here: with Manage Server (which administrators and the owner have) or the
 * guild's manager role.
 */
export function mayManage(interaction: Replying | AutocompleteUse, { managerRole }: GuildSettings): boolean {
  // Discord always sends these; stand-ins may not.
  if (interaction.memberPermissions?.has(PermissionFlagsBits.ManageGuild)) return true;
  if (managerRole === null || managerRole === interaction.guildId) return false;
  // The roles as Discord sent them: the library hides roles that it has not received yet after a start.
  const { roles, _roles = roles } = interaction.member as { roles: unknown; _roles?: unknown };
  return Array.isArray(_roles) && _roles.includes(managerRole);
}

/** What access the command or its subcommand requires. */
export function accessOf({ access }: Pick<Command, 'access'>, interaction: CommandUse | AutocompleteUse): Access {
  if (typeof access === 'string') return access;
  return access[interaction.options.getSubcommand(false) ?? ''] ?? 'manage';
}

/** Discord lists who installed the app. If this guild is not listed, the bot is not a member of it. */
export function installedHere({ authorizingIntegrationOwners }: BaseInteraction): boolean {
  const { guildId, userId } = authorizingIntegrationOwners;
  return userId === null || guildId !== null;
}
