/** What moves from one engine to another, and what each engine does for it. */

/** Every table that moves, with its key. Tables that others refer to are first. */
export const COPIED_TABLES = {
  projects: 'id',
  receiver_tokens: 'token',
  webhook_names: 'guild_id, webhook_id',
  inbox: 'id',
  scope_usage: 'scope',
  quarantine: 'id',
  transfers: 'id',
  deliveries: 'transfer_id, key',
  decisions: 'id',
  channels: 'channel_id',
  batches: 'id',
  alerts: 'id',
  dead_letters: 'id',
  subscriptions: 'id',
  activity_stats: 'subscription_id',
  token_mutes: 'guild_id, token',
  labels: 'guild_id, address',
  guilds: 'guild_id',
  guild_removals: 'guild_id',
  erasures: 'guild_id',
  audit: 'id',
  confirmations: 'id',
  catalog: 'token',
  counterparties: 'guild_id, address, outer_digits, counterparty',
  heads: 'scope, at',
  meta: 'key',
} as const;

/** A table that is copied from one database to another. */
export type CopiedTable = keyof typeof COPIED_TABLES;

/** The copied tables, those first that others refer to. */
export const TABLE_NAMES = Object.keys(COPIED_TABLES) as CopiedTable[];

/** A value, alike for every engine: flags are 0 and 1, and text contains no NUL. */
export type Value = string | number | Uint8Array | null;

/** How many rows are read and written at once, at most. */
export const MAX_COPIED_ROWS = 500;

/** A stopped installation's database, locked; everything happens in one transaction. */
export interface CopyableDatabase extends AsyncDisposable {
  /** Its name in messages, without a password. */
  name: string;
  /** A table's columns, without those that this engine computes or needs for itself, sorted. */
  columns(table: CopiedTable): Promise<string[]>;
  count(table: CopiedTable): Promise<number>;
  /** All rows in the order of the key, {@link MAX_COPIED_ROWS} at a time. */
  rows(table: CopiedTable, columns: readonly string[]): AsyncIterable<Value[][]>;
  insert(table: CopiedTable, columns: readonly string[], rows: readonly Value[][]): Promise<void>;
  /** The highest id ever assigned in each table that assigns no id twice. */
  lastIds(): Promise<Map<CopiedTable, number>>;
  setLastIds(ids: ReadonlyMap<CopiedTable, number>): Promise<void>;
  /** Without it, disposing undoes everything. */
  commit(): Promise<void>;
}

/** Text as every engine can keep it. */
export const withoutNul = (text: string): string => (text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text);
