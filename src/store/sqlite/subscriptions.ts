import type { Database, Statement } from 'better-sqlite3';
import type { AddressText } from '../../domain/address.ts';
import type { LabelRefusal } from '../../domain/guild.ts';
import type {
  ImportLimits,
  NewSubscription,
  SubscriptionChange,
  SubscriptionImport,
  TokenMute,
} from '../../domain/subscription.ts';
import {
  type Asset,
  DEFAULT_CHOICES,
  DEFAULT_FILTERS,
  type Filters,
  type Subscription,
  type Watcher,
} from '../../domain/subscription.ts';
import { LABEL_OF_SUBSCRIPTION, nameBook } from './labels.ts';

interface Row extends Omit<Subscription, 'paused' | 'watchSilence' | 'filters'> {
  paused: 0 | 1;
  watchSilence: 0 | 1;
  filters: string;
}

/** Every column by its name in {@link Subscription}. */
const COLUMN_OF: Record<keyof Subscription, string> = {
  id: 'id',
  guildId: 'guild_id',
  channelId: 'channel_id',
  address: 'address',
  label: LABEL_OF_SUBSCRIPTION,
  direction: 'direction',
  kind: 'kind',
  minimum: 'minimum',
  token: 'token',
  mention: 'mention',
  paused: 'paused',
  mutedUntil: 'muted_until',
  createdBy: 'created_by',
  createdAt: 'created_at',
  filters: 'filters',
  digest: 'digest',
  quiet: 'quiet',
  mentionMinimum: 'mention_minimum',
  mentionCooldown: 'mention_cooldown',
  mentionedAt: 'mentioned_at',
  watchSilence: 'watch_silence',
  style: 'style',
  lastEventAt: 'last_event_at',
};
const columns = (keys: readonly string[]) =>
  keys.map((key) => `${COLUMN_OF[key as keyof Subscription]} AS ${key}`).join(', ');
const SELECT = `SELECT ${columns(Object.keys(COLUMN_OF))} FROM subscriptions LEFT JOIN activity_stats ON subscription_id = id`;

const UNFILTERED = ['{}', JSON.stringify(DEFAULT_FILTERS)];

// Subscriptions without filters share one object, so a message between threads contains it once.
const toFilters = (text: string): Filters =>
  UNFILTERED.includes(text) ? DEFAULT_FILTERS : { ...DEFAULT_FILTERS, ...(JSON.parse(text) as Partial<Filters>) };

const fromRow = (row: Row): Subscription => ({
  ...row,
  paused: row.paused === 1,
  watchSilence: row.watchSilence === 1,
  filters: toFilters(row.filters),
});

/** A value that SQLite accepts. */
const toColumn = (value: Subscription[keyof Subscription]): string | number | null =>
  typeof value === 'boolean' ? Number(value) : typeof value === 'object' && value ? JSON.stringify(value) : value;

/** Who names an address, and when. */
interface Author {
  userId: string;
  at: number;
}

/** The names that a file sets for addresses (null: removes); no row removes a name that another one sets. */
function namesIn(
  rows: SubscriptionImport['added'],
  book: SubscriptionImport['labels'],
): Map<AddressText, string | null> {
  const said = rows.flatMap(({ address, change: { label } }) =>
    label === undefined ? [] : [[address, label] as const],
  );
  const all = [...said, ...book.map(({ address, name }) => [address, name] as const)];
  return new Map(all.toSorted(([, one], [, other]) => Number(one !== null) - Number(other !== null)));
}

/** Rolls an import back. */
class NotImported extends Error {
  readonly reason: 'full' | 'crowded' | 'stale';
  constructor(reason: 'full' | 'crowded' | 'stale') {
    super(reason);
    this.reason = reason;
  }
}

/**
 * Looks up who watches an address, in every guild, for one commit. Equal filters share one object, because parsing them
 * and posting them to another thread is slow.
 */
export function watcherLookUp(db: Database): () => (address: AddressText) => Watcher[] {
  const keys: (keyof Watcher)[] = ['id', 'guildId', 'channelId', 'address', 'direction', 'kind', 'minimum', 'token'];
  keys.push('paused', 'mutedUntil', 'filters', 'digest', 'quiet');
  const byAddress = db.prepare<[string], Omit<Watcher, 'paused' | 'filters'> & Pick<Row, 'paused' | 'filters'>>(
    `SELECT ${columns(keys)} FROM subscriptions WHERE address = ?`,
  );
  return () => {
    const known = new Map<string, Filters>();
    const filtersOf = (text: string): Filters => {
      const filters = known.get(text) ?? toFilters(text);
      known.set(text, filters);
      return filters;
    };
    return (address) =>
      byAddress.all(address).map((row) => ({ ...row, paused: row.paused === 1, filters: filtersOf(row.filters) }));
  };
}

