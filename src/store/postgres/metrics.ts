import type { Backlog, GuildOverview, StoredCounts } from '../../domain/overview.ts';
import { WAITING_SINCE } from '../sql/alert-rows.ts';
import { type BegunRow, BLOCKED_CHANNELS, toBacklog } from '../sql/backlog.ts';
import type { Connection, Statements } from './connection.ts';

/** Counts that read much of the database, for the operator and for each guild. */
export function metricsTable(db: Connection) {
  return {
    backlog: (now: number) => db.read((sql) => backlog(sql, now)),
    guild: (guildId: string) => db.read((sql) => overview(sql, guildId)),
    stored: (guildId: string) => stored(db.reads, guildId),
  };
}

async function backlog(sql: Statements, now: number): Promise<Backlog> {
  const inbox = await sql.get<Backlog['inbox']>('SELECT count(*) AS waiting, min(received_at) AS oldest FROM inbox');
  const quarantine = await sql.get<Backlog['quarantine']>(
    'SELECT count(*) AS rows, coalesce(sum(length(body)), 0) AS bytes FROM quarantine',
  );
  const alerts = await sql.get<Backlog['alerts']>(
    `SELECT count(*) FILTER (WHERE ready AND due_at <= $1) AS due,
            count(*) FILTER (WHERE ready AND due_at > $1) AS held,
            count(*) FILTER (WHERE NOT ready) AS closed,
            min(${WAITING_SINCE}) FILTER (WHERE ready AND due_at <= $1) AS oldest
     FROM (SELECT a.created_at, a.due_at, coalesce(c.state, 'ready') = 'ready' AS ready
           FROM alerts a LEFT JOIN channels c USING (channel_id) WHERE a.state = 'waiting') AS waiting`,
    now,
  );
  const begun = await sql.get<BegunRow>(
    `WITH begun AS MATERIALIZED (SELECT b.id, b.kind, b.frozen_at, coalesce(c.state, 'ready') = 'ready' AS ready
       FROM batches b LEFT JOIN channels c USING (channel_id) WHERE b.state = 'frozen'),
       blocked AS MATERIALIZED (SELECT state ${BLOCKED_CHANNELS})
     SELECT (SELECT count(*) FROM begun WHERE ready) AS frozen,
            (SELECT min(frozen_at) FROM begun WHERE ready AND kind <> 'edit') AS "begunAt",
            (SELECT count(*) FROM begun JOIN alerts a ON a.batch_id = begun.id
             WHERE NOT ready AND a.state = 'frozen') AS "frozenBlocked",
            (SELECT count(*) FROM dead_letters) AS "deadLetters",
            (SELECT count(*) FROM blocked WHERE state = 'parked') AS parked,
            (SELECT count(*) FROM blocked WHERE state = 'unreachable') AS unreachable`,
  );
  return toBacklog({ inbox: inbox!, quarantine: quarantine!, alerts: alerts! }, begun!);
}

async function overview(sql: Statements, guildId: string): Promise<GuildOverview> {
  const lastEvent = await sql.get<{ at: number | null }>(
    'SELECT max(last_event_at) AS at FROM subscriptions JOIN activity_stats ON subscription_id = id WHERE guild_id = $1',
    guildId,
  );
  // Waiting alerts, and those in unfinished messages; an edit's with the message that it edits.
  const waiting = await sql.get<{ waiting: number; held: number }>(
    `SELECT count(*) AS waiting, count(hold) AS held FROM (
       SELECT a.hold FROM channels c JOIN alerts a ON a.channel_id = c.channel_id
       WHERE c.guild_id = $1 AND a.state = 'waiting'
       UNION ALL
       SELECT NULL FROM (
         SELECT DISTINCT a.id FROM channels c JOIN batches b ON b.channel_id = c.channel_id
           JOIN batches o ON o.reference = b.reference JOIN alerts a ON a.batch_id = o.id
         WHERE c.guild_id = $1 AND b.state = 'frozen' AND a.state = 'frozen') AS begun) AS unsent`,
    guildId,
  );
  const dead = await sql.get<{ n: number }>(
    'SELECT count(*) AS n FROM dead_letters d JOIN alerts a ON a.id = d.alert_id WHERE a.guild_id = $1',
    guildId,
  );
  const lastDead = await sql.get<NonNullable<GuildOverview['lastDeadLetter']>>(
    `SELECT d.channel_id AS "channelId", reason, at FROM dead_letters d JOIN alerts a ON a.id = alert_id
     WHERE guild_id = $1 ORDER BY d.id DESC LIMIT 1`,
    guildId,
  );
  return {
    lastEventAt: lastEvent!.at,
    ...waiting!,
    deadLetters: dead!.n,
    lastDeadLetter: lastDead ?? null,
    blocked: await sql.all<GuildOverview['blocked'][number]>(
      `SELECT channel_id AS "channelId", state, since ${BLOCKED_CHANNELS} AND guild_id = $1 ORDER BY channel_id`,
      guildId,
    ),
  };
}

const counted = (table: string): string => `(SELECT count(*) FROM ${table} WHERE guild_id = $1)`;

async function stored(sql: Statements, guildId: string): Promise<StoredCounts> {
  const counts = await sql.get<Record<keyof StoredCounts, number>>(
    `SELECT ${counted('subscriptions')} AS subscriptions, ${counted('labels')} AS labels,
       ${counted('token_mutes')} AS "tokenMutes", ${counted('projects')} AS project,
       ${counted('webhook_names')} AS "webhookNames", ${counted('guilds')} AS settings, waiting,
       done + ${counted('decisions')} AS history, ${counted('audit')} AS audit
     FROM (SELECT count(*) FILTER (WHERE state IN ('waiting', 'frozen')) AS waiting,
         count(*) FILTER (WHERE state NOT IN ('waiting', 'frozen')) AS done
       FROM alerts WHERE guild_id = $1) AS alerts`,
    guildId,
  );
  return { ...counts!, project: counts!.project > 0, settings: counts!.settings > 0 };
}
