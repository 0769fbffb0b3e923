import { GuildMember, PermissionFlagsBits } from 'discord.js';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { Asker } from '../shared/visibility.ts';

/**
 * Throws a {@link UserError} unless the person could ping the role themselves where the alerts go: the bot must not
 * ping where Discord would not let the person ping.
 */
export function requireMention(asker: Asker, roleId: string | null, channelId: string, t: Translate): void {
  if (roleId === null) return;
  const { guild, member, memberPermissions } = asker;
  const channel = guild?.channels.cache.get(channelId);
  const known = member instanceof GuildMember ? member : null;
  // Rights in the channel where the command is used do not apply to another one.
  const elsewhere = channelId === asker.channelId ? null : known?.permissions;
  const permissions = (known && channel?.permissionsFor(known)) ?? elsewhere ?? memberPermissions;
  if (permissions?.has(PermissionFlagsBits.MentionEveryone)) return;
  if (guild?.roles.cache.get(roleId)?.mentionable === true) return;
  throw new UserError(t('subscription.mentionForbidden', { role: `<@&${roleId}>` }));
}