/** Subscriptions; every method but `watching` stays within one guild. */
export function subscriptionsTable(db: Database) {
  const labels = nameBook(db);
  const ofGuild = db.prepare<[string], Row>(`${SELECT} WHERE guild_id = ? ORDER BY channel_id, id`);
  const one = db.prepare<[string, number], Row>(`${SELECT} WHERE guild_id = ? AND id = ?`);
  const same = db.prepare<[string, string], Row>(`${SELECT} WHERE address = ? AND channel_id = ?`);
  const byAddress = db.prepare<[string], Row>(`${SELECT} WHERE address = ?`);
  const count = db.prepare<[string], { n: number }>('SELECT count(*) AS n FROM subscriptions WHERE guild_id = ?');
  const watching = db
    .prepare<[string, string], number>('SELECT count(*) FROM subscriptions WHERE address = ? AND guild_id = ?')
    .pluck();
  const { label: _, ...stored } = DEFAULT_CHOICES;
  const given = ['guildId', 'channelId', 'address', 'createdBy', 'createdAt', ...Object.keys(stored)] as const;
  const insert = db.prepare(
    `INSERT INTO subscriptions (${given.map((key) => COLUMN_OF[key as keyof Subscription]).join(', ')})
     VALUES (${given.map((key) => `@${key}`).join(', ')})`,
  );

  const mute = db.prepare<[number | null, string, string]>(
    'UPDATE subscriptions SET muted_until = ? WHERE guild_id = ? AND id IN (SELECT value FROM json_each(?))',
  );
  const tokenMutes = db.prepare<[string, number], TokenMute>(
    'SELECT token, until FROM token_mutes WHERE guild_id = ? AND until > ? ORDER BY until, token',
  );
  const muteToken = db.prepare<[string, Asset, number]>(
    'INSERT INTO token_mutes (guild_id, token, until) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET until = excluded.until',
  );
  const unmuteToken = db.prepare<[string, Asset]>('DELETE FROM token_mutes WHERE guild_id = ? AND token = ?');
  const remove = db.prepare<[string, number]>('DELETE FROM subscriptions WHERE guild_id = ? AND id = ?');

  const insertOne = ({ label: _, ...subscription }: NewSubscription): number => {
    const values = Object.entries({ ...stored, ...subscription });
    return Number(insert.run(Object.fromEntries(values.map(([key, value]) => [key, toColumn(value)]))).lastInsertRowid);
  };
  const add = db.transaction((subscription: NewSubscription, limit: number, channelsPerAddress: number) => {
    const existing = same.get(subscription.address, subscription.channelId);
    if (existing) return { status: 'exists' as const, subscription: fromRow(existing) };
    if ((count.get(subscription.guildId)?.n ?? 0) >= limit) return { status: 'full' as const };
    if (watching.get(subscription.address, subscription.guildId)! >= channelsPerAddress)
      return { status: 'crowded' as const };
    const { guildId, address, createdBy, createdAt: at, label = null } = subscription;
    const named = label === null ? null : labels.name(guildId, { address, name: label, createdBy, at });
    if (named && named.status !== 'set') return named;
    const id = insertOne(subscription);
    return {
      status: 'added' as const,
      subscription: fromRow(one.get(guildId, id)!),
      before: named?.before ?? null,
    };
  });

  /** Statements by their SQL: a file changes a thousand subscriptions, most of them alike. */
  const updates = new Map<string, Statement>();
  function update(id: number, changed: Partial<Subscription>): void {
    const keys = Object.keys(changed) as (keyof SubscriptionChange)[];
    if (keys.length === 0) return;
    const values = keys.map((key) => toColumn(changed[key]!));
    const sql = `UPDATE subscriptions SET ${keys.map((key) => `${COLUMN_OF[key]} = ?`).join(', ')} WHERE id = ?`;
    const statement = updates.get(sql) ?? db.prepare(sql);
    updates.set(sql, statement);
    statement.run(...values, id);
  }

  function changeOne({ id, filters: before }: Row, changed: SubscriptionChange): void {
    const { filters, label: _, ...rest } = changed;
    update(id, filters ? { ...rest, filters: { ...toFilters(before), ...filters } } : rest);
  }
  function rename(
    { guildId, address }: Row,
    name: string | null | undefined,
    { userId, at }: Author,
  ): LabelRefusal | null {
    if (name === null) labels.remove(guildId, address);
    if (name === null || name === undefined) return null;
    const outcome = labels.name(guildId, { address, name, createdBy: userId, at });
    return outcome.status === 'set' ? null : outcome;
  }
  const change = db.transaction((guildId: string, id: number, changed: SubscriptionChange, by: Author | undefined) => {
    const before = one.get(guildId, id);
    if (!before) return { status: 'missing' as const };
    const { channelId } = changed;
    const existing = channelId === undefined ? undefined : same.get(before.address, channelId);
    if (existing && existing.id !== id) return { status: 'exists' as const, subscription: fromRow(existing) };
    const refusal = rename(before, changed.label, by ?? { userId: before.createdBy, at: before.createdAt });
    if (refusal) return refusal;
    changeOne(before, changed);
    return { status: 'changed' as const, subscription: fromRow(one.get(guildId, id)!) };
  });

  const importAll = db.transaction(
    ({ guildId, userId, added, changed, labels: book, at }: SubscriptionImport, most: ImportLimits): void => {
      if (added.length > 0 && (count.get(guildId)?.n ?? 0) + added.length > most.subscriptions)
        throw new NotImported('full');
      for (const { address, channelId, change: chosen } of added) {
        const { paused = false, mutedUntil = null, filters, ...choices } = chosen;
        const narrower = { filters: { ...DEFAULT_FILTERS, ...filters } };
        const wish = { guildId, channelId, address, createdBy: userId, createdAt: at, ...choices, ...narrower };
        if (same.get(address, channelId)) throw new NotImported('stale');
        if (watching.get(address, guildId)! >= (most.channelsPerAddress ?? Number.POSITIVE_INFINITY))
          throw new NotImported('crowded');
        const id = insertOne(wish);
        if (paused || mutedUntil !== null) update(id, { paused, mutedUntil });
      }
      for (const { address, channelId, change: chosen } of changed) {
        const existing = same.get(address, channelId);
        if (existing?.guildId !== guildId) throw new NotImported('stale');
        changeOne(existing, chosen);
      }
      const names = namesIn([...added, ...changed], book);
      // Two addresses may swap their names.
      for (const address of names.keys()) labels.remove(guildId, address);
      for (const [address, name] of names) {
        if (name === null) continue;
        const outcome = labels.name(guildId, { address, name, createdBy: userId, at }, most.labels);
        if (outcome.status === 'labels-full') throw new NotImported('full');
        if (outcome.status === 'label-taken') throw new NotImported('stale');
      }
    },
  );

  return {
    add: (subscription: NewSubscription, limit: number, channelsPerAddress = Number.POSITIVE_INFINITY) =>
      add.immediate(subscription, limit, channelsPerAddress),

    list: (guildId: string): Subscription[] => ofGuild.all(guildId).map(fromRow),

    get(guildId: string, id: number): Subscription | null {
      const row = one.get(guildId, id);
      return row ? fromRow(row) : null;
    },

    change: (guildId: string, id: number, changed: SubscriptionChange, by?: Author) =>
      change.immediate(guildId, id, changed, by),

    importAll(file: SubscriptionImport, most: ImportLimits): 'imported' | 'full' | 'crowded' | 'stale' {
      try {
        importAll.immediate(file, most);
        return 'imported';
      } catch (error) {
        if (error instanceof NotImported) return error.reason;
        throw error;
      }
    },

    mute: (guildId: string, ids: readonly number[], until: number | null): number =>
      mute.run(until, guildId, JSON.stringify(ids)).changes,

    tokenMutes: (guildId: string, now: number): TokenMute[] => tokenMutes.all(guildId, now),

    muteToken(guildId: string, token: Asset, until: number | null): void {
      if (until === null) unmuteToken.run(guildId, token);
      else muteToken.run(guildId, token, until);
    },

    remove: (guildId: string, id: number): boolean => remove.run(guildId, id).changes === 1,

    watching: (addresses: string[]): Subscription[] =>
      addresses.flatMap((address) => byAddress.all(address)).map(fromRow),
  };
}
