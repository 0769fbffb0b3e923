import type { Database } from 'better-sqlite3';

/** What is stored about a server. */
export interface Stored {
  subscriptions: number;
  labels: number;
  tokenMutes: number;
  /** A notification project of its own, with its receiver URLs. */
  project: boolean;
  webhookNames: number;
  settings: boolean;
  /** Alerts that wait to be told. */
  waiting: number;
  /** Alerts told in the past, and reasons recorded for what was not. */
  history: number;
  /** Entries of who changed what. */
  audit: number;
}

/** What concerns one server, in an order in which nothing is left that points to what is gone. */
const ERASURES = [
  'DELETE FROM decisions WHERE guild_id = @guildId',
  'DELETE FROM dead_letters WHERE alert_id IN (SELECT id FROM alerts WHERE guild_id = @guildId)',
  'DELETE FROM alerts WHERE guild_id = @guildId',
  'DELETE FROM batches WHERE channel_id IN (SELECT channel_id FROM channels WHERE guild_id = @guildId)',
  'DELETE FROM channels WHERE guild_id = @guildId',
  'DELETE FROM counterparties WHERE guild_id = @guildId',
  'DELETE FROM subscriptions WHERE guild_id = @guildId',
  'DELETE FROM labels WHERE guild_id = @guildId',
  'DELETE FROM token_mutes WHERE guild_id = @guildId',
  'DELETE FROM webhook_names WHERE guild_id = @guildId',
  'DELETE FROM guilds WHERE guild_id = @guildId',
  'DELETE FROM audit WHERE guild_id = @guildId',
];

/** What came over the receiver URLs of a server's own project; deliveries go with their transfers. `?` is its scope. */
const SCOPE_ERASURES = [
  'DELETE FROM transfers WHERE scope = ?',
  'DELETE FROM heads WHERE scope = ?',
  'DELETE FROM quarantine WHERE scope = ?',
  'DELETE FROM inbox WHERE scope = ?',
  'DELETE FROM receiver_tokens WHERE scope = ?',
  'DELETE FROM projects WHERE id = ?',
];

/** Everything about one server: what there is, and its end. */
export function erasureTable(db: Database) {
  const counted = (table: string, condition = '') =>
    `(SELECT count(*) FROM ${table} WHERE guild_id = @guildId${condition})`;
  const stored = db.prepare<{ guildId: string }, Record<keyof Stored, number>>(
    `SELECT ${counted('subscriptions')} AS subscriptions, ${counted('labels')} AS labels,
       ${counted('token_mutes')} AS tokenMutes, ${counted('projects')} AS project,
       ${counted('webhook_names')} AS webhookNames, ${counted('guilds')} AS settings,
       ${counted('alerts', " AND state IN ('waiting', 'frozen')")} AS waiting,
       ${counted('alerts', " AND state NOT IN ('waiting', 'frozen')")} + ${counted('decisions')} AS history,
       ${counted('audit')} AS audit`,
  );
  const scopeOf = db.prepare<[string], { scope: number }>('SELECT id AS scope FROM projects WHERE guild_id = ?');
  const erasures = ERASURES.map((sql) => db.prepare<{ guildId: string }>(sql));
  const scopeErasures = SCOPE_ERASURES.map((sql) => db.prepare<[number]>(sql));

  const read = (guildId: string): Stored => {
    const counts = stored.get({ guildId })!;
    return { ...counts, project: counts.project > 0, settings: counts.settings > 0 };
  };
  const erase = db.transaction((guildId: string): Stored => {
    const before = read(guildId);
    const project = scopeOf.get(guildId);
    for (const statement of erasures) statement.run({ guildId });
    if (project) for (const statement of scopeErasures) statement.run(project.scope);
    return before;
  });

  return {
    stored: read,
    /** Erases everything that is stored about a server; gives what it was. */
    erase: (guildId: string): Stored => erase.immediate(guildId),
  };
}
