export const IDS_AND_NAMES = `
-- No id is assigned twice. An erasure deletes what has an id up to those in its row, and operators type ids of
-- quarantined deliveries and dead letters.
CREATE TABLE new_audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT, guild_id TEXT NOT NULL, user_id TEXT NOT NULL, action TEXT NOT NULL,
  detail TEXT NOT NULL, at INTEGER NOT NULL
);
INSERT INTO new_audit (id, guild_id, user_id, action, detail, at)
  SELECT id, guild_id, user_id, action, detail, at FROM audit ORDER BY id;
CREATE TABLE new_decisions (
  id INTEGER PRIMARY KEY AUTOINCREMENT, transfer_id INTEGER NOT NULL REFERENCES transfers ON DELETE CASCADE,
  guild_id TEXT NOT NULL, channel_id TEXT NOT NULL, subscription_id INTEGER NOT NULL, outcome TEXT NOT NULL,
  address TEXT NOT NULL, at INTEGER NOT NULL
);
INSERT INTO new_decisions (id, transfer_id, guild_id, channel_id, subscription_id, outcome, address, at)
  SELECT id, transfer_id, guild_id, channel_id, subscription_id, outcome, address, at FROM decisions ORDER BY id;
CREATE TABLE new_quarantine (
  id INTEGER PRIMARY KEY AUTOINCREMENT, scope INTEGER NOT NULL, received_at INTEGER NOT NULL, reason TEXT NOT NULL,
  body BLOB NOT NULL, answered_at INTEGER, identity TEXT
);
INSERT INTO new_quarantine (id, scope, received_at, reason, body, answered_at, identity)
  SELECT id, scope, received_at, reason, body, answered_at, identity FROM quarantine ORDER BY id;
CREATE TABLE new_dead_letters (
  id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, alert_id INTEGER NOT NULL, channel_id TEXT NOT NULL,
  payload TEXT, reason TEXT NOT NULL, at INTEGER NOT NULL
);
INSERT INTO new_dead_letters (id, kind, alert_id, channel_id, payload, reason, at)
  SELECT id, kind, alert_id, channel_id, payload, reason, at FROM dead_letters ORDER BY id;
-- The rows that an erasure covers may be gone already.
DELETE FROM sqlite_sequence WHERE name IN ('new_audit', 'new_decisions', 'new_quarantine', 'new_dead_letters');
INSERT INTO sqlite_sequence (name, seq) VALUES
  ('new_audit', max((SELECT coalesce(max(id), 0) FROM audit), (SELECT coalesce(max(last_audit), 0) FROM erasures))),
  ('new_decisions',
    max((SELECT coalesce(max(id), 0) FROM decisions), (SELECT coalesce(max(last_decision), 0) FROM erasures))),
  ('new_quarantine', (SELECT coalesce(max(id), 0) FROM quarantine)),
  ('new_dead_letters', (SELECT coalesce(max(id), 0) FROM dead_letters));
DROP TABLE audit;
DROP TABLE decisions;
DROP TABLE quarantine;
DROP TABLE dead_letters;
ALTER TABLE new_audit RENAME TO audit;
ALTER TABLE new_decisions RENAME TO decisions;
ALTER TABLE new_quarantine RENAME TO quarantine;
ALTER TABLE new_dead_letters RENAME TO dead_letters;
CREATE INDEX audit_guild ON audit (guild_id, at);
CREATE INDEX decisions_transfer ON decisions (transfer_id);
CREATE INDEX decisions_guild ON decisions (guild_id, at);
CREATE INDEX dead_letters_alert ON dead_letters (alert_id);

-- Nothing read these.
ALTER TABLE transfers DROP COLUMN bodies;
ALTER TABLE receiver_tokens DROP COLUMN created_at;
ALTER TABLE projects DROP COLUMN updated_by;
ALTER TABLE projects DROP COLUMN updated_at;

-- The ids and places of signed bodies were in one list, as 'id ...' and 'at ...'.
ALTER TABLE deliveries RENAME COLUMN names TO ids;
ALTER TABLE deliveries ADD COLUMN places TEXT;
UPDATE deliveries SET
    ids = (SELECT json_group_array(substr(value, 4)) FROM json_each(ids) WHERE value LIKE 'id %'),
    places = (SELECT nullif(json_group_array(substr(value, 4)), '[]') FROM json_each(ids) WHERE value LIKE 'at %')
  WHERE ids IS NOT NULL;
ALTER TABLE deliveries RENAME COLUMN owed TO unacknowledged;
ALTER TABLE deliveries RENAME COLUMN minute TO first_minute;
ALTER TABLE counterparties RENAME COLUMN ends TO outer_digits;
ALTER TABLE batches RENAME COLUMN unsure TO unconfirmed;
ALTER TABLE batches RENAME COLUMN plain TO plain_text;
`;
