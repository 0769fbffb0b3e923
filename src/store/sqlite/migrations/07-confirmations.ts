export const CONFIRMATIONS = `
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
`;
