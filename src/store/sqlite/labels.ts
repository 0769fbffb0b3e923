import type { Database } from 'better-sqlite3';
import type { AddressText } from '../../domain/address.ts';
import { type Label, type LabelRefusal, labelRefusal, nameIn } from '../../domain/guild.ts';

/** Statements about each guild's address book, each part of the caller's transaction. */
export type NameBook = ReturnType<typeof nameBook>;

/** Reads and changes each guild's address book, as part of the caller's transaction. */
export function nameBook(db: Database) {
  const ofGuild = db.prepare<[string], Label>(
    'SELECT address, name, created_by AS createdBy, at FROM labels WHERE guild_id = ? ORDER BY name COLLATE NOCASE, address',
  );
  const put = db.prepare<Label & { guildId: string }>(
    `INSERT INTO labels (guild_id, address, name, created_by, at) VALUES (@guildId, @address, @name, @createdBy, @at)
     ON CONFLICT (guild_id, address) DO UPDATE SET name = @name, created_by = @createdBy, at = @at WHERE name <> @name`,
  );
  const drop = db.prepare<[string, string]>('DELETE FROM labels WHERE guild_id = ? AND address = ?');

  return {
    /** A guild's names, sorted. */
    list: (guildId: string): Label[] => ofGuild.all(guildId),
    /** Names an address; an address that has this name already keeps who gave it. */
    put: (guildId: string, label: Label): void => void put.run({ ...label, guildId }),
    remove: (guildId: string, address: AddressText): void => void drop.run(guildId, address),
  };
}

/** Each guild's address book; every method stays within one guild. */
export function labelsTable(db: Database) {
  const { list, put } = nameBook(db);
  const drop = db.prepare<[string, string, string]>(
    'DELETE FROM labels WHERE guild_id = ? AND address = ? AND name = ?',
  );
  const set = db.transaction(
    (guildId: string, label: Label, limit?: number): { status: 'set'; before: string | null } | LabelRefusal => {
      const book = list(guildId);
      const refusal = labelRefusal(book, new Map([[label.address, label.name]]), limit);
      if (refusal) return refusal;
      put(guildId, label);
      return { status: 'set', before: nameIn(book, label.address) };
    },
  );

  return {
    list,

    set: (guildId: string, label: Label, limit?: number) => set.immediate(guildId, label, limit),

    remove: (guildId: string, { address, name }: Pick<Label, 'address' | 'name'>): boolean =>
      drop.run(guildId, address, name).changes > 0,
  };
}
