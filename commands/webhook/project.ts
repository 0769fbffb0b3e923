import type { CommandContext } from '../../src/discord/command.ts';
import { UserError } from '../../src/errors.ts';
import type { Notification } from '../../src/upstream/notification.ts';
import { off } from '../parts/failure.ts';

/** The project that a server may manage; throws a {@link UserError} when there is none. */
export function project({ t, notification, settings }: CommandContext, guildId: string): Notification {
  if (!notification) {
    throw off(
      t,
      'notification',
      'NOTIFICATION_URL',
      'NOTIFICATION_PROJECT_ID',
      'NOTIFICATION_API_KEY',
      'NOTIFICATION_API_SECRET',
    );
  }
  if (settings.operatorGuildIds.includes(guildId)) return notification;
  throw new UserError(
    'This server has no notification project of its own, and the bot’s own project is managed from its operator’s ' +
      'servers only. The person who runs this bot can allow it by naming this server’s id ' +
      `(\`${guildId}\`) in \`OPERATOR_GUILD_IDS\`.`,
  );
}
