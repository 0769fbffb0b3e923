export const PROJECTS_AND_LABELS = `
-- Servers' own notification projects; a project's number is its scope. sealed: its keys, under SECRETS_KEY.
CREATE TABLE projects (
  id INTEGER PRIMARY KEY AUTOINCREMENT, guild_id TEXT NOT NULL UNIQUE, project_id TEXT NOT NULL, sealed BLOB NOT NULL,
  updated_by TEXT NOT NULL, updated_at INTEGER NOT NULL
);
-- A retiring token still receives, until it is revoked.
ALTER TABLE receiver_tokens ADD COLUMN retiring INTEGER NOT NULL DEFAULT 0;
CREATE TABLE webhook_names (
  guild_id TEXT NOT NULL, webhook_id TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (guild_id, webhook_id)
) WITHOUT ROWID;

-- A server's address book.
CREATE TABLE labels (
  guild_id TEXT NOT NULL, address TEXT NOT NULL, name TEXT NOT NULL, created_by TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (guild_id, address)
) WITHOUT ROWID;
CREATE TABLE token_mutes (
  guild_id TEXT NOT NULL, token TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (guild_id, token)
) WITHOUT ROWID;

-- filters: JSON of what differs from the defaults. digest: hourly or daily. quiet: '22:00-07:00' in the server's time
-- zone. mention_cooldown in minutes. events and gap_ms: how many came, and how far apart on average.
ALTER TABLE subscriptions ADD COLUMN filters TEXT NOT NULL DEFAULT '{}';
ALTER TABLE subscriptions ADD COLUMN digest TEXT;
ALTER TABLE subscriptions ADD COLUMN quiet TEXT;
ALTER TABLE subscriptions ADD COLUMN mention_minimum TEXT;
ALTER TABLE subscriptions ADD COLUMN mention_cooldown INTEGER NOT NULL DEFAULT 5;
ALTER TABLE subscriptions ADD COLUMN mentioned_at INTEGER;
ALTER TABLE subscriptions ADD COLUMN watch_silence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN events INTEGER NOT NULL DEFAULT 0;
ALTER TABLE subscriptions ADD COLUMN gap_ms INTEGER;
ALTER TABLE subscriptions ADD COLUMN silence_told_at INTEGER;

-- marks: JSON of the alert's warnings. due_at: not before; hold: why it waits for that (hourly, daily, quiet).
ALTER TABLE alerts ADD COLUMN marks TEXT NOT NULL DEFAULT '[]';
ALTER TABLE alerts ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE alerts ADD COLUMN hold TEXT;
DROP INDEX alerts_waiting;
CREATE INDEX alerts_waiting ON alerts (channel_id, hold, due_at, id) WHERE state = 'waiting';
-- The kind of a message. digest: hourly, daily, quiet, backlog, burst. edit: change, label, join (with its payload).
-- A notice is a message without alerts; reason: the channel that it reports.
ALTER TABLE batches ADD COLUMN reason TEXT;
CREATE INDEX batches_sent ON batches (channel_id, sent_at) WHERE state = 'sent';

-- A scope's latest transfers, for the dry run of a subscription.
CREATE INDEX transfers_scope ON transfers (scope, seen_at);
ALTER TABLE decisions ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE decisions ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
CREATE INDEX decisions_guild ON decisions (guild_id, at);
-- The watcher that a delivery was sent for, from its body.
ALTER TABLE deliveries ADD COLUMN project_id TEXT;
ALTER TABLE deliveries ADD COLUMN address_type TEXT;
ALTER TABLE deliveries ADD COLUMN direction TEXT;
ALTER TABLE deliveries ADD COLUMN last_at INTEGER;
CREATE INDEX deliveries_transfer ON deliveries (transfer_key);

-- Tokens as the explorer knows them; cataloged is null if it is unknown. skeleton: equal for symbols that look alike.
CREATE TABLE catalog (
  token TEXT PRIMARY KEY, cataloged INTEGER, symbol TEXT, name TEXT, skeleton TEXT, checked_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX catalog_genuine ON catalog (skeleton) WHERE cataloged = 1;
CREATE INDEX catalog_checked ON catalog (checked_at);
-- Counterparties of watched addresses. ends: the first and last four digits, which a look-alike copies. Each server has
-- its own, because another server's events or labels may be made up.
CREATE TABLE counterparties (
  guild_id TEXT NOT NULL, address TEXT NOT NULL, ends TEXT NOT NULL, counterparty TEXT NOT NULL,
  seen_at INTEGER NOT NULL, PRIMARY KEY (guild_id, address, ends, counterparty)
) WITHOUT ROWID;
CREATE INDEX counterparties_seen ON counterparties (seen_at);
CREATE INDEX subscriptions_address ON subscriptions (guild_id, address);
-- How far each scope's events had come, a sample a minute. An event of a much earlier block is late.
CREATE TABLE heads (
  scope INTEGER NOT NULL, at INTEGER NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (scope, at)
) WITHOUT ROWID;
CREATE INDEX heads_block ON heads (scope, block);
-- The language that the server has in Discord, which is used unless somebody chose another.
ALTER TABLE guilds ADD COLUMN locale TEXT;
`;
