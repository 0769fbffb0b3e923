import type { Database } from 'better-sqlite3';
import type { AuditEntry, GuildSettings } from '../../domain/guild.ts';

const NOTHING: GuildSettings = { defaultChannel: null, managerRole: null, timezone: null, language: null };

/** Each guild's settings. */
export function settingsTable(db: Database) {
  const one = db.prepare<[string], GuildSettings>(
    `SELECT default_channel AS defaultChannel, manager_role AS managerRole, timezone, language
     FROM guilds WHERE guild_id = ?`,
  );
  const put = db.prepare<GuildSettings & { guildId: string }>(
    `INSERT INTO guilds (guild_id, default_channel, manager_role, timezone, language)
     VALUES (@guildId, @defaultChannel, @managerRole, @timezone, @language)
     ON CONFLICT (guild_id) DO UPDATE SET default_channel = @defaultChannel, manager_role = @managerRole,
       timezone = @timezone, language = @language`,
  );
  const spoken = db.prepare<[string], { language: string | null }>(
    'SELECT coalesce(language, locale) AS language FROM guilds WHERE guild_id = ?',
  );
  const putLocale = db.prepare<{ guildId: string; locale: string }>(
    `INSERT INTO guilds (guild_id, locale) VALUES (@guildId, @locale)
     ON CONFLICT (guild_id) DO UPDATE SET locale = @locale WHERE locale IS NOT @locale`,
  );

  const settings = (guildId: string): GuildSettings => one.get(guildId) ?? NOTHING;
  const change = db.transaction((guildId: string, changed: Partial<GuildSettings>): GuildSettings => {
    const next = { ...settings(guildId), ...changed };
    put.run({ guildId, ...next });
    return next;
  });

  return {
    settings,

    /** Changes what is named, and tells how everything stands then. */
    changeSettings: (guildId: string, changed: Partial<GuildSettings>): GuildSettings =>
      change.immediate(guildId, changed),

    /** The language that was chosen, else the one that the guild has in Discord; null where neither is known. */
    language: (guildId: string): string | null => spoken.get(guildId)?.language ?? null,

    /** Notes the language that the guild has in Discord. */
    noteLocale: (guildId: string, locale: string | null): void => {
      if (locale !== null) putLocale.run({ guildId, locale });
    },
  };
}

/** Questions that may be confirmed once. */
export function confirmationsTable(db: Database) {
  const { record } = auditTable(db);
  const forgetAsked = db.prepare<{ guildId: string; actions: string; most: number }>(
    `WITH asked AS MATERIALIZED (SELECT id FROM audit
       WHERE guild_id = @guildId AND action IN (SELECT value FROM json_each(@actions)))
     DELETE FROM audit WHERE id IN (SELECT id FROM asked ORDER BY id DESC LIMIT -1 OFFSET @most)`,
  );
  const turn = db.prepare<[string, number, string, string, string, number], { detail: string }>(
    `UPDATE audit SET action = ? WHERE id = ? AND guild_id = ? AND user_id = ? AND action = ? AND at >= ?
     RETURNING detail`,
  );

  const ask = db.transaction((entry: AuditEntry, actions: readonly string[], most: number): number => {
    const id = record(entry);
    forgetAsked.run({ guildId: entry.guildId, actions: JSON.stringify(actions), most });
    return id;
  });

  return {
    /**
     * The same for a question whose detail may be large: of the guild's entries with these actions only the latest so
     * many stay, or whoever asks again and again would fill the disk.
     */
    ask: (entry: AuditEntry, actions: readonly string[], most: number): number => ask.immediate(entry, actions, most),

    /**
     * Takes up what the same person asked for since `since`: the entry's action becomes `to`, so it happens once. Gives
     * the detail, or null when there is nothing (any more) to take up.
     */
    take(ask: { guildId: string; userId: string; id: number; from: string; to: string; since: number }): unknown {
      const row = turn.get(ask.to, ask.id, ask.guildId, ask.userId, ask.from, ask.since);
      return row ? JSON.parse(row.detail) : null;
    },
  };
}

/** The record of who changed what. */
export function auditTable(db: Database) {
  const addEntry = db.prepare<AuditEntry & { detail: string }>(
    'INSERT INTO audit (guild_id, user_id, action, detail, at) VALUES (@guildId, @userId, @action, @detail, @at)',
  );
  return {
    /** Adds an entry; returns its id. */
    record: (entry: AuditEntry): number =>
      Number(addEntry.run({ ...entry, detail: JSON.stringify(entry.detail) }).lastInsertRowid),
  };
}
