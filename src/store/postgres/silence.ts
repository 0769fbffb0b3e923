import type { Notice } from '../../domain/batch.ts';
import { BUSY, deservesNotice, isSilent, type Silence } from '../../domain/silence.ts';
import { LABEL_OF_SUBSCRIPTION } from '../sql/subscription-rows.ts';
import type { Connection, Statements } from './connection.ts';
import { writeNotice } from './notices.ts';
import { scopesOf } from './projects.ts';

type Busy = Omit<Silence, 'feedAt'>;

const BUSY_ONES = `SELECT id AS subscription, guild_id AS "guildId", channel_id AS "channelId", address,
    ${LABEL_OF_SUBSCRIPTION} AS label, muted_until AS "mutedUntil", last_event_at AS "lastEventAt", gap_ms AS "gapMs"
  FROM activity_stats JOIN subscriptions ON id = subscription_id
  WHERE NOT paused AND events >= $1 AND gap_ms <= $2`;

/** Busy addresses that have gone quiet, and the notices about them. */
export function silenceTable(db: Connection) {
  return {
    current: (guildId: string, now: number) =>
      silences(db, 'AND guild_id = $3 ORDER BY last_event_at', [guildId], (busy) => isSilent(busy, now)),
    unreported: (now: number) =>
      silences(db, 'AND watch_silence AND silence_reported_at IS NULL ORDER BY id', [], (busy) =>
        deservesNotice(busy, now),
      ),
    report: (notice: Notice, subscriptions: number[]) => db.write((sql) => report(sql, notice, subscriptions)),
  };
}

/** Those busy addresses that `isSought` picks, with when the project of each one's guild last brought an event. */
const silences = (
  db: Connection,
  rest: string,
  values: readonly unknown[],
  isSought: (busy: Busy) => boolean,
): Promise<Silence[]> =>
  db.read(async (sql) => {
    const found = (await sql.all<Busy>(`${BUSY_ONES} ${rest}`, BUSY.events, BUSY.gapMs, ...values)).filter(isSought);
    const scopes = await scopesOf(sql, [...new Set(found.map(({ guildId }) => guildId))]);
    const feeds = await sql.all<{ scope: number; at: number | null }>(
      `SELECT scope, (SELECT max(seen_at) FROM transfers t WHERE t.scope = s.scope) AS at
       FROM unnest($1::bigint[]) AS s (scope)`,
      [...new Set(scopes.values())],
    );
    const feedAt = new Map(feeds.map(({ scope, at }) => [scope, at]));
    return found.map((silence) => ({ ...silence, feedAt: feedAt.get(scopes.get(silence.guildId)!)! }));
  });

async function report(sql: Statements, notice: Notice, subscriptions: number[]): Promise<boolean> {
  const reported = await sql.run(
    `UPDATE activity_stats SET silence_reported_at = $1
     WHERE subscription_id = ANY($2::bigint[]) AND silence_reported_at IS NULL`,
    notice.now,
    subscriptions,
  );
  if (reported > 0) await writeNotice(sql, notice);
  return reported > 0;
}
