import type { AddressText } from '../../domain/address.ts';
import { type Label, type LabelRefusal, MOST_LABELS } from '../../domain/guild.ts';
import type { Connection, Statements } from './connection.ts';

/** Names an address (`before`: its previous name), unless the name is refused. */
export async function nameLabel(
  sql: Statements,
  guildId: string,
  { address, name, createdBy, at }: Label,
  limit = MOST_LABELS,
): Promise<{ status: 'set'; before: string | null } | LabelRefusal> {
  // The column's collation, which a parameter does not have: the unique index compares by it.
  const there = await sql.all<{ address: AddressText; name: string }>(
    `SELECT address, name FROM labels
     WHERE guild_id = $1 AND (address = $2 OR lower(name) = lower($3 COLLATE "C"))`,
    guildId,
    address,
    name,
  );
  const other = there.find((label) => label.address !== address);
  if (other) return { status: 'label-taken', name, address: other.address };
  const before = there[0]?.name ?? null;
  if (before === null && (await countOf(sql, guildId)) >= limit) return { status: 'labels-full' };
  if (before !== name) {
    await sql.run(
      `INSERT INTO labels (guild_id, address, name, created_by, at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (guild_id, address) DO UPDATE SET name = excluded.name, created_by = excluded.created_by,
         at = excluded.at`,
      guildId,
      address,
      name,
      createdBy,
      at,
    );
  }
  return { status: 'set', before };
}

/** How many names a guild has. */
export const countOf = async (sql: Statements, guildId: string): Promise<number> =>
  (await sql.get<{ n: number }>('SELECT count(*) AS n FROM labels WHERE guild_id = $1', guildId))!.n;

/** Returns the name that is gone; null when there was none. */
export async function unname(sql: Statements, guildId: string, address: AddressText): Promise<string | null> {
  const gone = await sql.get<{ name: string }>(
    'DELETE FROM labels WHERE guild_id = $1 AND address = $2 RETURNING name',
    guildId,
    address,
  );
  return gone?.name ?? null;
}

/** Each guild's name book; every method stays within one guild. */
export function labelsTable(db: Connection) {
  return {
    list: (guildId: string) =>
      db.reads.all<Label>(
        `SELECT address, name, created_by AS "createdBy", at FROM labels WHERE guild_id = $1
         ORDER BY lower(name), address`,
        guildId,
      ),

    set: (guildId: string, label: Label, limit?: number) => db.write((sql) => nameLabel(sql, guildId, label, limit)),

    remove: (guildId: string, address: AddressText) => db.write((sql) => unname(sql, guildId, address)),
  };
}
