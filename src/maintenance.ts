import type { Logger } from 'pino';
import {
  addPause,
  type Clock,
  DAY,
  HOUR,
  MINUTE,
  type Pause,
  pausesUntil,
  repeat,
  uptimeSince,
} from './domain/clock.ts';
import type { Sender } from './domain/sender.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Store } from './store/store.ts';

/** How long transfers are kept: the statement of a month needs all of it, and may be some days late. */
const RETENTION_MS = 35 * DAY;
const REMOVED_GUILD_RETENTION_MS = 30 * DAY;
/** Maximum of the past that is deleted per hour: a clock that is ahead must not delete everything. */
const MAX_PRUNED_MS = DAY;
const AUDIT_RETENTION_MS = 365 * DAY;

/** Longer than the 49 hours in which a repeat may come: it is recognized even if somebody subscribed meanwhile. */
const UNMATCHED_RETENTION_MS = 3 * DAY;
/** Recognizes repeats as above. Strangers can cause any number of transfers of uncataloged tokens. */
const WORTHLESS_RETENTION_MS = 3 * DAY;
/** While the disk is almost full, they are kept this long, and at most this many are deleted per minute. */
const WORTHLESS_LOW_MS = HOUR;
const MAX_WORTHLESS = 50_000;

interface MaintenanceOptions extends RemovalOptions {
  store: Store;
  /** Runs every minute. */
  look(): void;
  /** Since when the bot could work for this many milliseconds. */
  since(ms: number): number;
  isDiskLow(): boolean;
  metrics: Pick<Metrics, 'forgotten'>;
  clock: Clock;
}

/** Returns what stops it. */
export function startMaintenance(options: MaintenanceOptions): () => void {
  const { store, look, since, isDiskLow, metrics, clock, log } = options;
  let isStopped = false;
  let unmatchedUntil = 0;

  async function deleteOld(): Promise<void> {
    const { retention, audit, projects } = store;
    await finishErasures(store);
    const begun = await retention.prunedBefore();
    const before = Math.min(since(RETENTION_MS), begun === null ? Number.POSITIVE_INFINITY : begun + MAX_PRUNED_MS);
    await eraseRemoved(before + RETENTION_MS - REMOVED_GUILD_RETENTION_MS, options);
    await inSteps(0, (after) => retention.pruneTransfers(before, after));
    await inSteps(0, (from) => retention.pruneMessages(before, from));
    while (!isStopped && (await retention.pruneRest(before)));
    if (isStopped) return;
    await retention.setPrunedBefore(before);
    log.debug({ before: new Date(before) }, 'deleted old data');
    const unmatchedBefore = since(UNMATCHED_RETENTION_MS);
    for (const { scope } of await projects.all())
      await inSteps(unmatchedUntil, (from) => retention.pruneUnmatched(scope, from, unmatchedBefore));
    unmatchedUntil = unmatchedBefore;
    await pruneWorthless('age', since(WORTHLESS_RETENTION_MS));
    // One step per hour: a clock that is wrong for a while does not delete all entries.
    await audit.prune(since(AUDIT_RETENTION_MS));
  }

  async function inSteps(first: number, step: (from: number) => Promise<number | null>): Promise<void> {
    for (let from: number | null = first; from !== null && !isStopped; ) from = await step(from);
  }

  async function pruneWorthless(reason: 'age' | 'disk', before: number): Promise<void> {
    const isLow = reason === 'disk';
    let total = 0;
    await inSteps(0, async (after) => {
      const { deleted, next } = await store.retention.pruneWorthless(before, after, isLow);
      total += deleted;
      return isLow && total >= MAX_WORTHLESS ? null : next;
    });
    if (total === 0) return;
    metrics.forgotten.inc({ reason }, total);
    if (isLow) log.warn({ transfers: total }, 'disk almost full: deleted the oldest transfers of uncataloged tokens');
  }

  async function makeRoom(): Promise<void> {
    if (isDiskLow()) await pruneWorthless('disk', since(WORTHLESS_LOW_MS));
  }

  const attempt = (work: () => Promise<void>, warn: (err: unknown) => void): Promise<void> =>
    work().catch((error: unknown) => {
      if (!isStopped) warn(error);
    });

  void attempt(
    () => finishErasures(store),
    (err) => log.warn({ err }, 'cannot finish erasing a server'),
  );
  const stopDeleting = repeat(clock, HOUR, () =>
    attempt(deleteOld, (err) => log.warn({ err }, 'cannot delete old data: trying again in an hour')),
  );
  const stopLooking = repeat(clock, MINUTE, () => {
    look();
    return attempt(makeRoom, (err) => log.warn({ err }, 'cannot delete transfers of uncataloged tokens'));
  });
  return () => {
    isStopped = true;
    stopDeleting();
    stopLooking();
  };
}

