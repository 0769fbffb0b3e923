import type { Store } from './tables.ts';

/** Erases everything that is stored about a server, in steps that let others write in between. */
export async function eraseServer({ erasure }: Pick<Store, 'erasure'>, guildId: string): Promise<void> {
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
