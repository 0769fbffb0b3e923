import type { Logger } from 'pino';
import { type Clock, DAY, HOUR, MINUTE } from './domain/clock.ts';
import type { RetentionCursor } from './domain/retention.ts';
import type { Store } from './store/store.ts';

/** What was seen is remembered for this long. */
const MEMORY_MS = 30 * DAY;

/** Looks each minute and forgets each hour what is old; returns a stop function. */
export function startUpkeep(
  store: Store,
  clock: Clock,
  log: Logger,
  { look, ...removal }: { look(): void } & Parameters<typeof eraseRemoved>[2],
): () => void {
  let stopPruning = () => {};
  const prune = async () => {
    try {
      await eraseBegun(store);
      await eraseRemoved(store, clock.now() - MEMORY_MS, removal);
      let at: RetentionCursor | null = null;
      do at = await store.retention.forget(clock.now() - MEMORY_MS, at);
      while (at);
    } catch (error) {
      log.warn({ err: error }, 'pruning paused');
    }
    stopPruning = clock.after(HOUR, () => void prune());
  };
  const lookAgain = () => {
    look();
    stopLooking = clock.after(MINUTE, lookAgain);
  };
  let stopLooking = clock.after(MINUTE, lookAgain);
  void prune();
  return () => {
    stopPruning();
    stopLooking();
  };
}

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
