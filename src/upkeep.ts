import type { Logger } from 'pino';
import { type Clock, DAY, HOUR, MINUTE } from './domain/clock.ts';
import type { RetentionCursor } from './domain/retention.ts';
import type { Store } from './store/store.ts';

/** How long transfers and guilds that removed the bot are remembered. */
const MEMORY_MS = 30 * DAY;

/** Calls `look` every minute and deletes old data every hour; returns a stop function. */
export function startUpkeep(
  store: Store,
  clock: Clock,
  log: Logger,
  { look, ...removal }: { look(): void } & Parameters<typeof eraseRemoved>[2],
): () => void {
  let stopDeleting = () => {};
  const deleteOld = async () => {
    try {
      await finishErasures(store);
      await eraseRemoved(store, clock.now() - MEMORY_MS, removal);
      let at: RetentionCursor | null = null;
      do at = await store.retention.forget(clock.now() - MEMORY_MS, at);
      while (at);
    } catch (error) {
      log.warn({ err: error }, 'cannot delete old data: trying again in an hour');
    }
    stopDeleting = clock.after(HOUR, () => void deleteOld());
  };
  const lookAgain = () => {
    look();
    stopLooking = clock.after(MINUTE, lookAgain);
  };
  let stopLooking = clock.after(MINUTE, lookAgain);
  void deleteOld();
  return () => {
    stopDeleting();
    stopLooking();
  };
}

/** Erases everything that is stored about a guild, in steps between which others can write. */
export async function eraseGuild({ erasure }: Pick<Store, 'erasure'>, guildId: string): Promise<void> {
  await erasure.begin(guildId);
  await eraseRest({ erasure }, guildId);
}

/** Finishes the erasures that an earlier process began. */
export async function finishErasures({ erasure }: Pick<Store, 'erasure'>): Promise<void> {
  for (const guildId of await erasure.begun()) await eraseRest({ erasure }, guildId);
}

async function eraseRest({ erasure }: Pick<Store, 'erasure'>, guildId: string): Promise<void> {
  let at = await erasure.step(guildId);
  while (at) at = await erasure.step(guildId, at);
}

/**
 * Erases what is stored about guilds that removed the bot before a time; calls `onBegun` for each. `isMember` returns
 * whether the bot is in a guild after all; null if that is unknown now, which leaves the guild for the next try.
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
