import type { Database } from 'better-sqlite3';
import type { Notice } from '../../domain/batch.ts';
import { patienceMs, RHYTHM_EVENTS, RHYTHM_GAP_MS, type Silence } from '../../domain/silence.ts';
import { noticeWriter } from './notices.ts';
import { scopeLookUp } from './projects.ts';

/** Pointing out silence in the channels that asked for it. */
export function silenceTable(db: Database) {
  const notices = noticeWriter(db);
  const mark = db.prepare<[number, number]>(
    'UPDATE activity_stats SET silence_reported_at = ? WHERE subscription_id = ? AND silence_reported_at IS NULL',
  );
  const tell = db.transaction((notice: Notice, subscriptions: number[]) => {
    const marked = subscriptions.filter((id) => mark.run(notice.now, id).changes === 1);
    if (marked.length > 0) notices.write(notice);
    return marked.length > 0;
  });
  return {
    /** Writes a notice about these subscriptions, unless their present silence was told; the next event ends it. */
    report: (notice: Notice, subscriptions: number[]): boolean => tell.immediate(notice, subscriptions),
  };
}

/** Which addresses are silent that usually are not. */
export function silenceReader(db: Database) {
  const rhythmic = `SELECT id AS subscription, guild_id AS guildId, channel_id AS channelId, address, label,
       last_event_at AS lastEventAt, gap_ms AS gapMs
     FROM activity_stats JOIN subscriptions ON id = subscription_id WHERE events >= ${RHYTHM_EVENTS} AND gap_ms <= ${RHYTHM_GAP_MS} AND paused = 0`;
  const rhythmicOf = db.prepare<[string], Omit<Silence, 'feedAt'>>(
    `${rhythmic} AND guild_id = ? ORDER BY last_event_at`,
  );
  const untold = db.prepare<[number], Omit<Silence, 'feedAt'>>(
    `${rhythmic} AND watch_silence = 1 AND silence_reported_at IS NULL AND coalesce(muted_until, 0) <= ? ORDER BY id`,
  );
  const scopeOf = scopeLookUp(db);
  const feedAt = db
    .prepare<[number], number>('SELECT seen_at FROM transfers WHERE scope = ? ORDER BY seen_at DESC LIMIT 1')
    .pluck();

  function silentOf(rows: Omit<Silence, 'feedAt'>[], now: number): Silence[] {
    const silent = rows.filter(({ lastEventAt, gapMs }) => now - lastEventAt >= patienceMs(gapMs));
    const feeds = new Map(
      [...new Set(silent.map(({ guildId }) => guildId))].map((guildId) => [
        guildId,
        feedAt.get(scopeOf(guildId)) ?? null,
      ]),
    );
    return silent.map((row) => ({ ...row, feedAt: feeds.get(row.guildId)! }));
  }

  return {
    /** The guild's addresses that usually move and are silent for unusually long, the longest first; as counted last. */
    current: (guildId: string, now: number): Silence[] => silentOf(rhythmicOf.all(guildId), now),

    /** Silences of every guild that are to be pointed out in their channels and were not yet; as counted last. */
    unreported: (now: number): Silence[] => silentOf(untold.all(now), now),
  };
}