/** In steps between which others can write. `onBegun` ends the guild's receiver URL, which would cause new rows. */
export async function eraseGuild(
  { erasure }: Pick<Store, 'erasure'>,
  guildId: string,
  onBegun: () => Promise<void>,
): Promise<void> {
  await erasure.begin(guildId);
  await onBegun();
  await eraseRest({ erasure }, guildId);
}

async function finishErasures({ erasure }: Pick<Store, 'erasure'>): Promise<void> {
  for (const guildId of await erasure.begun()) await eraseRest({ erasure }, guildId);
}

async function eraseRest({ erasure }: Pick<Store, 'erasure'>, guildId: string): Promise<void> {
  while (await erasure.step(guildId));
}

interface RemovalOptions {
  store: Pick<Store, 'erasure'>;
  sender: Pick<Sender, 'isMember'>;
  membership: { guildChanged(guildId: string): void };
  /** Ends the URLs of guilds that are being erased. */
  tokens: { refresh(): Promise<void> };
  log: Logger;
}

async function eraseRemoved(
  before: number,
  { store: { erasure }, sender, membership, tokens, log }: RemovalOptions,
): Promise<void> {
  for (const guildId of await erasure.removed(before)) {
    const isMember = await sender.isMember(guildId);
    if (isMember) membership.guildChanged(guildId);
    // null: that is unknown now, which leaves the guild for the next try.
    if (isMember !== false || !(await erasure.begin(guildId, before))) continue;
    log.info({ guild: guildId }, 'erasing the data of a server that removed the bot 30 days ago');
    await tokens.refresh();
    await eraseRest({ erasure }, guildId);
  }
}

/** A jump or a stop for longer than this is a pause. */
const PAUSE_MS = 2 * MINUTE;
const LOGGED_MS = HOUR;
/** More than a year of daily restarts. */
const MAX_PAUSES = 500;

interface UptimeOptions {
  store: Pick<Store, 'uptime'>;
  metrics: Pick<Metrics, 'clockJumps'>;
  clock: Clock;
  log: Logger;
}

/** Deadlines and deletion of old data count only the periods in which the bot could work. */
export async function openUptime({ store, metrics, clock, log }: UptimeOptions) {
  const { latest, pauses: known } = await store.uptime.read();
  let pauses: Pause[] = known;
  /** Wall-clock time minus elapsed time, which changes only when the clock jumps. */
  let offset = clock.now() - clock.elapsed();
  let tickedAt = clock.elapsed();
  if (latest !== null)
    note(latest, clock.now(), (times, by) => {
      if (by > 0)
        log.warn(times, 'clock is ahead of the latest time in the database: the bot was stopped, or it is wrong');
      else log.warn(times, 'clock is behind the latest time in the database: check the time of this machine');
    });

  function note(expected: number, now: number, logJump: (times: object, by: number) => void): void {
    const by = now - expected;
    const hours = Math.round((by / HOUR) * 10) / 10;
    if (Math.abs(by) > LOGGED_MS) {
      logJump({ now: new Date(now).toISOString(), expected: new Date(expected).toISOString(), hours }, by);
    }
    if (by > PAUSE_MS) pauses = addPause(pauses, { from: expected, until: now }).slice(-MAX_PAUSES);
    if (by < -PAUSE_MS) pauses = pausesUntil(pauses, now);
  }

  function checked(): number {
    const [now, elapsed] = [clock.now(), clock.elapsed()];
    note(offset + elapsed, now, (times) => {
      metrics.clockJumps.inc();
      log.warn(times, 'clock jumped: check the time of this machine');
    });
    offset = now - elapsed;
    return now;
  }

  return {
    /** `canSend`: in the last minute. */
    async tick(canSend: boolean): Promise<void> {
      const now = checked();
      const elapsed = clock.elapsed();
      if (!canSend) pauses = addPause(pauses, { from: now - (elapsed - tickedAt), until: now });
      tickedAt = elapsed;
      try {
        await store.uptime.record(now, pauses);
      } catch (error) {
        log.warn({ err: error }, 'cannot record that the bot works');
      }
    },
    since: (ms: number): number => uptimeSince(checked(), ms, pauses),
  };
}
