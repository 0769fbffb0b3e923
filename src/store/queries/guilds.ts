import type { AddressText } from '../../domain/address.ts';
import { type GuildSettings, type Label, labelRefusal, NO_SETTINGS, nameInBook, nameKey } from '../../domain/guild.ts';
import { insert, insertAll, isIn, type QueriesOf, read, remove, report, type Sql, write } from '../sql.ts';
import type { Audit, Confirmations, Guilds, Labels } from '../store.ts';

const settingsOf = async (sql: Sql, guildId: string): Promise<GuildSettings> =>
  (await sql.get<GuildSettings>`
    SELECT default_channel, manager_role, timezone, language, style, statement FROM guilds
    WHERE guild_id = ${guildId}`) ?? NO_SETTINGS;

export const guilds: QueriesOf<Guilds> = {
  settings: read(settingsOf),

  changeSettings: write(async (sql, guildId, changed) => {
    const before = await settingsOf(sql, guildId);
    const next = { ...before, ...changed };
    if (next.statement !== before.statement) await remove(sql, 'statements', { guildId });
    await insertAll(sql, 'guilds', [{ guildId, ...next }], { key: 'guild_id' });
    return next;
  }),

  language: read(async (sql, guildId) => {
    const found = await sql.get<{ language: string | null; locale: string | null }>`
      SELECT language, locale FROM guilds WHERE guild_id = ${guildId}`;
    return found ? (found.language ?? found.locale) : null;
  }),

  // With every addition: most bring what is known, and then nothing is written.
  recordLocale: write(async (sql, guildId, locale) => {
    if (locale === null) return;
    const isOther = 'WHERE guilds.locale IS DISTINCT FROM excluded.locale';
    await insertAll(sql, 'guilds', [{ guildId, locale }], { key: 'guild_id', rest: isOther });
  }),
};

export const confirmations: QueriesOf<Confirmations> = {
  ask: write(async (sql, question, max) => {
    const id = await insert(sql, 'confirmations', question);
    await sql.run`
      DELETE FROM confirmations WHERE guild_id = ${question.guildId} AND action = ${question.action} AND id NOT IN (
        SELECT id FROM confirmations WHERE guild_id = ${question.guildId} AND action = ${question.action}
        ORDER BY id DESC LIMIT ${max})`;
    return id;
  }),

  take: write(
    (sql, { id, guildId, userId, action, notBefore }) =>
      sql.value`
        DELETE FROM confirmations WHERE id = ${id} AND guild_id = ${guildId} AND user_id = ${userId} AND action = ${action}
          AND asked_at >= ${notBefore} RETURNING detail AS detail_json`,
  ),
};

const MAX_PRUNED = 500;

export const audit: QueriesOf<Audit> = {
  record: write(async (sql, entry) => {
    await insert(sql, 'audit', entry);
  }),

  page: report(async (sql, guildId, from, limit) => ({
    total: (await sql.value<number>`SELECT count(*) FROM audit WHERE guild_id = ${guildId}`)!,
    entries: await sql.all`
      SELECT guild_id, user_id, action, detail AS detail_json, at FROM audit WHERE guild_id = ${guildId}
      ORDER BY at DESC, id DESC LIMIT ${limit} OFFSET ${from}`,
  })),

  // By id, which has an index: entries are written in the order of their time.
  prune: write(
    (sql, before) =>
      sql.run`
        DELETE FROM audit WHERE id IN (
          SELECT id FROM (SELECT id, at FROM audit ORDER BY id LIMIT ${MAX_PRUNED}) AS oldest WHERE at < ${before})`,
  ),
};

export const labels: QueriesOf<Labels> = {
  list: report((sql, guildId) => bookOf(sql, guildId)),

  set: write(async (sql, guildId, label, limit) => {
    const book = await bookOf(sql, guildId);
    const refusal = labelRefusal(book, new Map([[label.address, label.name]]), limit);
    if (refusal) return refusal;
    await putLabels(sql, guildId, [label]);
    return { status: 'set' as const, before: nameInBook(book, label.address) };
  }),

  remove: write(
    async (sql, guildId, { address, name }) => (await remove(sql, 'labels', { guildId, address, name })) > 0,
  ),
};

export const bookOf = (sql: Sql, guildId: string): Promise<Label[]> =>
  sql.all`
    SELECT address, name, created_by, at FROM labels WHERE guild_id = ${guildId} ORDER BY name_key, address`;

/** An address that has its name already keeps who gave it. */
export async function putLabels(sql: Sql, guildId: string, named: readonly Label[]): Promise<void> {
  const given = named.map((label) => ({ guildId, ...label, nameKey: nameKey(label.name) }));
  await insertAll(sql, 'labels', given, { key: 'guild_id, address', rest: 'WHERE labels.name <> excluded.name' });
}

export async function removeLabels(sql: Sql, guildId: string, addresses: readonly AddressText[]): Promise<void> {
  await sql.run`DELETE FROM labels WHERE guild_id = ${guildId} AND address ${isIn(addresses)}`;
}
