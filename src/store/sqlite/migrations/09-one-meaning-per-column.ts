export const ONE_MEANING_PER_COLUMN = `
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

-- discarded_at: when an operator discarded a dead alert.
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
`;
