import { PermissionFlagsBits, type PermissionsBitField } from 'discord.js';
import { UserError } from '../../src/errors.ts';
import type { Translate } from '../../src/languages/index.ts';

/** A person's permissions in the interaction's channel; null outside a guild. */
interface Permitted {
  memberPermissions: Readonly<PermissionsBitField> | null;
}

/** Whether the person has Manage Server; the manager role does not count. */
export const hasManageServer = ({ memberPermissions }: Permitted): boolean =>
  memberPermissions?.has(PermissionFlagsBits.ManageGuild) === true;

/** Throws a {@link UserError} unless the person has Manage Server: the manager role is not enough for everything. */
export function requireManageServer(person: Permitted, t: Translate): void {
  if (!hasManageServer(person)) throw new UserError(t('reply.manageServerOnly'));
}
