import type { Database } from 'better-sqlite3';
import type { Subscription } from '../domain/subscription.ts';

/** What somebody asks to be told about; the rest of a {@link Subscription} comes with time. */
export type NewSubscription = Omit<Subscription, 'id' | 'paused' | 'mutedUntil' | 'lastEventAt'>;

/** What may change later. */
export type SubscriptionChange = Partial<Omit<Subscription, 'id' | 'guildId' | 'address' | 'createdBy' | 'createdAt'>>;

interface Row extends Omit<Subscription, 'paused'> {
  paused: 0 | 1;
}

const COLUMNS = `id, guild_id AS guildId, channel_id AS channelId, address, label, direction, kind, minimum, token,
  mention, paused, muted_until AS mutedUntil, created_by AS createdBy, created_at AS createdAt,
  last_event_at AS lastEventAt`;

const COLUMN_OF: Record<keyof SubscriptionChange, string> = {
  channelId: 'channel_id',
  label: 'label',
  direction: 'direction',
  kind: 'kind',
  minimum: 'minimum',
  token: 'token',
  mention: 'mention',
  paused: 'paused',
  mutedUntil: 'muted_until',
  lastEventAt: 'last_event_at',
};

const fromRow = (row: Row): Subscription => ({ ...row, paused: row.paused === 1 });

/** Subscriptions; every method but `watching` stays within one guild. */
export function subscriptionsTable(db: Database) {
  const ofGuild = db.prepare<[string], Row>(
    `SELECT ${COLUMNS} FROM subscriptions WHERE guild_id = ? ORDER BY channel_id, id`,
  );
  const one = db.prepare<[string, number], Row>(`SELECT ${COLUMNS} FROM subscriptions WHERE guild_id = ? AND id = ?`);
  const same = db.prepare<[string, string], Row>(
    `SELECT ${COLUMNS} FROM subscriptions WHERE address = ? AND channel_id = ?`,
  );
  const byAddress = db.prepare<[string], Row>(`SELECT ${COLUMNS} FROM subscriptions WHERE address = ?`);
  const count = db.prepare<[string], { n: number }>('SELECT count(*) AS n FROM subscriptions WHERE guild_id = ?');
  const insert = db.prepare<NewSubscription>(
    `INSERT INTO subscriptions (guild_id, channel_id, address, label, direction, kind, minimum, token, mention, created_by, created_at)
     VALUES (@guildId, @channelId, @address, @label, @direction, @kind, @minimum, @token, @mention, @createdBy, @createdAt)`,
  );
  const muteAll = db.prepare<[number | null, string]>('UPDATE subscriptions SET muted_until = ? WHERE guild_id = ?');
  const remove = db.prepare<[string, number]>('DELETE FROM subscriptions WHERE guild_id = ? AND id = ?');

  const add = db.transaction((subscription: NewSubscription, limit: number) => {
    const existing = same.get(subscription.address, subscription.channelId);
    if (existing) return { status: 'exists' as const, subscription: fromRow(existing) };
    if ((count.get(subscription.guildId)?.n ?? 0) >= limit) return { status: 'full' as const };
    const { lastInsertRowid } = insert.run(subscription);
    return { status: 'added' as const, subscription: fromRow(one.get(subscription.guildId, Number(lastInsertRowid))!) };
  });

  const change = db.transaction((guildId: string, id: number, changed: SubscriptionChange) => {
    const before = one.get(guildId, id);
    if (!before) return { status: 'missing' as const };
    const { channelId } = changed;
    const existing = channelId === undefined ? undefined : same.get(before.address, channelId);
    if (existing && existing.id !== id) return { status: 'exists' as const, subscription: fromRow(existing) };
    const keys = Object.keys(changed) as (keyof SubscriptionChange)[];
    if (keys.length > 0) {
      const values = keys.map((key) => (typeof changed[key] === 'boolean' ? Number(changed[key]) : changed[key]));
      const set = keys.map((key) => `${COLUMN_OF[key]} = ?`).join(', ');
      db.prepare(`UPDATE subscriptions SET ${set} WHERE guild_id = ? AND id = ?`).run(...values, guildId, id);
    }
    return { status: 'changed' as const, subscription: fromRow(one.get(guildId, id)!) };
  });

  return {
    /** Adds one unless the channel already watches the address or the guild is at `limit`. */
    add: (subscription: NewSubscription, limit: number) => add.immediate(subscription, limit),

    list: (guildId: string): Subscription[] => ofGuild.all(guildId).map(fromRow),

    get(guildId: string, id: number): Subscription | null {
      const row = one.get(guildId, id);
      return row ? fromRow(row) : null;
    },

    /** Changes what is named, unless the new channel already watches the address. */
    change: (guildId: string, id: number, changed: SubscriptionChange) => change.immediate(guildId, id, changed),

    /** Mutes everything of this guild until then (null: no longer); gives how many there are. */
    muteAll: (guildId: string, until: number | null): number => muteAll.run(until, guildId).changes,

    remove: (guildId: string, id: number): boolean => remove.run(guildId, id).changes === 1,

    /** Who watches these addresses, in every guild. */
    watching: (addresses: string[]): Subscription[] => addresses.flatMap((a) => byAddress.all(a)).map(fromRow),
  };
}
