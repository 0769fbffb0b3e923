import type { Logger } from 'pino';
import { type Clock, DAY, HOUR, MINUTE } from '../domain/clock.ts';
import { repeat } from '../domain/repeat.ts';
import type { Cursor, Store } from '../store/store.ts';

/** How long transfers and guilds that removed the bot are kept. */
const RETENTION_MS = 30 * DAY;
/** Maximum of the past that is deleted per hour: a clock that is ahead must not delete everything. */
const MAX_PRUNED_MS = DAY;
/** How long audit entries are kept. */
const AUDIT_RETENTION_MS = 365 * DAY;

/**
 * How long a server's own project's transfers that concern no subscription are kept: longer than the 49 hours in
 * which a delivery may be repeated, so that a repeat is recognized even if somebody subscribed meanwhile.
 */
const UNMATCHED_RETENTION_MS = 3 * DAY;

/**
 * Calls `look` every minute and deletes old data every hour, first after an hour; returns a stop function. `since`
 * returns the time since which the bot could work for this many milliseconds.
 */
export function startMaintenance(
  store: Store,
  clock: Clock,
  log: Logger,
  { look, since, ...removal }: { look(): void; since(ms: number): number } & Parameters<typeof eraseRemoved>[2],
): () => void {
  let isStopped = false;
  let unmatchedUntil = 0;

  async function deleteOld(): Promise<void> {
    await finishErasures(store);
    const before = await pruneBefore(store, since(RETENTION_MS));
    await eraseRemoved(store, before, removal);
    let at: Cursor<'retention'> | null = null;
    do at = await store.retention.prune(before, at);
    while (at && !isStopped);
    if (isStopped) return;
    await store.retention.setPrunedBefore(before);
    log.debug({ before: new Date(before) }, 'deleted old data');
    const unmatchedBefore = since(UNMATCHED_RETENTION_MS);
    await pruneUnmatched(store, unmatchedUntil, unmatchedBefore);
    unmatchedUntil = unmatchedBefore;
    // One step per hour: a clock that is wrong for a while does not delete all entries.
    await store.audit.prune(since(AUDIT_RETENTION_MS));
  }

  async function tryToDelete(): Promise<void> {
    try {
      await deleteOld();
    } catch (error) {
      if (!isStopped) log.warn({ err: error }, 'cannot delete old data: trying again in an hour');
    }
  }

  void finishErasures(store).catch((error: unknown) => {
    if (!isStopped) log.warn({ err: error }, 'cannot finish erasing a server');
  });
  const stopDeleting = repeat(clock, HOUR, tryToDelete);
  const stopLooking = repeat(clock, MINUTE, look);
  return () => {
    isStopped = true;
    stopDeleting();
    stopLooking();
  };
}

/** The time before which data is deleted now: not much later than the last one. */
async function pruneBefore({ retention }: Pick<Store, 'retention'>, wanted: number): Promise<number> {
  const begun = await retention.prunedBefore();
  return begun === null ? wanted : Math.min(wanted, begun + MAX_PRUNED_MS);
}

/** Deletes transfers of servers' own projects that concern no subscription and were seen in this period. */
async function pruneUnmatched({ retention }: Pick<Store, 'retention'>, since: number, before: number): Promise<void> {
  let at = await retention.pruneUnmatched(since, before, null);
  while (at) at = await retention.pruneUnmatched(since, before, at);
}

/**
 * Erases everything that is stored about a guild, in steps between which others can write. `onBegun`: what causes new
 * rows is erased, so its receiver URL must no longer be accepted.
 */
export async function eraseGuild(
  { erasure }: Pick<Store, 'erasure'>,
  guildId: string,
  onBegun: () => Promise<void>,
): Promise<void> {
  await erasure.begin(guildId);
  await onBegun();
  await eraseRest({ erasure }, guildId);
}

/** Finishes the erasures that an earlier process began. */
async function finishErasures({ erasure }: Pick<Store, 'erasure'>): Promise<void> {
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
