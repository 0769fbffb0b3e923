/**
 * The schema, one migration a version; each runs in a transaction of its own. Times are milliseconds since 1970,
 * Discord ids are text, addresses are lower-case text.
 */
export const migrations: string[] = [
  `
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

  -- Why a transfer was or was not told to a subscription.
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
  `,
  `
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

  -- marks: JSON of what the line warns of. due_at: not before; hold: why it waits for that (hourly, daily, quiet).
  ALTER TABLE alerts ADD COLUMN marks TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE alerts ADD COLUMN due_at INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE alerts ADD COLUMN hold TEXT;
  DROP INDEX alerts_waiting;
  CREATE INDEX alerts_waiting ON alerts (channel_id, hold, due_at, id) WHERE state = 'waiting';
  -- Why a message is what it is. digest: hourly, daily, quiet, backlog, burst. edit: change, label, join (with its payload).
  -- A notice is a message without alerts; reason: the channel that it tells of.
  ALTER TABLE batches ADD COLUMN reason TEXT;
  CREATE INDEX batches_sent ON batches (channel_id, sent_at) WHERE state = 'sent';

  -- A scope's latest transfers, for the dry run of a subscription.
  CREATE INDEX transfers_scope ON transfers (scope, seen_at);
  ALTER TABLE decisions ADD COLUMN address TEXT NOT NULL DEFAULT '';
  ALTER TABLE decisions ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX decisions_guild ON decisions (guild_id, at);
  -- Which watcher a delivery was sent for, as its body said.
  ALTER TABLE deliveries ADD COLUMN project_id TEXT;
  ALTER TABLE deliveries ADD COLUMN address_type TEXT;
  ALTER TABLE deliveries ADD COLUMN direction TEXT;
  ALTER TABLE deliveries ADD COLUMN last_at INTEGER;
  CREATE INDEX deliveries_transfer ON deliveries (transfer_key);

  -- What the explorer said of tokens; cataloged is null where it did not say. skeleton: equal for symbols that look alike.
  CREATE TABLE catalog (
    token TEXT PRIMARY KEY, cataloged INTEGER, symbol TEXT, name TEXT, skeleton TEXT, checked_at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX catalog_genuine ON catalog (skeleton) WHERE cataloged = 1;
  CREATE INDEX catalog_checked ON catalog (checked_at);
  -- Whom an address dealt with that a server watches; ends: the first and last four digits, which is what a look-alike
  -- copies. No server learns from another one's, because that one's events or labels may be made up.
  CREATE TABLE counterparties (
    guild_id TEXT NOT NULL, address TEXT NOT NULL, ends TEXT NOT NULL, counterparty TEXT NOT NULL,
    seen_at INTEGER NOT NULL, PRIMARY KEY (guild_id, address, ends, counterparty)
  ) WITHOUT ROWID;
  CREATE INDEX counterparties_seen ON counterparties (seen_at);
  CREATE INDEX subscriptions_address ON subscriptions (guild_id, address);
  -- How far each scope's events had come, a sample a minute: what tells of a block long before is late.
  CREATE TABLE heads (
    scope INTEGER NOT NULL, at INTEGER NOT NULL, block INTEGER NOT NULL, PRIMARY KEY (scope, at)
  ) WITHOUT ROWID;
  CREATE INDEX heads_block ON heads (scope, block);
  -- The language that the server has in Discord, in which it is told where nobody chose another.
  ALTER TABLE guilds ADD COLUMN locale TEXT;
  `,
  `
  -- How many alerts a digest was frozen with.
  ALTER TABLE batches ADD COLUMN lines INTEGER;

  -- A new transfer touches one random page instead of four: all that is known of it is found by the beginning of its
  -- transaction's hash, and everything else is written where the table ends. Keys are bytes. The transfers of a
  -- transaction: WHERE substr(tx_hash, 3, 8) = substr(?, 3, 8) AND tx_hash = ?.
  CREATE TABLE new_transfers (
    id INTEGER PRIMARY KEY, key BLOB NOT NULL, scope INTEGER NOT NULL, tx_hash TEXT NOT NULL,
    seen_at INTEGER NOT NULL, count INTEGER NOT NULL, bodies INTEGER NOT NULL, reorganised INTEGER NOT NULL DEFAULT 0,
    data TEXT NOT NULL
  );
  INSERT INTO new_transfers SELECT id, unhex(key), scope, tx_hash, seen_at, count, bodies, reorganised, data
    FROM transfers ORDER BY id;
  CREATE TABLE new_deliveries (
    transfer_id INTEGER NOT NULL REFERENCES transfers ON DELETE CASCADE, key BLOB NOT NULL, count INTEGER NOT NULL,
    owed INTEGER NOT NULL, answered_at INTEGER, received INTEGER NOT NULL, seen_at INTEGER NOT NULL,
    project_id TEXT, address_type TEXT, direction TEXT, last_at INTEGER,
    PRIMARY KEY (transfer_id, key)
  ) WITHOUT ROWID;
  -- In the order of the index in which each is looked up, and then of the table that is written.
  WITH sorted AS MATERIALIZED (SELECT * FROM deliveries ORDER BY transfer_key)
  INSERT INTO new_deliveries SELECT t.id, unhex(d.key), d.count, d.owed, d.answered_at, d.received, d.seen_at,
      d.project_id, d.address_type, d.direction, d.last_at
    FROM sorted d CROSS JOIN transfers t ON t.key = d.transfer_key ORDER BY t.id, unhex(d.key);
  DROP TABLE deliveries;
  DROP TABLE transfers;
  ALTER TABLE new_transfers RENAME TO transfers;
  ALTER TABLE new_deliveries RENAME TO deliveries;
  CREATE UNIQUE INDEX transfers_key ON transfers (substr(tx_hash, 3, 8), key);
  CREATE INDEX transfers_scope ON transfers (scope, seen_at);

  -- JSON of how many equal transfers a delivery's bodies of the first minute tell of; null: there was one body.
  ALTER TABLE deliveries ADD COLUMN minute TEXT;

  -- For forgetting what is old: no step may look through everything.
  CREATE INDEX dead_letters_alert ON dead_letters (alert_id);
  CREATE INDEX batches_age ON batches (frozen_at);
  `,
  `
  -- What changes with every event has small rows of its own: hundreds of subscriptions share a page of them.
  CREATE TABLE rhythms (
    subscription_id INTEGER PRIMARY KEY REFERENCES subscriptions ON DELETE CASCADE, events INTEGER NOT NULL DEFAULT 0,
    last_event_at INTEGER, gap_ms INTEGER, silence_told_at INTEGER
  );
  INSERT INTO rhythms SELECT id, events, last_event_at, gap_ms, silence_told_at FROM subscriptions;
  ALTER TABLE subscriptions DROP COLUMN events;
  ALTER TABLE subscriptions DROP COLUMN last_event_at;
  ALTER TABLE subscriptions DROP COLUMN gap_ms;
  ALTER TABLE subscriptions DROP COLUMN silence_told_at;
  CREATE TRIGGER subscriptions_rhythm AFTER INSERT ON subscriptions
    BEGIN INSERT INTO rhythms (subscription_id) VALUES (new.id); END;
  -- Decisions are counted some thousand at a time.
  INSERT INTO meta SELECT 'counted-decisions', coalesce(max(id), 0) FROM decisions;
  `,
  `
  -- When what was set aside had been answered; it goes back to the inbox with it, and is told from its equals by it.
  ALTER TABLE quarantine ADD COLUMN answered_at INTEGER;
  ALTER TABLE inbox ADD COLUMN answered_at INTEGER;
  CREATE INDEX channels_guild ON channels (guild_id);
  `,
  `
  -- What was seen is found in epochs of 2^17 transfers, so that a new one is written beside the ones before it and not
  -- anywhere among 50 million. The transfers of a transaction: id >> 17 = ? AND substr(tx_hash, 3, 8) = substr(?, 3, 8)
  -- AND tx_hash = ?, for each epoch. bloom: which transactions a full epoch may hold; a transfer that comes after that
  -- was taken down makes it void.
  DROP INDEX transfers_key;
  CREATE UNIQUE INDEX transfers_key ON transfers (id >> 17, substr(tx_hash, 3, 8), key);
  CREATE TABLE epochs (epoch INTEGER PRIMARY KEY, bloom BLOB NOT NULL);
  CREATE TRIGGER transfers_epoch AFTER INSERT ON transfers
    BEGIN DELETE FROM epochs WHERE epoch = new.id >> 17; END;
  `,
  `
  -- Questions that one person may confirm once. Those of the last quarter of an hour, which can still be answered, keep
  -- their ids: buttons that were already sent name them.
  CREATE TABLE confirmations (
    id INTEGER PRIMARY KEY AUTOINCREMENT, guild_id TEXT NOT NULL, user_id TEXT NOT NULL, action TEXT NOT NULL,
    detail TEXT NOT NULL, asked_at INTEGER NOT NULL
  );
  CREATE INDEX confirmations_guild ON confirmations (guild_id, action, id);
  INSERT INTO confirmations SELECT id, guild_id, user_id, replace(action, '.asked', ''), detail, at FROM audit
    WHERE action IN ('webhook.remove.asked', 'subscription.import.asked') AND at > (unixepoch() - 900) * 1000;
  INSERT INTO confirmations SELECT id, guild_id, user_id, 'webhook.forget', detail, at FROM audit
    WHERE action = 'webhook.remove' AND at > (unixepoch() - 900) * 1000;
  DELETE FROM audit WHERE action IN ('webhook.remove.asked', 'webhook.remove.confirmed', 'webhook.remove.cancelled',
    'subscription.import.asked', 'subscription.import.confirmed', 'subscription.import.cancelled');

  -- Guilds whose erasure began and is not finished: their project's scope (-1: none), and each table's last row then.
  CREATE TABLE erasures (
    guild_id TEXT PRIMARY KEY, scope INTEGER NOT NULL, last_alert INTEGER NOT NULL, last_batch INTEGER NOT NULL,
    last_decision INTEGER NOT NULL, last_audit INTEGER NOT NULL
  ) WITHOUT ROWID;
  INSERT INTO erasures SELECT substr(key, 9), value ->> 'scope', value ->> 'alerts', value ->> 'batches',
      value ->> 'decisions', value ->> 'audit'
    FROM meta WHERE key GLOB 'erasing-*';
  DELETE FROM meta WHERE key GLOB 'erasing-*';
  `,
  `
  -- A transfer is stored once, and has one alert in a channel: the engine refuses a second one. Whatever is there twice
  -- keeps its oldest row.
  DROP TRIGGER transfers_epoch;
  DROP TABLE epochs;
  CREATE TABLE twins AS
    WITH twice AS MATERIALIZED (
      SELECT key, min(id) AS kept FROM transfers GROUP BY substr(tx_hash, 3, 8), key HAVING count(*) > 1)
    SELECT t.id, kept FROM twice CROSS JOIN transfers t ON t.key = twice.key WHERE t.id <> kept;
  UPDATE OR IGNORE deliveries SET transfer_id = (SELECT kept FROM twins WHERE id = transfer_id)
    WHERE transfer_id IN (SELECT id FROM twins);
  DELETE FROM deliveries WHERE transfer_id IN (SELECT id FROM twins);
  UPDATE decisions SET transfer_id = (SELECT kept FROM twins WHERE id = transfer_id)
    WHERE transfer_id IN (SELECT id FROM twins);
  UPDATE alerts SET transfer_id = (SELECT kept FROM twins WHERE id = transfer_id)
    WHERE transfer_id IN (SELECT id FROM twins);
  DELETE FROM transfers WHERE id IN (SELECT id FROM twins);
  DROP TABLE twins;
  CREATE TABLE twins AS
    WITH twice AS MATERIALIZED (
      SELECT transfer_id, channel_id, min(id) AS kept FROM alerts GROUP BY transfer_id, channel_id HAVING count(*) > 1)
    SELECT a.id FROM twice CROSS JOIN alerts a USING (transfer_id, channel_id) WHERE a.id <> kept;
  DELETE FROM dead_letters WHERE alert_id IN (SELECT id FROM twins);
  DELETE FROM alerts WHERE id IN (SELECT id FROM twins);
  DROP TABLE twins;
  -- A key is a hash that covers the whole transaction hash, so this is unique over the key, and the transfers of a
  -- transaction lie side by side: WHERE substr(tx_hash, 3, 8) = substr(?, 3, 8) AND tx_hash = ?.
  DROP INDEX transfers_key;
  CREATE UNIQUE INDEX transfers_key ON transfers (substr(tx_hash, 3, 8), key);
  DROP INDEX alerts_transfer;
  CREATE UNIQUE INDEX alerts_transfer ON alerts (transfer_id, channel_id);

  -- How often each subscription's address moves; subscriptions without an event have no row. Decisions that the earlier
  -- count had not reached are added.
  CREATE TABLE activity_stats (
    subscription_id INTEGER PRIMARY KEY REFERENCES subscriptions ON DELETE CASCADE, events INTEGER NOT NULL,
    last_event_at INTEGER NOT NULL, gap_ms INTEGER, silence_reported_at INTEGER
  );
  INSERT INTO activity_stats SELECT subscription_id, events, last_event_at, gap_ms, silence_told_at FROM rhythms
    WHERE last_event_at IS NOT NULL;
  WITH progress AS (
      SELECT coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'counted-decisions'), 0) AS counted,
        (SELECT value FROM meta WHERE key = 'counting-decisions') AS pass),
    uncounted AS (
      SELECT d.subscription_id, count(*) AS events, max(d.at) AS last_event_at
      FROM progress CROSS JOIN decisions d ON d.id > counted
      WHERE NOT (pass IS NOT NULL AND d.id <= pass ->> 'to'
        AND (d.subscription_id, d.id) <= (pass ->> 'subscription', pass ->> 'id'))
      GROUP BY d.subscription_id)
  INSERT INTO activity_stats (subscription_id, events, last_event_at)
    SELECT subscription_id, u.events, u.last_event_at FROM uncounted u JOIN subscriptions s ON s.id = subscription_id
    WHERE true
    ON CONFLICT DO UPDATE SET events = events + excluded.events, silence_reported_at = NULL,
      last_event_at = max(last_event_at, excluded.last_event_at);
  DROP TRIGGER subscriptions_rhythm;
  DROP TABLE rhythms;
  DELETE FROM meta WHERE key IN ('counted-decisions', 'counting-decisions');
  `,
  `
  -- Every column has one meaning. digest_reason: why a message is a digest (hourly, daily, quiet, backlog, burst).
  -- edit_kind: change, label, join. about_channel_id: the channel that a notice reports as closed. payload: null in an edit
  -- that is rendered when it is sent. plain: an alert as text without an embed.
  CREATE TABLE new_batches (
    id INTEGER PRIMARY KEY AUTOINCREMENT, channel_id TEXT NOT NULL, kind TEXT NOT NULL, digest_reason TEXT, edit_kind TEXT,
    about_channel_id TEXT, nonce TEXT NOT NULL, reference TEXT NOT NULL, payload TEXT, plain INTEGER NOT NULL DEFAULT 0,
    state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, unsure INTEGER NOT NULL DEFAULT 0, attachment TEXT,
    frozen_at INTEGER NOT NULL, first_sent_at INTEGER, sent_at INTEGER, message_id TEXT, lines INTEGER
  );
  INSERT INTO new_batches (id, channel_id, kind, digest_reason, edit_kind, about_channel_id, nonce, reference, payload,
      plain, state, attempts, unsure, attachment, frozen_at, first_sent_at, sent_at, message_id, lines)
    SELECT id, channel_id, kind, iif(kind = 'digest', reason, NULL), iif(kind = 'edit', reason, NULL),
      iif(kind = 'notice', reason, NULL), nonce, reference, nullif(payload, ''),
      CASE WHEN kind = 'create' AND json_valid(payload) THEN payload ->> '$.embeds' IS NULL ELSE 0 END,
      state, attempts, unsure, attachment, frozen_at, first_sent_at, sent_at, message_id, lines
    FROM batches ORDER BY id;
  -- No id is given twice, whether its batch is still there or not.
  DELETE FROM sqlite_sequence WHERE name = 'new_batches';
  INSERT INTO sqlite_sequence SELECT 'new_batches', seq FROM sqlite_sequence WHERE name = 'batches';
  DROP TABLE batches;
  ALTER TABLE new_batches RENAME TO batches;
  CREATE INDEX batches_frozen ON batches (channel_id, id) WHERE state = 'frozen';
  CREATE INDEX batches_reference ON batches (reference);
  CREATE INDEX batches_sent ON batches (channel_id, sent_at) WHERE state = 'sent';
  CREATE INDEX batches_age ON batches (frozen_at);

  -- payload: null where no message was made, and of digests.
  CREATE TABLE new_dead_letters (
    id INTEGER PRIMARY KEY, alert_id INTEGER NOT NULL, channel_id TEXT NOT NULL, payload TEXT, reason TEXT NOT NULL,
    at INTEGER NOT NULL
  );
  INSERT INTO new_dead_letters SELECT id, alert_id, channel_id, nullif(payload, ''), reason, at FROM dead_letters;
  DROP TABLE dead_letters;
  ALTER TABLE new_dead_letters RENAME TO dead_letters;
  CREATE INDEX dead_letters_alert ON dead_letters (alert_id);

  -- discarded_at: when an operator gave a dead alert up for good.
  ALTER TABLE alerts RENAME COLUMN marks TO warnings;
  ALTER TABLE alerts ADD COLUMN discarded_at INTEGER;
  UPDATE alerts SET discarded_at = due_at, hold = NULL, due_at = 0 WHERE hold = 'discarded';

  -- Guilds that removed the bot.
  CREATE TABLE guild_removals (guild_id TEXT PRIMARY KEY, removed_at INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO guild_removals SELECT substr(key, 9), CAST(value AS INTEGER) FROM meta WHERE key GLOB 'removed-*';
  DELETE FROM meta WHERE key GLOB 'removed-*';

  -- state: ready, parked (403), unreachable (404, bot removed).
  UPDATE channels SET state = 'unreachable' WHERE state = 'paused';

  -- What queries ask of a transfer. Virtual: they cannot disagree with data, cost no space, and need no second pass over
  -- 50 million rows.
  ALTER TABLE transfers ADD COLUMN from_address TEXT AS (data ->> '$.from') VIRTUAL;
  ALTER TABLE transfers ADD COLUMN to_address TEXT AS (data ->> '$.to') VIRTUAL;
  ALTER TABLE transfers ADD COLUMN token TEXT AS (data ->> '$.token') VIRTUAL;
  ALTER TABLE transfers ADD COLUMN kind TEXT AS (data ->> '$.kind') VIRTUAL;
  ALTER TABLE transfers ADD COLUMN token_symbol TEXT AS (data ->> '$.tokenSymbol') VIRTUAL;
  ALTER TABLE transfers ADD COLUMN token_type TEXT AS (data ->> '$.tokenType') VIRTUAL;
  `,
  `
  -- How alerts look (compact, full); null in a subscription: as its guild chose, and there: compact.
  ALTER TABLE subscriptions ADD COLUMN style TEXT;
  ALTER TABLE guilds ADD COLUMN style TEXT;
  `,
  `
  -- identity: JSON of how a signed delivery's headers name it. names: JSON of the ids and places by which a delivery's
  -- signed bodies were told apart. signed: the project's deliveries must be signed; its secrets are among the sealed keys.
  ALTER TABLE inbox ADD COLUMN identity TEXT;
  ALTER TABLE quarantine ADD COLUMN identity TEXT;
  ALTER TABLE deliveries ADD COLUMN names TEXT;
  ALTER TABLE projects ADD COLUMN signed INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- webhook_id: the webhook that gets new addresses, once somebody chose it.
  ALTER TABLE guilds ADD COLUMN webhook_id TEXT;
  `,
  `
  -- The router takes scopes in turn. bytes: of the deliveries that a server's own URL stored on a day (UTC, since 1970).
  CREATE INDEX inbox_scope ON inbox (scope);
  CREATE TABLE scope_usage (scope INTEGER PRIMARY KEY, day INTEGER NOT NULL, bytes INTEGER NOT NULL);
  `,
  `
  -- inbox_id: the number that the delivery had in the inbox, by which the log names it.
  ALTER TABLE alerts ADD COLUMN inbox_id INTEGER;
  `,
  `
  -- One name book for each server: an address has one name, and a name one address. The labels of subscriptions move there.
  -- Where an address had several names, it keeps the one in the book, else the oldest. Where addresses had the same name,
  -- the one in the book keeps it, else the oldest; the others get the end of the address behind it, or the whole address.
  CREATE TABLE book (
    guild_id TEXT NOT NULL, address TEXT NOT NULL, name TEXT NOT NULL, created_by TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (guild_id, address), UNIQUE (guild_id, name COLLATE NOCASE)
  ) WITHOUT ROWID;
  CREATE TABLE named AS
    SELECT guild_id, address, name, created_by, at FROM (
      SELECT guild_id, address, name, created_by, at, 0 AS place, 0 AS id FROM labels
      UNION ALL SELECT guild_id, address, label, created_by, created_at, 1, id FROM subscriptions WHERE label IS NOT NULL
    ) ORDER BY place, at, id;
  DELETE FROM named WHERE rowid NOT IN (SELECT min(rowid) FROM named GROUP BY guild_id, address);
  INSERT OR IGNORE INTO book SELECT * FROM named ORDER BY rowid;
  INSERT OR IGNORE INTO book
    SELECT guild_id, address, substr(name, 1, 50) || ' (' || substr(address, -6) || ')', created_by, at FROM named ORDER BY rowid;
  INSERT OR IGNORE INTO book
    SELECT guild_id, address, substr(name, 1, 16) || ' ' || address, created_by, at FROM named ORDER BY rowid;
  DROP TABLE named;
  DROP TABLE labels;
  ALTER TABLE book RENAME TO labels;
  ALTER TABLE subscriptions DROP COLUMN label;
  `,
];
