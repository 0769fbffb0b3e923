import type { Notice } from '../../domain/batch.ts';
import { OPERATOR_SCOPE } from '../../domain/scope.ts';
import type { Silence, SilenceRule } from '../../domain/silence.ts';
import { LABEL_OF_SUBSCRIPTION } from '../rows.ts';
import type { Connection, Statements } from './connection.ts';
import { writeNotice } from './notices.ts';

/** Addresses that went quiet, and the latest event of their guild's scope. */
const SILENT = `SELECT id AS subscription, guild_id AS "guildId", channel_id AS "channelId", address,
    ${LABEL_OF_SUBSCRIPTION} AS label, last_event_at AS "lastEventAt", gap_ms AS "gapMs",
    (SELECT max(seen_at) FROM transfers WHERE scope = coalesce(
       (SELECT projects.id FROM projects WHERE projects.guild_id = subscriptions.guild_id), ${OPERATOR_SCOPE})) AS "feedAt"
  FROM activity_stats JOIN subscriptions ON id = subscription_id
  WHERE NOT paused AND events >= $2 AND gap_ms <= $3 AND $1 - last_event_at >= greatest($4, $5 * gap_ms)`;

const valuesOf = ({ events, gapMs, leastMs, gaps }: SilenceRule, now: number) => [now, events, gapMs, leastMs, gaps];

/** Busy addresses that have gone quiet, and the notices about them. */
export function silenceTable(db: Connection) {
  return {
    current: (guildId: string, rule: SilenceRule, now: number): Promise<Silence[]> =>
      db.reads.all<Silence>(`${SILENT} AND guild_id = $6 ORDER BY last_event_at`, ...valuesOf(rule, now), guildId),
    unreported: (rule: SilenceRule, now: number): Promise<Silence[]> =>
      db.reads.all<Silence>(
        `${SILENT} AND watch_silence AND silence_reported_at IS NULL AND coalesce(muted_until, 0) <= $1 ORDER BY id`,
        ...valuesOf(rule, now),
      ),
    report: (notice: Notice, subscriptions: number[]) => db.write((sql) => report(sql, notice, subscriptions)),
  };
}

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
