/** A released step never changes. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE chain (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    chain_id TEXT,
    genesis TEXT,
    next_block INTEGER NOT NULL,
    newest_time INTEGER NOT NULL DEFAULT 0
  ) STRICT;

  CREATE TABLE blocks (hash TEXT PRIMARY KEY, number INTEGER NOT NULL, is_canonical INTEGER NOT NULL) STRICT;
  CREATE INDEX blocks_by_number ON blocks (number);

  CREATE TABLE gaps (
    part TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    reason TEXT NOT NULL,
    since INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    retry_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (part, first)
  ) STRICT;

  CREATE TABLE quarantine (
    id INTEGER PRIMARY KEY,
    block_number INTEGER NOT NULL,
    block_hash TEXT NOT NULL,
    tx_hash TEXT,
    part TEXT NOT NULL,
    bytes TEXT NOT NULL,
    reason TEXT NOT NULL,
    found_at INTEGER NOT NULL,
    UNIQUE (block_hash, part, bytes)
  ) STRICT;

  CREATE TABLE tokens (
    address TEXT PRIMARY KEY,
    name TEXT,
    symbol TEXT,
    decimals INTEGER,
    asked_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE instance (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL) STRICT;
  INSERT INTO instance VALUES (1, lower(hex(randomblob(6))));

  CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    url TEXT NOT NULL,
    event_type TEXT NOT NULL,
    confirmations TEXT NOT NULL,
    withdrawals INTEGER NOT NULL,
    parallel INTEGER NOT NULL,
    from_block INTEGER
  ) STRICT;

  CREATE TABLE addresses (
    id TEXT PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    address TEXT NOT NULL,
    UNIQUE (address, webhook_id)
  ) STRICT;
  CREATE INDEX addresses_of_webhook ON addresses (webhook_id);

  CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id TEXT NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    project_id TEXT NOT NULL,
    tx_hash TEXT NOT NULL,
    block_number INTEGER NOT NULL,
    block_hash TEXT NOT NULL,
    event_key TEXT NOT NULL,
    transfer_key TEXT NOT NULL,
    place TEXT,
    matched TEXT,
    block_time INTEGER,
    replay INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0,
    moved_from TEXT,
    state TEXT NOT NULL,
    confirm_at INTEGER,
    confirm_tag TEXT,
    token TEXT,
    draft TEXT,
    body TEXT,
    rank INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    repeats INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER,
    ended_at INTEGER,
    error TEXT,
    UNIQUE (webhook_id, block_hash, event_key, replay, removed)
  ) STRICT;
  CREATE INDEX deliveries_due ON deliveries (webhook_id, rank, due_at) WHERE state = 'pending';
  CREATE INDEX deliveries_due_at ON deliveries (webhook_id, due_at) WHERE state = 'pending';
  CREATE INDEX deliveries_waiting ON deliveries (confirm_tag) WHERE state = 'waiting';
  CREATE INDEX deliveries_unnamed ON deliveries (token) WHERE state = 'waiting' AND body IS NULL;
  CREATE INDEX deliveries_failed ON deliveries (webhook_id, id) WHERE state = 'failed';
  CREATE INDEX deliveries_orphaned ON deliveries (webhook_id, tx_hash) WHERE state = 'orphaned';
  CREATE INDEX deliveries_by_block ON deliveries (block_hash);
  CREATE INDEX deliveries_done ON deliveries (block_number)
    WHERE state IN ('delivered', 'dropped', 'orphaned', 'withdrawn', 'moved');

  CREATE TABLE replays (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id TEXT NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    next INTEGER NOT NULL,
    last INTEGER NOT NULL,
    addresses TEXT,
    is_forced INTEGER NOT NULL,
    error TEXT
  ) STRICT;
  CREATE INDEX replays_of_webhook ON replays (webhook_id);`,
];
