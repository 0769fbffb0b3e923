import type { Backlog, GuildOverview, StoredCounts } from '../../domain/guild.ts';
import { alsoIs, part, type QueriesOf, raw, report } from '../sql.ts';
import type { Metrics } from '../store.ts';
import { WAITING_SINCE } from './outbox.ts';

/** Blocked channels that a subscription names or alerts wait for. */
const BLOCKED_CHANNELS = part`FROM channels c WHERE state <> 'ready' AND (
  EXISTS (SELECT 1 FROM subscriptions s WHERE s.guild_id = c.guild_id AND s.channel_id = c.channel_id)
  OR EXISTS (SELECT 1 FROM alerts a WHERE a.channel_id = c.channel_id AND a.state = 'waiting')
  OR EXISTS (SELECT 1 FROM batches b WHERE b.channel_id = c.channel_id AND b.state = 'frozen'))`;

const counted = (table: string, guildId: string) =>
  part`(SELECT count(*) FROM ${raw(table)} WHERE guild_id = ${guildId})`;

export const metrics: QueriesOf<Metrics> = {
  backlog: report(async (sql, now): Promise<Backlog> => {
    const inbox = await sql.get<Backlog['inbox']>`SELECT count(*) AS waiting, min(received_at) AS oldest FROM inbox`;
    const quarantine = await sql.get<Backlog['quarantine']>`
      SELECT count(*) AS rows, coalesce(sum(bytes) FILTER (WHERE hash IS NULL), 0) AS bytes FROM quarantine`;
    const alerts = await sql.get<Backlog['alerts']>`
      SELECT count(*) FILTER (WHERE ready AND due_at <= ${now}) AS due,
        count(*) FILTER (WHERE ready AND due_at > ${now}) AS held, count(*) FILTER (WHERE NOT ready) AS closed,
        min(${WAITING_SINCE}) FILTER (WHERE ready AND due_at <= ${now}) AS oldest
      FROM (SELECT a.created_at, a.due_at, coalesce(c.state, 'ready') = 'ready' AS ready
        FROM alerts a LEFT JOIN channels c ON c.channel_id = a.channel_id WHERE a.state = 'waiting') AS waiting`;
    const begun = await sql.get<
      Record<'frozen' | 'frozenBlocked' | 'deadLetters' | 'parked' | 'unreachable', number> & { begunAt: number | null }
    >`
      WITH begun AS (
        SELECT b.id, b.kind, b.frozen_at, coalesce(c.state, 'ready') = 'ready' AS ready
        FROM batches b LEFT JOIN channels c ON c.channel_id = b.channel_id WHERE b.state = 'frozen'),
        blocked AS (SELECT state ${BLOCKED_CHANNELS})
      SELECT (SELECT count(*) FROM begun WHERE ready) AS frozen,
        (SELECT min(frozen_at) FROM begun WHERE ready AND kind <> 'edit') AS begun_at,
        (SELECT count(*) FROM begun JOIN alerts a ON a.batch_id = begun.id
         WHERE NOT ready AND a.state = 'frozen') AS frozen_blocked,
        (SELECT count(*) FROM dead_letters) AS dead_letters,
        (SELECT count(*) FROM blocked WHERE state = 'parked') AS parked,
        (SELECT count(*) FROM blocked WHERE state = 'unreachable') AS unreachable`;
    const { frozen, begunAt, frozenBlocked, deadLetters, parked, unreachable } = begun!;
    const since = [alerts!.oldest, begunAt].filter((time) => time !== null);
    return {
      inbox: inbox!,
      quarantine: quarantine!,
      alerts: {
        ...alerts!,
        closed: alerts!.closed + frozenBlocked,
        oldest: since.length === 0 ? null : Math.min(...since),
      },
      frozen,
      deadLetters,
      channels: { parked, unreachable },
    };
  }),

  guild: report(async (sql, guildId): Promise<GuildOverview> => {
    const lastEventAt = await sql.value<number>`
      SELECT max(last_event_at) FROM subscriptions JOIN activity_stats ON subscription_id = id
      WHERE guild_id = ${guildId}`;
    // Alerts of unfinished messages count; those of an edit belong to the message that it edits.
    const waiting = await sql.get<{ waiting: number; held: number }>`
      SELECT count(*) AS waiting, count(hold) AS held FROM (
        SELECT a.hold FROM channels c JOIN alerts a ON a.channel_id = c.channel_id
        WHERE c.guild_id = ${guildId} AND a.state = 'waiting'
        UNION ALL
        SELECT NULL FROM (
          SELECT DISTINCT a.id FROM channels c JOIN batches b ON b.channel_id = c.channel_id
            JOIN batches o ON o.reference = b.reference JOIN alerts a ON a.batch_id = o.id
          WHERE c.guild_id = ${guildId} AND b.state = 'frozen' AND a.state = 'frozen') AS begun) AS unsent`;
    const deadLetters = part`
      FROM dead_letters d CROSS JOIN alerts a WHERE a.id = d.alert_id AND ${alsoIs('a.guild_id', guildId)}`;
    const dead = await sql.value<number>`SELECT count(*) ${deadLetters}`;
    const lastDead = await sql.get<NonNullable<GuildOverview['lastDeadLetter']>>`
      SELECT d.channel_id, reason, at ${deadLetters} ORDER BY d.id DESC LIMIT 1`;
    return {
      lastEventAt,
      ...waiting!,
      deadLetters: dead!,
      lastDeadLetter: lastDead ?? null,
      blocked: await sql.all`
        SELECT channel_id, state, since ${BLOCKED_CHANNELS} AND guild_id = ${guildId} ORDER BY channel_id`,
    };
  }),

  stored: report(async (sql, guildId): Promise<StoredCounts> => {
    const counts = await sql.get<StoredCounts>`
      SELECT ${counted('subscriptions', guildId)} AS subscriptions, ${counted('labels', guildId)} AS labels,
        ${counted('token_mutes', guildId)} AS token_mutes, ${counted('projects', guildId)} AS project_flag,
        ${counted('webhook_names', guildId)} AS webhook_names, ${counted('guilds', guildId)} AS settings_flag, waiting,
        done + ${counted('decisions', guildId)} AS history, ${counted('audit', guildId)} AS audit
      FROM (SELECT count(*) FILTER (WHERE state IN ('waiting', 'frozen')) AS waiting,
          count(*) FILTER (WHERE state NOT IN ('waiting', 'frozen')) AS done
        FROM alerts WHERE guild_id = ${guildId}) AS alerts`;
    return counts!;
  }),
};
