export const FIRST_SCHEMA = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Whose events a path token receives. Scope 0 is the operator's project.
CREATE TABLE receiver_tokens (
  token TEXT PRIMARY KEY, scope INTEGER NOT NULL, created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Bytes as they came, append-only; the router deletes what it has routed. No other index: this is the path of the 200.
CREATE TABLE inbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT, scope INTEGER NOT NULL, received_at INTEGER NOT NULL, body BLOB NOT NULL
);

CREATE TABLE quarantine (
  id INTEGER PRIMARY KEY, scope INTEGER NOT NULL, received_at INTEGER NOT NULL, reason TEXT NOT NULL, body BLOB NOT NULL
);

-- The ledger: what was seen, remembered for 30 days.
CREATE TABLE transfers (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, scope INTEGER NOT NULL, tx_hash TEXT NOT NULL,
  seen_at INTEGER NOT NULL, count INTEGER NOT NULL, bodies INTEGER NOT NULL, reorganised INTEGER NOT NULL DEFAULT 0,
  data TEXT NOT NULL
);
CREATE INDEX transfers_tx ON transfers (tx_hash);
CREATE INDEX transfers_seen ON transfers (seen_at);
CREATE TABLE deliveries (
  key TEXT PRIMARY KEY, transfer_key TEXT NOT NULL, count INTEGER NOT NULL, owed INTEGER NOT NULL,
  answered_at INTEGER, received INTEGER NOT NULL, seen_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX deliveries_seen ON deliveries (seen_at);

-- Why a transfer was or was not posted for a subscription.
CREATE TABLE decisions (
  id INTEGER PRIMARY KEY, transfer_id INTEGER NOT NULL REFERENCES transfers ON DELETE CASCADE, guild_id TEXT NOT NULL,
  channel_id TEXT NOT NULL, subscription_id INTEGER NOT NULL, outcome TEXT NOT NULL
);
CREATE INDEX decisions_transfer ON decisions (transfer_id);

CREATE TABLE subscriptions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, guild_id TEXT NOT NULL, channel_id TEXT NOT NULL, address TEXT NOT NULL,
  label TEXT, direction TEXT NOT NULL DEFAULT 'any', kind TEXT NOT NULL DEFAULT 'any', minimum TEXT, token TEXT,
  mention TEXT, paused INTEGER NOT NULL DEFAULT 0, muted_until INTEGER, created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL, last_event_at INTEGER,
  UNIQUE (address, channel_id)
);
CREATE INDEX subscriptions_guild ON subscriptions (guild_id, channel_id);

CREATE TABLE guilds (
  guild_id TEXT PRIMARY KEY, default_channel TEXT, manager_role TEXT, timezone TEXT, language TEXT
) WITHOUT ROWID;

CREATE TABLE audit (
  id INTEGER PRIMARY KEY, guild_id TEXT NOT NULL, user_id TEXT NOT NULL, action TEXT NOT NULL, detail TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE INDEX audit_guild ON audit (guild_id, at);

-- The outbox. An alert is one transfer in one channel; matches is JSON [{subscription, perspective}].
CREATE TABLE alerts (
  id INTEGER PRIMARY KEY AUTOINCREMENT, transfer_id INTEGER NOT NULL REFERENCES transfers, guild_id TEXT NOT NULL,
  channel_id TEXT NOT NULL, matches TEXT NOT NULL, created_at INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'waiting', batch_id INTEGER REFERENCES batches
);
CREATE INDEX alerts_waiting ON alerts (channel_id, id) WHERE state = 'waiting';
CREATE INDEX alerts_transfer ON alerts (transfer_id);
CREATE INDEX alerts_batch ON alerts (batch_id) WHERE batch_id IS NOT NULL;

-- A batch is one message, frozen before its first byte is sent; state: frozen, sent, dead.
-- kind: create, digest (with attachment, a CSV file's text), or edit (of the message with the same reference).
CREATE TABLE batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT, channel_id TEXT NOT NULL, kind TEXT NOT NULL, nonce TEXT NOT NULL,
  reference TEXT NOT NULL, payload TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
  unsure INTEGER NOT NULL DEFAULT 0, attachment TEXT,
  frozen_at INTEGER NOT NULL, first_sent_at INTEGER, sent_at INTEGER, message_id TEXT
);
CREATE INDEX batches_frozen ON batches (channel_id, id) WHERE state = 'frozen';
CREATE INDEX batches_reference ON batches (reference);

-- What is known about a target channel. state: ready, parked (403), paused (404, bot removed).
CREATE TABLE channels (
  channel_id TEXT PRIMARY KEY, guild_id TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'ready', due_at INTEGER NOT NULL DEFAULT 0,
  attempts INTEGER NOT NULL DEFAULT 0, since INTEGER, reason TEXT
) WITHOUT ROWID;

CREATE TABLE dead_letters (
  id INTEGER PRIMARY KEY, alert_id INTEGER NOT NULL, channel_id TEXT NOT NULL, payload TEXT NOT NULL, reason TEXT NOT NULL,
  at INTEGER NOT NULL
);
`;
