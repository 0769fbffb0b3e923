import type { Database } from 'better-sqlite3';
import type { Action, Confirmation, NewConfirmation, Questions } from '../../domain/confirmation.ts';
import { type AuditEntry, type GuildSettings, languageOfGuild, NO_SETTINGS } from '../../domain/guild.ts';

/** Each guild's settings. */
export function guildsTable(db: Database) {
  const one = db.prepare<[string], GuildSettings>(
    `SELECT default_channel AS defaultChannel, manager_role AS managerRole, timezone, language, style,
       webhook_id AS webhook
     FROM guilds WHERE guild_id = ?`,
  );
  const put = db.prepare<GuildSettings & { guildId: string }>(
    `INSERT INTO guilds (guild_id, default_channel, manager_role, timezone, language, style, webhook_id)
     VALUES (@guildId, @defaultChannel, @managerRole, @timezone, @language, @style, @webhook)
     ON CONFLICT (guild_id) DO UPDATE SET default_channel = @defaultChannel, manager_role = @managerRole,
       timezone = @timezone, language = @language, style = @style, webhook_id = @webhook`,
  );
  const languages = db.prepare<[string], { language: string | null; locale: string | null }>(
    'SELECT language, locale FROM guilds WHERE guild_id = ?',
  );
  const putLocale = db.prepare<{ guildId: string; locale: string }>(
    `INSERT INTO guilds (guild_id, locale) VALUES (@guildId, @locale)
     ON CONFLICT (guild_id) DO UPDATE SET locale = @locale WHERE locale IS NOT @locale`,
  );

  const settings = (guildId: string): GuildSettings => one.get(guildId) ?? NO_SETTINGS;
  const change = db.transaction((guildId: string, changed: Partial<GuildSettings>): GuildSettings => {
    const next = { ...settings(guildId), ...changed };
    put.run({ guildId, ...next });
    return next;
  });

  return {
    settings,
    changeSettings: (guildId: string, changed: Partial<GuildSettings>): GuildSettings =>
      change.immediate(guildId, changed),
    language(guildId: string): string | null {
      const found = languages.get(guildId);
      return found ? languageOfGuild(found) : null;
    },
    recordLocale: (guildId: string, locale: string | null): void => {
      if (locale !== null) putLocale.run({ guildId, locale });
    },
  };
}

/** Questions that may each be confirmed once. */
export function confirmationsTable(db: Database) {
  const add = db.prepare<Omit<NewConfirmation, 'detail'> & { detail: string }>(
    `INSERT INTO confirmations (guild_id, user_id, action, detail, asked_at)
     VALUES (@guildId, @userId, @action, @detail, @askedAt)`,
  );
  const dropOldest = db.prepare<[string, string, number]>(
    `DELETE FROM confirmations WHERE id IN (
       SELECT id FROM confirmations WHERE guild_id = ? AND action = ? ORDER BY id DESC LIMIT -1 OFFSET ?)`,
  );
  const take = db
    .prepare<Confirmation, string>(
      `DELETE FROM confirmations WHERE id = @id AND guild_id = @guildId AND user_id = @userId AND action = @action
         AND asked_at >= @notBefore RETURNING detail`,
    )
    .pluck();
  const ask = db.transaction((confirmation: NewConfirmation, max: number): number => {
    const { lastInsertRowid } = add.run({ ...confirmation, detail: JSON.stringify(confirmation.detail) });
    dropOldest.run(confirmation.guildId, confirmation.action, max);
    return Number(lastInsertRowid);
  });

  return {
    ask: (confirmation: NewConfirmation, max: number): number => ask.immediate(confirmation, max),
    take<Asked extends Action>(confirmation: Confirmation<Asked>): Questions[Asked] | null {
      const detail = take.get(confirmation);
      return detail === undefined ? null : (JSON.parse(detail) as Questions[Asked]);
    },
  };
}

/** How many audit entries are deleted at once, at most. */
const MAX_PRUNED = 500;

/** Who changed what. */
export function auditTable(db: Database) {
  const addEntry = db.prepare<AuditEntry & { detail: string }>(
    'INSERT INTO audit (guild_id, user_id, action, detail, at) VALUES (@guildId, @userId, @action, @detail, @at)',
  );
  const count = db.prepare<[string], number>('SELECT count(*) FROM audit WHERE guild_id = ?').pluck();
  const entries = db.prepare<[string, number, number], AuditEntry & { detail: string }>(
    `SELECT guild_id AS guildId, user_id AS userId, action, detail, at FROM audit WHERE guild_id = ?
     ORDER BY at DESC, id DESC LIMIT ? OFFSET ?`,
  );
  // By id, which has an index: entries are written in the order of their time.
  const prune = db.prepare<[number]>(
    `DELETE FROM audit WHERE id IN (
       SELECT id FROM (SELECT id, at FROM audit ORDER BY id LIMIT ${MAX_PRUNED}) WHERE at < ?)`,
  );
  return {
    page: (guildId: string, from: number, limit: number): { total: number; entries: AuditEntry[] } => ({
      total: count.get(guildId)!,
      entries: entries.all(guildId, limit, from).map((row) => ({ ...row, detail: JSON.parse(row.detail) as unknown })),
    }),
    prune: (before: number): number => prune.run(before).changes,
    record: (entry: AuditEntry): void => void addEntry.run({ ...entry, detail: JSON.stringify(entry.detail) }),
  };
}
