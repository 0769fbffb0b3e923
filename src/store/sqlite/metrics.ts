import type { Database } from 'better-sqlite3';
import type { Backlog, GuildOverview, StoredCounts } from '../../domain/overview.ts';
import { WAITING_SINCE } from '../sql/alert-rows.ts';
import { type BegunRow, BLOCKED_CHANNELS, toBacklog } from '../sql/backlog.ts';

/** Counts that read much of the database, for the operator and for each guild. */
export function metricsTable(db: Database) {
  return { backlog: backlogReader(db), ...guildMetrics(db) };
}

function backlogReader(db: Database): (now: number) => Backlog {
  const inbox = db.prepare<[], Backlog['inbox']>('SELECT count(*) AS waiting, min(received_at) AS oldest FROM inbox');
  const quarantine = db.prepare<[], Backlog['quarantine']>(
    'SELECT count(*) AS rows, coalesce(sum(length(body)), 0) AS bytes FROM quarantine',
  );
  const alerts = db.prepare<{ now: number }, Backlog['alerts']>(
    `SELECT count(*) FILTER (WHERE ready AND due_at <= @now) AS due,
            count(*) FILTER (WHERE ready AND due_at > @now) AS held,
            count(*) FILTER (WHERE NOT ready) AS closed,
            min(${WAITING_SINCE}) FILTER (WHERE ready AND due_at <= @now) AS oldest
     FROM (SELECT a.created_at, a.due_at, coalesce(c.state, 'ready') = 'ready' AS ready
           FROM alerts a LEFT JOIN channels c USING (channel_id) WHERE a.state = 'waiting')`,
  );
  const begun = db.prepare<[], BegunRow>(
    // `begun` is materialized. Otherwise the search for the oldest would read everything that was ever sent.
    `WITH begun AS MATERIALIZED (SELECT b.id, b.kind, b.frozen_at, coalesce(c.state, 'ready') = 'ready' AS ready
       FROM batches b LEFT JOIN channels c USING (channel_id) WHERE b.state = 'frozen'),
       blocked AS MATERIALIZED (SELECT state ${BLOCKED_CHANNELS})
     SELECT (SELECT count(*) FROM begun WHERE ready) AS frozen,
            (SELECT min(frozen_at) FROM begun WHERE ready AND kind <> 'edit') AS begunAt,
            (SELECT count(*) FROM begun CROSS JOIN alerts a ON a.batch_id = begun.id
             WHERE NOT ready AND a.state = 'frozen') AS frozenBlocked,
            (SELECT count(*) FROM dead_letters) AS deadLetters,
            (SELECT count(*) FROM blocked WHERE state = 'parked') AS parked,
            (SELECT count(*) FROM blocked WHERE state = 'unreachable') AS unreachable`,
  );
  return db.transaction((now: number) =>
    toBacklog({ inbox: inbox.get()!, quarantine: quarantine.get()!, alerts: alerts.get({ now })! }, begun.get()!),
  );
}

function guildMetrics(db: Database) {
  const lastEvent = db.prepare<[string], { at: number | null }>(
    'SELECT max(last_event_at) AS at FROM subscriptions JOIN activity_stats ON subscription_id = id WHERE guild_id = ?',
  );
  // Waiting alerts, and those in unfinished messages; an edit's with the message that it edits. It goes by channel and
  // message, because a month's alerts are far more than the waiting ones.
  const waiting = db.prepare<{ guildId: string }, { waiting: number; held: number }>(
    `SELECT count(*) AS waiting, count(hold) AS held FROM (
       SELECT a.hold FROM channels c CROSS JOIN alerts a ON a.channel_id = c.channel_id
       WHERE c.guild_id = @guildId AND a.state = 'waiting'
       UNION ALL
       SELECT NULL FROM (
         SELECT DISTINCT a.id FROM channels c CROSS JOIN batches b ON b.channel_id = c.channel_id
           CROSS JOIN batches o ON o.reference = b.reference CROSS JOIN alerts a ON a.batch_id = o.id
         WHERE c.guild_id = @guildId AND b.state = 'frozen' AND a.state = 'frozen'))`,
  );
  const dead = db.prepare<[string], { n: number }>(
    'SELECT count(*) AS n FROM dead_letters d CROSS JOIN alerts a ON a.id = d.alert_id WHERE a.guild_id = ?',
  );
  const lastDead = db.prepare<[string], NonNullable<GuildOverview['lastDeadLetter']>>(
    `SELECT d.channel_id AS channelId, reason, at FROM dead_letters d JOIN alerts a ON a.id = alert_id
     WHERE guild_id = ? ORDER BY d.id DESC LIMIT 1`,
  );
  const blocked = db.prepare<[string], GuildOverview['blocked'][number]>(
    `SELECT channel_id AS channelId, state, since ${BLOCKED_CHANNELS} AND guild_id = ?`,
  );
  const overview = db.transaction(
    (guildId: string): GuildOverview => ({
      lastEventAt: lastEvent.get(guildId)?.at ?? null,
      ...waiting.get({ guildId })!,
      deadLetters: dead.get(guildId)!.n,
      lastDeadLetter: lastDead.get(guildId) ?? null,
      blocked: blocked.all(guildId),
    }),
  );

  const counted = (table: string) => `(SELECT count(*) FROM ${table} WHERE guild_id = @guildId)`;
  const stored = db.prepare<{ guildId: string }, Record<keyof StoredCounts, number>>(
    `SELECT ${counted('subscriptions')} AS subscriptions, ${counted('labels')} AS labels,
       ${counted('token_mutes')} AS tokenMutes, ${counted('projects')} AS project,
       ${counted('webhook_names')} AS webhookNames, ${counted('guilds')} AS settings, waiting,
       done + ${counted('decisions')} AS history, ${counted('audit')} AS audit
     FROM (SELECT count(*) FILTER (WHERE state IN ('waiting', 'frozen')) AS waiting,
         count(*) FILTER (WHERE state NOT IN ('waiting', 'frozen')) AS done
       FROM alerts WHERE guild_id = @guildId)`,
  );

  return {
    guild: (guildId: string): GuildOverview => overview(guildId),
    stored(guildId: string): StoredCounts {
      const counts = stored.get({ guildId })!;
      return { ...counts, project: counts.project > 0, settings: counts.settings > 0 };
    },
  };
}
