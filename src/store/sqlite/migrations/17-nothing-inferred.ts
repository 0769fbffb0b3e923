export const NOTHING_INFERRED = `
-- What was inferred from a text, a state or a special value has a column of its own.
-- bot_removed: closed because its guild removed the bot. reason is only text for people.
ALTER TABLE channels ADD COLUMN bot_removed INTEGER NOT NULL DEFAULT 0;
UPDATE channels SET bot_removed = 1 WHERE state = 'unreachable' AND reason = 'channel or server is gone';

-- nonce: null in edits, which create nothing. sent_at: only of what Discord has. These are rebuilt because a column that
-- may be null needs a new table. Messages are kept for 30 days, so they are copied within the time that updating.md names;
-- alerts, transfers and decisions are not touched.
CREATE TABLE new_batches (
  id INTEGER PRIMARY KEY AUTOINCREMENT, channel_id TEXT NOT NULL, kind TEXT NOT NULL, digest_reason TEXT, edit_kind TEXT,
  about_channel_id TEXT, nonce TEXT, reference TEXT NOT NULL, payload TEXT, plain INTEGER NOT NULL DEFAULT 0,
  state TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, unsure INTEGER NOT NULL DEFAULT 0, attachment TEXT,
  frozen_at INTEGER NOT NULL, first_sent_at INTEGER, sent_at INTEGER, message_id TEXT, alert_count INTEGER
);
INSERT INTO new_batches (id, channel_id, kind, digest_reason, edit_kind, about_channel_id, nonce, reference, payload, plain,
    state, attempts, unsure, attachment, frozen_at, first_sent_at, sent_at, message_id, alert_count)
  SELECT id, channel_id, kind, digest_reason, edit_kind, about_channel_id, iif(kind = 'edit', NULL, nonce), reference,
    payload, plain, state, attempts, unsure, attachment, frozen_at, first_sent_at, iif(state = 'sent', sent_at, NULL),
    message_id, alert_count
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

-- kind: alert, or change (the alert was posted, but a later edit of its message was not).
CREATE TABLE new_dead_letters (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, alert_id INTEGER NOT NULL, channel_id TEXT NOT NULL, payload TEXT,
  reason TEXT NOT NULL, at INTEGER NOT NULL
);
INSERT INTO new_dead_letters (id, kind, alert_id, channel_id, payload, reason, at)
  SELECT d.id, iif(a.state IS 'sent', 'change', 'alert'), d.alert_id, d.channel_id, d.payload, d.reason, d.at
  FROM dead_letters d LEFT JOIN alerts a ON a.id = d.alert_id ORDER BY d.id;
DROP TABLE dead_letters;
ALTER TABLE new_dead_letters RENAME TO dead_letters;
CREATE INDEX dead_letters_alert ON dead_letters (alert_id);

-- scope: null of a guild without a project of its own.
CREATE TABLE new_erasures (
  guild_id TEXT PRIMARY KEY, scope INTEGER, last_alert INTEGER NOT NULL, last_batch INTEGER NOT NULL,
  last_decision INTEGER NOT NULL, last_audit INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO new_erasures (guild_id, scope, last_alert, last_batch, last_decision, last_audit)
  SELECT guild_id, nullif(scope, -1), last_alert, last_batch, last_decision, last_audit FROM erasures;
DROP TABLE erasures;
ALTER TABLE new_erasures RENAME TO erasures;
`;
