/** Finds what an action names by id. Each function throws {@link NotPossible} when it does not exist. */
import type { Core } from './core.ts';
import { NotPossible } from './errors.ts';
import type { Channel, Guild, Member, Role, User } from './world.ts';

/** These return what has an ID, and throw {@link NotPossible} if nothing does. */
export function user(core: Core, id: string): User {
  const found = core.world.users.get(id);
  if (!found) throw new NotPossible(`There is no user ${id}.`);
  return found;
}

export function guild(core: Core, id: string): Guild {
  const found = core.world.guilds.get(id);
  if (!found) throw new NotPossible(`There is no server ${id}.`);
  return found;
}

export function channel(core: Core, id: string): Channel {
  const found = core.world.channels.get(id);
  if (!found) throw new NotPossible(`There is no channel ${id}.`);
  return found;
}

export function role(core: Core, id: string): Role {
  const found = core.world.role(id);
  if (!found) throw new NotPossible(`There is no role ${id}.`);
  return found;
}

export function member(core: Core, guildId: string, userId: string): Member {
  const found = guild(core, guildId).members.get(userId);
  if (!found) throw new NotPossible(`User ${userId} is not a member of server ${guildId}.`);
  return found;
}
