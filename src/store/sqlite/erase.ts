import type { Store } from './tables.ts';

/** Erases everything that is stored about a guild, in steps that let others write in between. */
export async function eraseGuild({ erasure }: Pick<Store, 'erasure'>, guildId: string): Promise<void> {
  await erasure.begin(guildId);
  await eraseRest({ erasure }, guildId);
}

/** Ends what an earlier process began to erase. */
export async function eraseBegun({ erasure }: Pick<Store, 'erasure'>): Promise<void> {
  for (const guildId of await erasure.begun()) await eraseRest({ erasure }, guildId);
}

async function eraseRest({ erasure }: Pick<Store, 'erasure'>, guildId: string): Promise<void> {
  let at = await erasure.step(guildId);
  while (at) at = await erasure.step(guildId, at);
}

/**
 * Erases what is stored about guilds that removed the bot before a time, and tells of each when it is begun. `isMember`
 * asks whether the bot is there after all; null: that cannot be known now, and another try comes.
 */
export async function eraseRemoved(
  { erasure }: Pick<Store, 'erasure'>,
  before: number,
  {
    isMember,
    onBegun,
  }: { isMember(guildId: string): Promise<boolean | null>; onBegun(guildId: string): Promise<void> },
): Promise<void> {
  for (const guildId of await erasure.removed(before)) {
    if ((await isMember(guildId)) !== false || !(await erasure.beginRemoved(guildId, before))) continue;
    await onBegun(guildId);
    await eraseRest({ erasure }, guildId);
  }
}
