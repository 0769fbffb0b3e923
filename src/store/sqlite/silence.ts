import type { Database } from 'better-sqlite3';
import type { Notice } from '../../domain/batch.ts';
import { BUSY, deservesNotice, isSilent, type Silence } from '../../domain/silence.ts';
import { LABEL_OF_SUBSCRIPTION } from '../sql/subscription-rows.ts';
import { noticeWriter } from './notices.ts';
import { scopeLookUp } from './projects.ts';

/** Reports of silence. */
export function silenceTable(db: Database) {
  const notices = noticeWriter(db);
  const markReported = db.prepare<[number, number]>(
    'UPDATE activity_stats SET silence_reported_at = ? WHERE subscription_id = ? AND silence_reported_at IS NULL',
  );
  const report = db.transaction((notice: Notice, subscriptions: number[]) => {
    const reported = subscriptions.filter((id) => markReported.run(notice.now, id).changes === 1);
    if (reported.length > 0) notices.write(notice);
    return reported.length > 0;
  });
  return { report: (notice: Notice, subscriptions: number[]): boolean => report.immediate(notice, subscriptions) };
}

type Busy = Omit<Silence, 'feedAt'>;

/** Finds busy addresses, by their stats, and lets the domain decide which of them have gone quiet. */
export function silenceReader(db: Database) {
  const busy = `SELECT id AS subscription, guild_id AS guildId, channel_id AS channelId, address,
       ${LABEL_OF_SUBSCRIPTION} AS label, muted_until AS mutedUntil, last_event_at AS lastEventAt, gap_ms AS gapMs
     FROM activity_stats JOIN subscriptions ON id = subscription_id
     WHERE paused = 0 AND events >= @events AND gap_ms <= @gapMs`;
  const ofGuild = db.prepare<typeof BUSY & { guildId: string }, Busy>(
    `${busy} AND guild_id = @guildId ORDER BY last_event_at`,
  );
  const unreported = db.prepare<typeof BUSY, Busy>(
    `${busy} AND watch_silence = 1 AND silence_reported_at IS NULL ORDER BY id`,
  );
  const scopeOf = scopeLookUp(db);
  const feedAt = db
    .prepare<[number], number>('SELECT seen_at FROM transfers WHERE scope = ? ORDER BY seen_at DESC LIMIT 1')
    .pluck();

  function withFeed(silences: Busy[]): Silence[] {
    const guildIds = new Set(silences.map(({ guildId }) => guildId));
    const feeds = new Map([...guildIds].map((guildId) => [guildId, feedAt.get(scopeOf(guildId)) ?? null]));
    return silences.map((silence) => ({ ...silence, feedAt: feeds.get(silence.guildId)! }));
  }

  return {
    current: (guildId: string, now: number): Silence[] =>
      withFeed(ofGuild.all({ ...BUSY, guildId }).filter((one) => isSilent(one, now))),
    unreported: (now: number): Silence[] => withFeed(unreported.all(BUSY).filter((one) => deservesNotice(one, now))),
  };
}
