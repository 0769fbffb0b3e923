import type { AddressText } from '../../domain/address.ts';
import { type Label, type LabelRefusal, labelRefusal, nameIn } from '../../domain/guild.ts';
import type { Connection, Statements } from './connection.ts';

/** A guild's names, sorted. */
export const bookOf = (sql: Statements, guildId: string): Promise<Label[]> =>
  sql.all<Label>(
    `SELECT address, name, created_by AS "createdBy", at FROM labels WHERE guild_id = $1
     ORDER BY lower(name), address`,
    guildId,
  );

/** Names addresses; one that has its name already keeps who gave it. */
export async function putLabels(sql: Statements, guildId: string, labels: readonly Label[]): Promise<void> {
  if (labels.length === 0) return;
  await sql.run(
    `INSERT INTO labels (guild_id, address, name, created_by, at)
     SELECT $1, l.* FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) AS l
     ON CONFLICT (guild_id, address) DO UPDATE SET name = excluded.name, created_by = excluded.created_by,
       at = excluded.at WHERE labels.name <> excluded.name`,
    guildId,
    labels.map(({ address }) => address),
    labels.map(({ name }) => name),
    labels.map(({ createdBy }) => createdBy),
    labels.map(({ at }) => at),
  );
}

/** Removes the names of addresses. */
export async function removeLabels(sql: Statements, guildId: string, addresses: readonly AddressText[]): Promise<void> {
  await sql.run('DELETE FROM labels WHERE guild_id = $1 AND address = ANY($2::text[])', guildId, addresses);
}

/** Each guild's address book; every method stays within one guild. */
export function labelsTable(db: Connection) {
  return {
    list: (guildId: string) => bookOf(db.reads, guildId),

    set: (guildId: string, label: Label, limit?: number) =>
      db.write(async (sql): Promise<{ status: 'set'; before: string | null } | LabelRefusal> => {
        const book = await bookOf(sql, guildId);
        const refusal = labelRefusal(book, new Map([[label.address, label.name]]), limit);
        if (refusal) return refusal;
        await putLabels(sql, guildId, [label]);
        return { status: 'set', before: nameIn(book, label.address) };
      }),

    remove: async (guildId: string, { address, name }: Pick<Label, 'address' | 'name'>) =>
      (await db.write((sql) =>
        sql.run('DELETE FROM labels WHERE guild_id = $1 AND address = $2 AND name = $3', guildId, address, name),
      )) > 0,
  };
}
