import type { Database } from 'better-sqlite3';
import type { AddressText } from '../../domain/address.ts';
import { type Label, type LabelRefusal, MOST_LABELS } from '../../domain/guild.ts';

/** Names and unnames addresses, as part of the caller's transaction. */
export function nameBook(db: Database) {
  const nameOf = db
    .prepare<[string, string], string>('SELECT name FROM labels WHERE guild_id = ? AND address = ?')
    .pluck();
  const named = db
    .prepare<[string, string], AddressText>('SELECT address FROM labels WHERE guild_id = ? AND name = ? COLLATE NOCASE')
    .pluck();
  const count = db.prepare<[string], number>('SELECT count(*) FROM labels WHERE guild_id = ?').pluck();
  const put = db.prepare<Label & { guildId: string }>(
    `INSERT INTO labels (guild_id, address, name, created_by, at) VALUES (@guildId, @address, @name, @createdBy, @at)
     ON CONFLICT (guild_id, address) DO UPDATE SET name = @name, created_by = @createdBy, at = @at`,
  );
  const drop = db
    .prepare<[string, string], string>('DELETE FROM labels WHERE guild_id = ? AND address = ? RETURNING name')
    .pluck();

  return {
    /** Names an address (`before`: its previous name), unless the name is refused. */
    name(guildId: string, label: Label, limit = MOST_LABELS): { status: 'set'; before: string | null } | LabelRefusal {
      const before = nameOf.get(guildId, label.address) ?? null;
      const address = named.get(guildId, label.name) ?? label.address;
      if (address !== label.address) return { status: 'label-taken', name: label.name, address };
      if (before === null && count.get(guildId)! >= limit) return { status: 'labels-full' };
      if (before !== label.name) put.run({ ...label, guildId });
      return { status: 'set', before };
    },

    /** Returns the name that is gone; null when there was none. */
    remove: (guildId: string, address: AddressText): string | null => drop.get(guildId, address) ?? null,
  };
}

/** Each guild's name book; every method stays within one guild. */
export function labelsTable(db: Database) {
  const ofGuild = db.prepare<[string], Label>(
    'SELECT address, name, created_by AS createdBy, at FROM labels WHERE guild_id = ? ORDER BY name COLLATE NOCASE, address',
  );
  const { name, remove } = nameBook(db);
  const set = db.transaction(name);

  return {
    list: (guildId: string): Label[] => ofGuild.all(guildId),

    set: (guildId: string, label: Label, limit?: number) => set.immediate(guildId, label, limit),

    remove,
  };
}
