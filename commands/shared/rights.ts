import { PermissionFlagsBits } from 'discord.js';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';
import type { Asker } from './visibility.ts';

/** Whether the person has Manage Server; the manager role does not count. */
export const hasManageServer = ({ memberPermissions }: Pick<Asker, 'memberPermissions'>): boolean =>
  memberPermissions?.has(PermissionFlagsBits.ManageGuild) === true;

/** Throws a {@link UserError} unless the person has Manage Server: the manager role is not enough for everything. */
export function requireManageServer(asker: Pick<Asker, 'memberPermissions'>, t: Translate): void {
  if (!hasManageServer(asker)) throw new UserError(t('reply.manageServerOnly'));
}
