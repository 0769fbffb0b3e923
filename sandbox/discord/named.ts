/** Finds what an action names by id. Each function throws {@link NotPossible} when it does not exist. */
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import type { Channel, Guild, Member, Role, User } from './world.ts';

function existing<T>(found: T | undefined, what: string): T {
  if (found === undefined) throw new NotPossible(`There is no ${what}.`);
  return found;
}

export const user = (core: Core, id: string): User => existing(core.world.users.get(id), `user ${id}`);
export const guild = (core: Core, id: string): Guild => existing(core.world.guilds.get(id), `server ${id}`);
export const channel = (core: Core, id: string): Channel => existing(core.world.channels.get(id), `channel ${id}`);
export const role = (core: Core, id: string): Role => existing(core.world.role(id), `role ${id}`);
export const member = (core: Core, guildId: string, userId: string): Member =>
  existing(guild(core, guildId).members.get(userId), `member ${userId} of server ${guildId}`);
