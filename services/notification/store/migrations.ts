/** The steps that lead from an empty file to the newest shape, in order; a file's `user_version` counts those it has. */
export const MIGRATIONS: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS cursor (one INTEGER PRIMARY KEY CHECK (one = 1), genesis TEXT NOT NULL, next INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS blocks (hash TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS blocksByNumber ON blocks (number);
  CREATE TABLE IF NOT EXISTS missed (first INTEGER PRIMARY KEY, last INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS webhooks (
    id TEXT PRIMARY KEY, projectId TEXT NOT NULL, url TEXT NOT NULL, eventType TEXT NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS addresses (
    id TEXT PRIMARY KEY,
    webhookId TEXT NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    address TEXT NOT NULL,
    UNIQUE (address, webhookId)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS addressesOfWebhook ON addresses (webhookId);
  CREATE TABLE IF NOT EXISTS deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhookId TEXT NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    projectId TEXT NOT NULL,
    txHash TEXT NOT NULL,
    blockNumber INTEGER NOT NULL,
    body TEXT NOT NULL,
    dueAt INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    repeats INTEGER NOT NULL DEFAULT 0
  ) STRICT;`,

  `CREATE TABLE chain (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    chain_id TEXT,
    genesis TEXT,
    next_block INTEGER NOT NULL,
    told_time INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  INSERT INTO chain (one, genesis, next_block) SELECT 1, nullif(genesis, 'unknown'), next FROM cursor;
  DROP TABLE cursor;

  ALTER TABLE blocks RENAME TO old_blocks;
  DROP INDEX IF EXISTS blocksByNumber;
  CREATE TABLE blocks (hash TEXT PRIMARY KEY, number INTEGER NOT NULL, is_canonical INTEGER NOT NULL) STRICT;
  INSERT INTO blocks SELECT hash, number,
    rowid = (SELECT max(rowid) FROM old_blocks AS same WHERE same.number = old_blocks.number) FROM old_blocks;
  DROP TABLE old_blocks;
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
  INSERT INTO gaps (part, first, last, reason, since) SELECT 'block', first, last, 'missed earlier', 0 FROM missed;
  DROP TABLE missed;

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

  CREATE TABLE new_webhooks (
    id TEXT PRIMARY KEY,
    project_id TEXT NOT NULL,
    url TEXT NOT NULL,
    event_type TEXT NOT NULL,
    confirmations TEXT NOT NULL DEFAULT '0',
    withdrawals INTEGER NOT NULL DEFAULT 0,
    parallel INTEGER NOT NULL DEFAULT 1,
    from_block INTEGER
  ) STRICT;
  INSERT INTO new_webhooks (id, project_id, url, event_type)
    SELECT id, projectId, url, eventType FROM webhooks ORDER BY rowid;
  CREATE TABLE new_addresses (
    id TEXT PRIMARY KEY,
    webhook_id TEXT NOT NULL REFERENCES new_webhooks ON DELETE CASCADE,
    address TEXT NOT NULL,
    UNIQUE (address, webhook_id)
  ) STRICT;
  INSERT INTO new_addresses SELECT id, webhookId, address FROM addresses ORDER BY rowid;

  CREATE TABLE new_deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id TEXT NOT NULL REFERENCES new_webhooks ON DELETE CASCADE,
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
    token TEXT,
    draft TEXT,
    body TEXT,
    turn INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    repeats INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER,
    ended_at INTEGER,
    error TEXT,
    UNIQUE (webhook_id, block_hash, event_key, replay, removed)
  ) STRICT;
  INSERT INTO new_deliveries
    (id, webhook_id, project_id, tx_hash, block_number, block_hash, event_key, transfer_key, state, body, due_at, attempts, repeats)
    SELECT id, webhookId, projectId, txHash, blockNumber, coalesce(json_extract(body, '$.blockHash'), ''),
      'earlier:' || id, '', 'pending', body, dueAt, attempts, repeats
    FROM deliveries ORDER BY id;
  DROP TABLE deliveries;
  DROP TABLE addresses;
  DROP TABLE webhooks;
  ALTER TABLE new_webhooks RENAME TO webhooks;
  ALTER TABLE new_addresses RENAME TO addresses;
  ALTER TABLE new_deliveries RENAME TO deliveries;
  CREATE INDEX addresses_of_webhook ON addresses (webhook_id);
  CREATE INDEX deliveries_due ON deliveries (webhook_id, turn, due_at) WHERE state = 'pending';
  CREATE INDEX deliveries_due_at ON deliveries (webhook_id, due_at) WHERE state = 'pending';
  CREATE INDEX deliveries_waiting ON deliveries (confirm_at) WHERE state = 'waiting';
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

  'ALTER TABLE chain RENAME COLUMN told_time TO newest_time;',

  'ALTER TABLE deliveries RENAME COLUMN turn TO rank;',

  // `confirm_at` held -1 for the safe block and -2 for the finalized one.
  `ALTER TABLE deliveries ADD COLUMN confirm_tag TEXT;
  UPDATE deliveries SET confirm_tag = CASE confirm_at WHEN -1 THEN 'safe' ELSE 'finalized' END, confirm_at = NULL
    WHERE confirm_at < 0;
  DROP INDEX deliveries_waiting;
  CREATE INDEX deliveries_waiting ON deliveries (confirm_tag) WHERE state = 'waiting';`,
];
