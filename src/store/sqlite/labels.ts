import type { Database } from 'better-sqlite3';
import type { AddressText } from '../../domain/address.ts';
import type { Label } from '../../domain/guild.ts';

/** Each guild's address book; every method stays within one guild. */
export function labelsTable(db: Database) {
  const ofGuild = db.prepare<[string], Label>(
    'SELECT address, name, created_by AS createdBy, at FROM labels WHERE guild_id = ? ORDER BY name COLLATE NOCASE, address',
  );
  const nameOf = db
    .prepare<[string, string], string>('SELECT name FROM labels WHERE guild_id = ? AND address = ?')
    .pluck();
  const count = db.prepare<[string], number>('SELECT count(*) FROM labels WHERE guild_id = ?').pluck();
  const put = db.prepare<Label & { guildId: string }>(
    `INSERT INTO labels (guild_id, address, name, created_by, at) VALUES (@guildId, @address, @name, @createdBy, @at)
     ON CONFLICT (guild_id, address) DO UPDATE SET name = @name, created_by = @createdBy, at = @at`,
  );
  const drop = db
    .prepare<[string, string], string>('DELETE FROM labels WHERE guild_id = ? AND address = ? RETURNING name')
    .pluck();

  const set = db.transaction((guildId: string, label: Label, limit: number) => {
    const before = nameOf.get(guildId, label.address) ?? null;
    if (before === null && count.get(guildId)! >= limit) return { status: 'full' as const };
    put.run({ ...label, guildId });
    return { status: 'set' as const, before };
  });

  return {
    list: (guildId: string): Label[] => ofGuild.all(guildId),

    set: (guildId: string, label: Label, limit: number) => set.immediate(guildId, label, limit),

    remove: (guildId: string, address: AddressText): string | null => drop.get(guildId, address) ?? null,
  };
}
