import type { Action, Confirmation, NewConfirmation, Questions } from '../../domain/confirmation.ts';
import { type AuditEntry, type GuildSettings, languageOfGuild, NO_SETTINGS } from '../../domain/guild.ts';
import type { Connection, Statements } from './connection.ts';

const SETTINGS = `SELECT default_channel AS "defaultChannel", manager_role AS "managerRole", timezone, language, style,
    webhook_id AS webhook
  FROM guilds WHERE guild_id = $1`;

const settingsOf = async (sql: Statements, guildId: string): Promise<GuildSettings> =>
  (await sql.get<GuildSettings>(SETTINGS, guildId)) ?? NO_SETTINGS;

/** Each guild's settings. */
export function guildsTable(db: Connection) {
  return {
    settings: (guildId: string) => settingsOf(db.reads, guildId),

    changeSettings: (guildId: string, changed: Partial<GuildSettings>) =>
      db.write(async (sql) => {
        const next = { ...(await settingsOf(sql, guildId)), ...changed };
        await sql.run(
          `INSERT INTO guilds (guild_id, default_channel, manager_role, timezone, language, style, webhook_id)
           VALUES ($1, $2, $3, $4, $5, $6, $7)
           ON CONFLICT (guild_id) DO UPDATE SET default_channel = excluded.default_channel,
             manager_role = excluded.manager_role, timezone = excluded.timezone, language = excluded.language,
             style = excluded.style, webhook_id = excluded.webhook_id`,
          guildId,
          next.defaultChannel,
          next.managerRole,
          next.timezone,
          next.language,
          next.style,
          next.webhook,
        );
        return next;
      }),

    async language(guildId: string): Promise<string | null> {
      const found = await db.reads.get<{ language: string | null; locale: string | null }>(
        'SELECT language, locale FROM guilds WHERE guild_id = $1',
        guildId,
      );
      return found ? languageOfGuild(found) : null;
    },

    async recordLocale(guildId: string, locale: string | null): Promise<void> {
      if (locale === null) return;
      // Recorded at every start for every guild: most are known, and need no turn among the writers. The write does not
      // depend on this read, so each of the two is a whole transaction.
      if (await db.reads.get('SELECT FROM guilds WHERE guild_id = $1 AND locale = $2', guildId, locale)) return;
      await db.write((sql) =>
        sql.run(
          `INSERT INTO guilds (guild_id, locale) VALUES ($1, $2)
           ON CONFLICT (guild_id) DO UPDATE SET locale = excluded.locale`,
          guildId,
          locale,
        ),
      );
    },
  };
}

/** Questions that may each be confirmed once. */
export function confirmationsTable(db: Connection) {
  return {
    ask: <Asked extends Action>({ guildId, userId, action, detail, askedAt }: NewConfirmation<Asked>, max: number) =>
      db.write(async (sql) => {
        const asked = await sql.get<{ id: number }>(
          `INSERT INTO confirmations (guild_id, user_id, action, detail, asked_at) VALUES ($1, $2, $3, $4, $5)
           RETURNING id`,
          guildId,
          userId,
          action,
          JSON.stringify(detail),
          askedAt,
        );
        await sql.run(
          `DELETE FROM confirmations WHERE id IN (
             SELECT id FROM confirmations WHERE guild_id = $1 AND action = $2 ORDER BY id DESC OFFSET $3)`,
          guildId,
          action,
          max,
        );
        return asked!.id;
      }),

    take: <Asked extends Action>({ id, guildId, userId, action, notBefore }: Confirmation<Asked>) =>
      db.write(async (sql) => {
        const taken = await sql.get<{ detail: string }>(
          `DELETE FROM confirmations WHERE id = $1 AND guild_id = $2 AND user_id = $3 AND action = $4
             AND asked_at >= $5 RETURNING detail`,
          id,
          guildId,
          userId,
          action,
          notBefore,
        );
        return taken ? (JSON.parse(taken.detail) as Questions[Asked]) : null;
      }),
  };
}

/** How many audit entries are deleted at once, at most. */
const MAX_PRUNED = 500;

/** Who changed what. */
export function auditTable(db: Connection) {
  return {
    record: ({ guildId, userId, action, detail, at }: AuditEntry) =>
      db.write(async (sql) => {
        await sql.run(
          'INSERT INTO audit (guild_id, user_id, action, detail, at) VALUES ($1, $2, $3, $4, $5)',
          guildId,
          userId,
          action,
          JSON.stringify(detail),
          at,
        );
      }),

    page: (guildId: string, from: number, limit: number) =>
      db.read(async (sql) => {
        const counted = await sql.get<{ n: number }>('SELECT count(*) AS n FROM audit WHERE guild_id = $1', guildId);
        const rows = await sql.all<AuditEntry & { detail: string }>(
          `SELECT guild_id AS "guildId", user_id AS "userId", action, detail, at FROM audit WHERE guild_id = $1
           ORDER BY at DESC, id DESC LIMIT $2 OFFSET $3`,
          guildId,
          limit,
          from,
        );
        const entries = rows.map((row): AuditEntry => ({ ...row, detail: JSON.parse(row.detail) as unknown }));
        return { total: counted!.n, entries };
      }),

    // By id, which has an index: entries are written in the order of their time.
    prune: (before: number) =>
      db.write((sql) =>
        sql.run(
          `DELETE FROM audit WHERE id IN (
             SELECT id FROM (SELECT id, at FROM audit ORDER BY id LIMIT ${MAX_PRUNED}) AS oldest WHERE at < $1)`,
          before,
        ),
      ),
  };
}
